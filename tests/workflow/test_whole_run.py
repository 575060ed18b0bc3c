"""The workflow from end to end, on a configuration that is just enough for every rule to have a job."""

from __future__ import annotations

import shutil

import pytest

pytestmark = pytest.mark.workflow

RULES = {"simulate": 3, "measure": 2, "draw": 2, "film": 1, "check": 2, "claims": 1}
SIMULATIONS = {f"simulations/{case}.nc" for case in ("baseline/n6", "baseline/n8", "rope/n8")}
METRICS = {
    f"metrics/{name}{kind}.csv" for name in ("baseline", "rope") for kind in ("", ".events", ".columns")
}
FIGURES = {f"figures/{name}.{kind}" for name in ("distances", "rope") for kind in ("pdf", "png")}
FILMS = {"films/both.gif", "films/both.mp4"}
CLAIMS = {"claims.csv", "claims.html", "claims/baseline.csv", "claims/rope.csv"}


def notes_of(rule: str, *names: str) -> set[str]:
    """The log and the benchmark of the jobs of a rule."""
    return {file for name in names for file in (f"logs/{rule}/{name}.log", f"benchmarks/{rule}/{name}.tsv")}


NOTES = (
    notes_of("simulate", "baseline/n6", "baseline/n8", "rope/n8")
    | notes_of("measure", "baseline", "rope")
    | notes_of("draw", "distances", "rope")
    | notes_of("film", "both")
    | notes_of("check", "baseline", "rope")
    | notes_of("claims", "claims")
)


def test_a_dry_run_names_all_jobs_and_writes_nothing(unstarted) -> None:
    outcome = unstarted.run("--dry-run")
    assert outcome.status == 0, outcome.text
    assert outcome.jobs == RULES
    assert not unstarted.results.exists()


def test_a_whole_run_writes_what_it_names_and_nothing_else(finished) -> None:
    assert finished.files() == SIMULATIONS | METRICS | FIGURES | FILMS | CLAIMS | NOTES
    assert all(path.stat().st_size for path in finished.results.rglob("*.*") if path.suffix != ".log")


def test_a_second_run_has_nothing_to_do(finished) -> None:
    outcome = finished.run()
    assert outcome.status == 0, outcome.text
    assert "Nothing to be done" in outcome.text


@pytest.mark.parametrize(
    ("target", "jobs"),
    [
        ("simulations", {"simulate": 3, "simulations": 1}),
        ("metrics", {"simulate": 3, "measure": 2}),
        ("figures", {"simulate": 3, "measure": 2, "draw": 2}),
        ("films", {"simulate": 3, "measure": 2, "film": 1}),
        ("claims", {"simulate": 3, "measure": 2, "check": 2, "claims": 1}),
        ("verify", {"simulate": 3, "measure": 2, "check": 2, "claims": 1, "verify": 1}),
        ("results/figures/rope.pdf", {"simulate": 1, "measure": 1, "draw": 1}),
        ("results/simulations/baseline/n6.nc", {"simulate": 1}),
    ],
)
def test_a_target_needs_only_its_own_jobs(unstarted, target: str, jobs: dict[str, int]) -> None:
    outcome = unstarted.run("--dry-run", "--", target)
    assert outcome.status == 0, outcome.text
    assert outcome.jobs == jobs


@pytest.mark.parametrize("name", ["results/figures/ropes.pdf", "results/simulations/rope/n9.nc", "ropes"])
def test_a_target_that_nothing_makes_is_refused_by_name(finished, name: str) -> None:
    outcome = finished.run("--dry-run", "--", name)
    assert outcome.status != 0
    assert name in outcome.text or "experiment rope has no case 'n9'; it has n8" in outcome.text


def test_works_in_a_folder_with_any_name_and_from_elsewhere(odd_clone) -> None:
    outcome = odd_clone.run("--", "results/figures/rope.pdf")
    assert outcome.status == 0, outcome.text
    assert {"figures/rope.pdf", "figures/rope.png", "metrics/rope.csv"} <= odd_clone.files()


def test_a_report_has_every_caption_without_complaint(copy) -> None:
    page = copy.results / "report.html"
    outcome = copy.run("--report", str(page))
    assert outcome.status == 0, outcome.text
    assert not [word for word in ("WARNING/", "ERROR/", "SEVERE/") if word in outcome.text]
    text = page.read_text(encoding="utf-8")
    assert all(
        name in text for name in ("distances.pdf", "rope.png", "both.mp4", "claims.csv", "claims.html")
    )
    assert "Final tokens of a run with rotary labels" in text
    assert "One line for each experiment" in text
    assert "backend: &quot;numpy&quot;" in text


def test_a_damaged_file_stops_its_jobs_by_name_and_no_others(copy) -> None:
    damaged = copy.results / "simulations" / "rope" / "n8.nc"
    damaged.write_bytes(damaged.read_bytes()[:500])
    shutil.rmtree(copy.results / "claims")
    outcome = copy.run()
    assert outcome.status != 0
    assert "results/simulations/rope/n8.nc" in outcome.text
    assert "Traceback" not in outcome.text
    assert "Traceback" in (copy.results / "logs/measure/rope.log").read_text(encoding="utf-8")
    assert (copy.results / "claims/baseline.csv").exists()


def test_verify_fails_when_a_claim_does_and_names_it(copy) -> None:
    assert copy.run("--", "verify").status == 0
    table = copy.results / "claims.csv"
    table.write_text(table.read_text(encoding="utf-8").replace(",True", ",False", 1), encoding="utf-8")
    outcome = copy.run("--", "verify")
    assert outcome.status != 0
    # what the job says stands before what Snakemake says about it
    told = outcome.text.split("RuleException")[0].split("localrule verify")[1]
    assert "baseline" in told
