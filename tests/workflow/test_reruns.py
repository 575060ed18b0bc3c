"""What an edit makes again: exactly the stage that it concerns, and what follows from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.faults]

EVERYTHING = {"simulate": 3, "measure": 2, "draw": 2, "film": 1, "check": 2, "claims": 1}
AFTER_BASELINE = {"measure": 1, "draw": 1, "film": 1, "check": 1, "claims": 1}
AFTER_ROPE = {"measure": 1, "draw": 2, "film": 1, "check": 1, "claims": 1}
CODE = "\n_SPARE = 1\n"
COMMENT = "\n# A remark.\n"

SOURCES = [
    ("src/usaav/flow/adaptive.py", COMMENT, {}),
    ("src/usaav/flow/adaptive.py", '\n"""A remark."""\n', {}),
    ("src/usaav/flow/adaptive.py", CODE, EVERYTHING),
    ("src/usaav/kernels/gauges.py", CODE, EVERYTHING),
    ("src/usaav/laws/points.py", CODE, EVERYTHING),
    ("src/usaav/metrics/tables.py", CODE, {**EVERYTHING, "simulate": 0}),
    ("src/usaav/figures/terminal_orbit.py", CODE, {"draw": 1}),
    ("src/usaav/figures/saving.py", CODE, {"draw": 2}),
    ("src/usaav/figures/style.py", CODE, {"draw": 2, "film": 1}),  # colours
    ("src/usaav/figures/sphere.py", CODE, {"draw": 1, "film": 1}),
    ("src/usaav/films/overview.py", CODE, {"film": 1}),
    ("src/usaav/claims/orbit.py", CODE, {"check": 1, "claims": 1}),
    ("src/usaav/config/models.py", CODE, {}),
    ("src/usaav/joblog.py", CODE, {}),
    ("src/usaav/errors.py", CODE, {}),
    ("workflow/scripts/simulate.py", COMMENT, {}),
    ("workflow/scripts/simulate.py", CODE, EVERYTHING),
    ("workflow/scripts/draw.py", CODE, {"draw": 2}),
    ("workflow/rules/draw.smk", COMMENT, {}),
    ("workflow/report/figures/rope.rst", "Another caption.", {}),
    # versions are attributes of every data file, and no reason to make all of them again
    ("envs/requirements.txt", COMMENT, {}),
]

SETTINGS = [
    ("n_tokens: 8", "n_tokens: 8.0", {}),
    ("n_tokens: 8", 'n_tokens: "8"', {}),
    ("type: usa, beta: 1", "beta: 1.0, type: usa", {}),
    ("floor: 1.0e-9", "floor: 1e-9", {}),
    ("floor: 1.0e-9", "floor: 1.0e-8", {"draw": 1}),
    ("n_tokens: [6, 8]", "n_tokens: [8]", AFTER_BASELINE),
    ("n_tokens: [6, 8]", "n_tokens: [6, 7, 8]", {"simulate": 1, **AFTER_BASELINE}),
    ("n_tokens: 8\n    seeds: 2", "n_tokens: 8\n    seeds: 3", {"simulate": 1, **AFTER_ROPE}),
    ("labels: {law: grid}", "labels: {law: grid}\n    cluster_angle: 0.2", AFTER_ROPE),
    ("labels: {law: grid}", "labels: {law: grid}\n    description: Words.", {}),
    ("n_tokens: 8\n    seeds: 2", "n_tokens: 8\n    seeds: [1, 0]", {"simulate": 1, **AFTER_ROPE}),
    ("tolerance: 1.0e-2, options", "tolerance: 2.0e-2, options", {"check": 1, "claims": 1}),
]


@pytest.mark.parametrize(("file", "addition", "jobs"), SOURCES)
def test_an_addition_to_the_source_reruns(
    copy_with_code, file: str, addition: str, jobs: dict[str, int]
) -> None:
    path = copy_with_code.code / file
    with path.open("a", encoding="utf-8") as stream:
        stream.write(addition)
    planned(copy_with_code, jobs)


@pytest.mark.parametrize(("old", "new", "jobs"), SETTINGS)
def test_a_changed_setting_reruns(copy, old: str, new: str, jobs: dict[str, int]) -> None:
    copy.replace("tiny.yaml", old, new)
    planned(copy, jobs)


def test_a_fresh_clone_with_old_results_reruns_nothing(copy_with_code) -> None:
    for path in copy_with_code.code.rglob("*"):
        os.utime(path)
    planned(copy_with_code, {})


def test_a_deleted_figure_is_drawn_again_to_the_same_bytes(copy) -> None:
    figures: list[Path] = sorted((copy.results / "figures").iterdir())
    before = [path.read_bytes() for path in figures]
    for path in figures:
        path.unlink()
    outcome = copy.run()
    assert outcome.jobs == {"draw": 2}
    assert [path.read_bytes() for path in figures] == before


def planned(workflow, jobs: dict[str, int]) -> None:
    outcome = workflow.run("--dry-run")
    assert outcome.status == 0, outcome.text
    assert outcome.jobs == {rule: count for rule, count in jobs.items() if count}
