"""A sweep: its cases in batches, one table, one file, and a phase diagram."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml

from usaav.datasets import open_

pytestmark = pytest.mark.workflow

SWEEP = Path(__file__).with_name("sweep.yaml")
JOBS = {"simulate_batch": 3, "measure_batch": 3, "gather_tables": 1, "gather_stores": 1, "draw": 1}


@pytest.fixture(scope="module")
def swept(repo: Path, tmp_path_factory: pytest.TempPathFactory, workflow_in):
    """The finished sweep; not to be changed."""
    workflow = workflow_in(repo, tmp_path_factory.mktemp("sweep") / "run", SWEEP)
    outcome = workflow.run()
    assert outcome.status == 0, outcome.text
    assert outcome.jobs == {**JOBS, "claims": 1}
    return workflow


@pytest.fixture
def again(swept, tmp_path: Path):
    """The same in a folder of its own, to be changed."""
    shutil.copytree(swept.directory, tmp_path / "run")
    return type(swept)(swept.code, tmp_path / "run")


def test_a_sweep_writes_one_table_one_file_and_its_figure(swept) -> None:
    files = {file for file in swept.files() if not file.startswith(("logs", "benchmarks", "claims"))}
    batches = {f"sweeps/grid/{number:04d}.{kind}" for number in range(3) for kind in ("nc", "parquet")}
    whole = {"sweeps/grid.parquet", "sweeps/grid.columns.csv", "sweeps/grid.nc"}
    assert files == batches | whole | {"figures/grid.pdf", "figures/grid.png"}


def test_without_batches_the_numbers_are_the_same(swept, tmp_path: Path, workflow_in) -> None:
    plain = workflow_in(swept.code, tmp_path / "run", SWEEP)
    plain.replace("tiny.yaml", "    batch: 5\n", "")
    outcome = plain.run("--", "metrics")
    assert outcome.status == 0, outcome.text
    assert outcome.jobs == {"simulate": 12, "measure": 1}
    table = pd.read_parquet(swept.results / "sweeps" / "grid.parquet")
    expected = pd.read_csv(plain.results / "metrics" / "grid.csv")
    pd.testing.assert_frame_equal(table, expected, check_dtype=False, check_exact=True)
    one = open_(plain.results / "simulations/grid/beta4_kernel-frequencies-0-0.5_n6.nc")
    with xr.open_dataset(swept.results / "sweeps" / "grid.nc", group="n6_d3") as store:
        stored = store.sel(case=one.attrs["case"])
        for name in one.variables:
            np.testing.assert_array_equal(one[name].values, stored[name].values, err_msg=str(name))


def test_the_file_opens_lazily_and_cases_are_found_by_their_settings(swept) -> None:
    with xr.open_dataset(swept.results / "sweeps" / "grid.nc", group="n4_d3") as store:
        assert not store["tokens"].variable._in_memory
        chosen = store["case"][(store["beta"] == 4) & (store["kernel_frequencies_0"] == 0.5)]
        assert list(chosen.values) == ["beta4_kernel-frequencies-0-0.5_n4"]
        assert store["tokens"].sel(case=chosen).shape == (1, 2, 2, 4, 3)


def test_a_value_at_the_end_of_the_outermost_list_runs_new_batches_only(again) -> None:
    again.replace("tiny.yaml", "kernel.beta: [1, 4]", "kernel.beta: [1, 4, 9]")
    outcome = again.run("--dry-run")
    # twelve cases were three batches, the last with two; the six new ones fill it up and make a fourth
    assert outcome.jobs == {**JOBS, "simulate_batch": 2, "measure_batch": 2}


def test_another_cluster_angle_simulates_nothing(again) -> None:
    again.replace("tiny.yaml", "batch: 5", "batch: 5\n    cluster_angle: 0.2")
    outcome = again.run("--dry-run")
    assert outcome.jobs == {"measure_batch": 3, "gather_tables": 1, "draw": 1}


def test_a_case_that_fails_is_named(repo, tmp_path, workflow_in) -> None:
    workflow = workflow_in(repo, tmp_path / "sweep", SWEEP)
    workflow.replace("tiny.yaml", "backend: numpy", "backend: cupy")
    outcome = workflow.run("--", "results/sweeps/grid/0001.nc")
    assert outcome.status != 0
    assert "case beta1_kernel-frequencies-0-1_n6" in outcome.text or "cupy" in outcome.text


def test_what_needs_single_cases_refuses_a_sweep(repo, tmp_path, workflow_in) -> None:
    workflow = workflow_in(repo, tmp_path / "run", SWEEP)
    workflow.replace("tiny.yaml", "draw: phase_diagram", "draw: energy")
    workflow.replace("tiny.yaml", ", options: {up: kernel.frequencies.0}", "")
    outcome = workflow.run("--dry-run")
    assert outcome.status != 0
    assert "figures.grid.experiments" in outcome.text
    assert "batch" in outcome.text


def test_a_batch_that_is_not_there_is_refused_by_name(swept) -> None:
    outcome = swept.run("--dry-run", "--", "results/sweeps/grid/0007.nc")
    assert outcome.status != 0
    assert "has batches 0000 to 0002, no 0007" in outcome.text


@pytest.mark.parametrize("batch", [None, 50])
def test_five_thousand_cases_are_planned_in_seconds(repo, tmp_path, workflow_in, batch: int | None) -> None:
    workflow = workflow_in(repo, tmp_path / "run", SWEEP)
    settings = yaml.safe_load((workflow.directory / "tiny.yaml").read_text(encoding="utf-8"))
    grid = settings["experiments"]["grid"]
    grid["batch"] = batch
    grid["n_tokens"] = [16, 32]
    grid["sweep"] = {
        "kernel.beta": list(range(1, 51)),
        "kernel.frequencies.0": [number / 10 for number in range(50)],
    }
    (workflow.directory / "tiny.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    outcome = workflow.run("--dry-run", "--quiet", "rules", "--", "simulations")
    assert outcome.status == 0, outcome.text
    assert outcome.jobs["simulate" if batch is None else "simulate_batch"] == 5000 // (batch or 1)
    assert outcome.seconds < 20


def test_the_shipped_sweep_plans_its_run(repo, unstarted) -> None:
    outcome = unstarted.run(
        "--dry-run", "--quiet", "rules", "--configfile", str(repo / "config/sweep.yaml"), config=None
    )
    assert outcome.status == 0, outcome.text
    assert outcome.jobs["draw"] == 2
    assert outcome.jobs["gather_tables"] == 2
