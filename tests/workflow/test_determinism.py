"""The same settings give the same bytes, whatever else differs between two runs.

Another processor or a GPU sums in another order: how far results may then differ is the tolerance of
tests/unit/test_flow_backends.py.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.faults]

#: what differs -> environment and options (after ``--cores 2``, which a later ``--cores`` overrides)
DIFFERENCES: dict[str, tuple[dict[str, str], list[str]]] = {
    "nothing": ({}, []),
    "one core": ({}, ["--cores", "1"]),
    "order of jobs": ({}, ["--cores", "1", "--prioritize", "results/claims.csv", "results/films/both.gif"]),
    "hash seed": ({"PYTHONHASHSEED": "4711"}, []),
    "locale": ({"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"}, []),
    "time zone": ({"TZ": "Pacific/Chatham"}, []),
    "threads of libraries": ({"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}, []),
    "home and user": ({"HOME": "{folder}", "USER": "somebody", "LOGNAME": "somebody"}, []),
}


def other_run(workflow, folder: Path, environment: dict[str, str], options: list[str]) -> None:
    """Run from another working directory, in a folder of another name."""
    command = workflow.command(*options)
    if "--cores" in options:
        position = command.index("--cores")
        del command[position : position + 2]
    changed = {name: value.format(folder=folder) for name, value in environment.items()}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(workflow.code / "src"), **changed},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) for name in DIFFERENCES])
def test_the_same_settings_give_the_same_bytes(name: str, unstarted, finished, tmp_path, count) -> None:
    other_run(unstarted, tmp_path, *DIFFERENCES[name])
    assert unstarted.contents() == finished.contents()
    count("repeated runs with equal bytes")


def test_all_differences_at_once(unstarted, finished, tmp_path, count) -> None:
    environment = {key: value for changed, _ in DIFFERENCES.values() for key, value in changed.items()}
    other_run(unstarted, tmp_path, environment, DIFFERENCES["order of jobs"][1])
    assert unstarted.contents() == finished.contents()
    count("repeated runs with equal bytes")
