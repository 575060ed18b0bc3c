"""A stand-in for the program conda, for tests where no conda and none of its channels can be had.

It knows only what Snakemake asks of conda. Solving and installing are real, by py-rattler, from the channels
that the environment file names; but it is not conda, and what works here may yet fail there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import traceback
from pathlib import Path

import yaml
from rattler import ChannelPriority, Platform, VirtualPackage, install, solve

#: Snakemake sources <this>/bin/activate
ROOT = Path(__file__).resolve().parent.parent


def answer(words: list[str]) -> None:
    """Do what the command line `words` asks for."""
    if words == ["--version"]:
        print("conda 25.1.0")  # the stand-in; Snakemake wants a version, and 24.7.1 at least
    elif words[:1] == ["info"]:
        print(json.dumps({"conda_prefix": str(ROOT), "platform": str(Platform.current())}))
    elif words[:2] == ["config", "--get"]:
        print(json.dumps({"get": {"channel_priority": "strict"}}))
    elif words[:2] == ["env", "create"]:
        create(words[2:])
    elif words[:1] != ["clean"]:
        raise SystemExit(f"the stand-in for conda does not know: {' '.join(words)}")


def create(words: list[str]) -> None:
    """`conda env create --file FILE --prefix PREFIX`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--prefix", type=Path, required=True)
    known, _ = parser.parse_known_args(words)
    wanted = yaml.safe_load(known.file.read_text(encoding="utf-8"))
    asyncio.run(solved_and_installed(wanted, known.prefix))


async def solved_and_installed(wanted: dict[str, list[str]], prefix: Path) -> None:
    records = await solve(
        sources=wanted["channels"],
        specs=wanted["dependencies"],
        virtual_packages=VirtualPackage.detect(),
        platforms=[Platform.current(), Platform("noarch")],
        channel_priority=ChannelPriority.Strict,
    )
    packages = Path(os.environ["USAAV_STAND_IN"]) / "packages"
    await install(records=records, target_prefix=prefix, cache_dir=packages, show_progress=False)


if __name__ == "__main__":
    status = 0
    try:
        answer(sys.argv[1:])
    except SystemExit as error:
        print(error, file=sys.stderr)
        status = 1
    except BaseException:  # noqa: BLE001  the exit status must be ours, see below
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # py-rattler now and then crashes when the interpreter ends by itself
