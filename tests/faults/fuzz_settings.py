"""A fuzzer of the configuration's parser, guided by coverage: ``python fuzz_settings.py CORPUS [options]``.

Whatever the bytes of a file are, loading it ends in a configuration, or in a ConfigError that names the file.
Anything else, also a hang or much memory, is a defect. Needs atheris; the options are those of libFuzzer.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["usaav.config", "yaml"]):
    import yaml

    from usaav.config import load
    from usaav.errors import ConfigError

REPO = Path(__file__).resolve().parents[2]
SMALL = """
experiments:
  main:
    kernel: {type: rope, beta: 1.0, planes: [[0, 1]], frequencies: [1.0]}
    labels: {law: grid}
    n_tokens: [8, 16]
    seeds: 2
    times: {start: 0, stop: 10, count: 11}
    sweep: {kernel.beta: [1, 2]}
    variants: {a: {dim: 4}}
figures: {one: {draw: overview, experiments: [main]}}
claims: {one: {check: collapse, experiments: [main], tolerance: 1e-3}}
"""
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-settings-"))


def seeds(corpus: Path) -> None:
    """Fill the corpus with small files of every kind of kernel and law, from the shipped configuration."""
    shipped = yaml.safe_load((REPO / "config" / "quick.yaml").read_text(encoding="utf-8"))
    (corpus / "small").write_text(SMALL, encoding="utf-8")
    for name, experiment in shipped["experiments"].items():
        text = yaml.safe_dump({"experiments": {name: experiment}})
        (corpus / name).write_text(text, encoding="utf-8")


def one(data: bytes) -> None:
    """Load one file."""
    file = FOLDER / "settings.yaml"
    file.write_bytes(data)
    try:
        config = load([file])
    except ConfigError as error:
        message = str(error)
    else:
        assert config.cases()
        return
    if "problem" not in message:
        raise AssertionError(f"a refusal that tells no problem: {message}")


if __name__ == "__main__":
    seeds(Path(sys.argv[1]))
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
