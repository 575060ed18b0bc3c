"""A channel of conda packages on this disk, and a stand-in for conda, for Snakemake's own conda code.

No channel of the world is asked: whether conda-forge can solve envs/*.yaml is not tested here.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
TINY = HERE.parent / "workflow" / "tiny.yaml"
#: packages whose conda-forge name is not that of their wheel
WHEELS = {"matplotlib-base": "matplotlib"}


@dataclass(frozen=True)
class Run:
    """The workflow in a working directory."""

    code: Path
    directory: Path
    environment: Mapping[str, str]

    def snakemake(self, *words: str) -> tuple[int, str]:
        """Run Snakemake to its end: exit status and text."""
        where = ["-s", str(self.code / "Snakefile"), "--directory", str(self.directory)]
        config = ["--configfile", str(self.directory / "tiny.yaml"), "--cores", "2"]
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", *where, *config, *words],
            env=self.environment,
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=800,
            check=False,
        )
        return done.returncode, done.stdout


@pytest.fixture(scope="session")
def stand_in() -> Path:
    """The virtual environment with py-rattler, made by `make test-conda`."""
    folder = os.environ.get("USAAV_STAND_IN")
    if not folder:
        pytest.skip("needs a stand-in for conda: run `make test-conda`")
    return Path(folder)


@pytest.fixture(scope="session")
def channel(stand_in: Path, repo: Path) -> Path:
    """A channel with the running Python and the locked wheels; kept for the next time."""
    lock = repo / "envs" / "requirements.txt"
    texts = (lock.read_bytes(), (HERE / "channel.py").read_bytes(), sys.version.encode())
    folder = stand_in / f"channel-{hashlib.sha256(b''.join(texts)).hexdigest()[:12]}"
    if folder.exists():
        return folder
    making, wheels = stand_in / "making", stand_in / "wheels"
    shutil.rmtree(making, ignore_errors=True)
    needed = stand_in / "needed.txt"
    needed.write_text(pins_of(lock, closure(repo)), encoding="utf-8")
    python = stand_in / "bin" / "python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", "download"]
    subprocess.run(
        [*pip, "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", needed, "-d", wheels],
        check=True,
    )
    subprocess.run([python, HERE / "channel.py", making, wheels, sys.base_prefix], check=True)
    making.rename(folder)
    return folder


def closure(repo: Path) -> set[str]:
    """What envs/simulate.yaml and envs/analyse.yaml need, with all that needs, as names of wheels."""
    ahead = [
        WHEELS.get(entry.split()[0], entry.split()[0])
        for name in ("simulate", "analyse")
        for entry in yaml.safe_load((repo / "envs" / f"{name}.yaml").read_text(encoding="utf-8"))[
            "dependencies"
        ]
    ]
    found: set[str] = set()
    while ahead:
        name = canonicalize_name(ahead.pop())
        if name not in found and name != "python":
            found.add(name)
            requirements = map(Requirement, distribution(name).requires or ())
            ahead += [
                one.name for one in requirements if not one.marker or one.marker.evaluate({"extra": ""})
            ]
    return found


def pins_of(lock: Path, names: set[str]) -> str:
    """The part of a lock file that is about some packages."""
    entries = re.split(r"^(?=[a-z0-9])", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return "".join(entry for entry in entries if entry.split("==")[0] in names)


@pytest.fixture(scope="session")
def environment(stand_in: Path) -> dict[str, str]:
    """Variables of a shell in which `conda` is the stand-in."""
    # Snakemake sources <prefix>/bin/activate, so the programs must lie in a folder of that name
    folder = stand_in / "conda" / "bin"
    shutil.copytree(HERE / "stand_in", folder, dirs_exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "CONDA"))}
    return {**inherited, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.fixture
def run(channel: Path, repo: Path, tmp_path: Path, environment: dict[str, str]) -> Run:
    """The workflow with its environments pointed to the local channel, before its first run."""
    code = tmp_path / "code"
    for name in ("src", "workflow", "profiles", "envs"):
        shutil.copytree(repo / name, code / name)
    shutil.copy(repo / "Snakefile", code)
    for name in ("simulate", "analyse"):
        file = code / "envs" / f"{name}.yaml"
        wanted = yaml.safe_load(file.read_text(encoding="utf-8"))
        wanted["channels"] = [channel.as_uri()]
        for given, wheel in WHEELS.items():
            wanted["dependencies"] = [entry.replace(given, wheel) for entry in wanted["dependencies"]]
        file.write_text(yaml.safe_dump(wanted), encoding="utf-8")
    directory = tmp_path / "run"
    directory.mkdir()
    shutil.copy(TINY, directory / "tiny.yaml")
    return Run(code, directory, {**environment, "PYTHONPATH": str(code / "src")})
