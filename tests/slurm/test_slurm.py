"""The workflow on a real Slurm, through the profile that we ship."""

from __future__ import annotations

import os
import shutil
import signal
import time

import pytest

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(900)]

TABLES = ("baseline.csv", "baseline.events.csv", "rope.csv", "rope.events.csv")


def assert_same_tables(run, local) -> None:
    for name in TABLES:
        table = run.results / "metrics" / name
        assert table.read_bytes() == (local.results / "metrics" / name).read_bytes(), name


def test_a_run_makes_the_same_tables_as_without_slurm(run, local) -> None:
    status, text = run.on_slurm()
    assert status == 0, text
    assert_same_tables(run, local)
    assert (run.results / "claims.csv").read_bytes() == (local.results / "claims.csv").read_bytes()
    assert {path.name for path in (run.results / "figures").iterdir()} >= {"rope.pdf", "distances.png"}
    # groups of simulations, tables, figures and checks, and a film; claims stay here
    assert len([job for job in run.squeue("%Z") if job == str(run.directory)]) == 5


def test_a_job_that_fails_is_reported_with_its_log(run, local) -> None:
    shutil.copytree(local.results, run.results)
    damaged = run.results / "simulations" / "rope" / "n8.nc"
    damaged.write_bytes(damaged.read_bytes()[:500])
    shutil.rmtree(run.results / "metrics")
    status, text = run.on_slurm("--retries", "0", "--rerun-triggers", "mtime", "--", "metrics")
    assert status == 1
    assert "Error in group measurements" in text
    assert "results/logs/measure/rope.log" in text
    assert "rope/n8.nc: not a whole netCDF file" in (run.results / "logs/measure/rope.log").read_text()
    kept = list((run.directory / ".snakemake" / "slurm_logs").rglob("*.log"))
    assert any("rope/n8.nc" in path.read_text(errors="replace") for path in kept)
    assert all(str(path) in text for path in kept)
    # the other member of the group did not fail, and its tables stay
    shutil.copy(local.results / "simulations" / "rope" / "n8.nc", damaged)
    status, text = run.finish(
        run.start("--cores", "1", "--dry-run", "--rerun-triggers", "mtime", "--", "metrics")
    )
    assert status == 0
    assert (run.results / "metrics" / "baseline.csv").exists()
    assert "output: results/metrics/rope.csv" in text
    assert "output: results/metrics/baseline.csv" not in text, text


def test_a_job_that_runs_out_of_memory_gets_more(run, local) -> None:
    shutil.copytree(local.results, run.results)
    (run.results / "metrics" / "rope.csv").unlink()
    little = "measure:mem_mb=200+1000*(attempt-1)"
    status, text = run.on_slurm("--set-resources", little, "--", "results/metrics/rope.csv")
    assert status == 0, text
    assert_same_tables(run, local)
    asked = [line.split() for line in run.squeue("%m %T %Z") if line.endswith(str(run.directory))]
    assert [(memory, state == "COMPLETED") for memory, state, _ in asked] == [
        ("200M", False),
        ("1200M", True),
    ]


def test_a_run_whose_driver_was_killed_goes_on(run, local) -> None:
    driver = run.start_on_slurm("--", "metrics")
    try:
        deadline = time.monotonic() + 100
        while not any("RUNNING" in line for line in run.squeue("%T %Z") if line.endswith(str(run.directory))):
            assert time.monotonic() < deadline
            assert driver.poll() is None
            time.sleep(0.1)
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.communicate()
    while any(state in {"RUNNING", "PENDING", "COMPLETING"} for state in run.squeue("%T")):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert run.finish(run.start("--cores", "1", "--unlock"))[0] == 0
    status, text = run.on_slurm("--", "metrics")
    assert status == 0, text
    assert_same_tables(run, local)
