"""The workflow through Snakemake's own conda code, with a stand-in for the program conda."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytestmark = [pytest.mark.conda, pytest.mark.timeout(900)]

TABLES = ("baseline.csv", "baseline.events.csv", "rope.csv", "rope.events.csv")


def test_each_job_runs_in_the_environment_of_its_rule(run, tmp_path) -> None:
    status, text = run.snakemake("--sdm", "conda", "--")
    assert status == 0, text
    made = sorted((run.directory / ".snakemake" / "conda").glob("*/conda-meta"))
    assert len(made) == 2
    names = [{json.loads(file.read_text())["name"] for file in folder.glob("*.json")} for folder in made]
    simulate, analyse = sorted(names, key=len)
    assert simulate < analyse
    assert {"python", "numba", "xarray"} <= simulate
    assert {"matplotlib", "pyarrow"} <= analyse - simulate
    assert text.count("Activating conda environment") >= 11
    # the same versions of everything, so the same bytes as without
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "tiny.yaml").write_bytes((run.directory / "tiny.yaml").read_bytes())
    plain = replace(run, directory=tmp_path / "plain")
    status, text = plain.snakemake("--", "metrics")
    assert status == 0, text
    for name in TABLES:
        expected = (plain.directory / "results" / "metrics" / name).read_bytes()
        assert (run.directory / "results" / "metrics" / name).read_bytes() == expected, name


def test_an_environment_that_cannot_be_solved_stops_the_run_with_the_reason(run) -> None:
    file = run.code / "envs" / "simulate.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("xarray >=", "xarray >=9"), encoding="utf-8")
    status, text = run.snakemake("--sdm", "conda", "--conda-create-envs-only", "--")
    assert status != 0
    assert "xarray >=9" in text
