"""The scripts of the rules are thin, and importing one does nothing."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

FOLDER = Path(__file__).parents[2] / "workflow" / "scripts"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py"))


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"script_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_thin_and_can_be_imported(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 25
    assert callable(load(name).main)


def test_each_script_belongs_to_a_rule_of_its_name(repo: Path) -> None:
    rules = "".join(path.read_text(encoding="utf-8") for path in (repo / "workflow" / "rules").glob("*.smk"))
    for name in SCRIPTS:
        assert f"rule {name}:" in rules
        assert f"../scripts/{name}.py" in rules


def test_a_job_can_be_called_without_snakemake(tmp_path: Path) -> None:
    job = SimpleNamespace(
        input=SimpleNamespace(csv=str(tmp_path / "claims.csv")),
        log=SimpleNamespace(text=str(tmp_path / "verify.log")),
    )
    with pytest.raises(SystemExit):
        load("verify").main(job)
    assert "claims.csv" in (tmp_path / "verify.log").read_text(encoding="utf-8")


def test_the_entry_file_stays_short(repo: Path) -> None:
    assert len((repo / "Snakefile").read_text(encoding="utf-8").splitlines()) < 60
