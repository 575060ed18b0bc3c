"""Two runs at once: in one folder the second refuses, in two they share what is cached without harm."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.faults]


def test_a_second_run_in_the_same_folder_refuses_and_names_the_remedy(copy, finished) -> None:
    for folder in ("metrics", "logs/measure"):
        shutil.rmtree(copy.results / folder)
    first = copy.start("--", "metrics")
    try:
        deadline = time.monotonic() + 100
        while not list(copy.results.glob("logs/measure/*.log")):
            assert time.monotonic() < deadline
            assert first.poll() is None
            time.sleep(0.02)
        second = copy.run("--", "metrics")
        text, _ = first.communicate(timeout=100)
    finally:
        if first.poll() is None:
            os.killpg(first.pid, signal.SIGKILL)
            first.communicate()
    assert first.returncode == 0, text
    # a first run that was quicker than the start of the second leaves nothing to refuse
    if second.status != 0:
        assert "Directory cannot be locked" in second.text
        assert "--unlock" in second.text
        assert "Traceback" not in second.text
    names = {name for name in finished.files() if name.startswith("metrics/")}
    assert {name: copy.contents()[name] for name in names} == {
        name: finished.contents()[name] for name in names
    }


@pytest.mark.long
def test_two_runs_with_the_same_empty_caches(repo, tmp_path: Path, workflow_in) -> None:
    """Compiled code, fonts, and Snakemake's own cache are made by both at once."""
    code = tmp_path / "code"
    shutil.copytree(repo / "src", code, ignore=shutil.ignore_patterns("__pycache__"))
    caches = tmp_path / "caches"
    caches.mkdir()
    runs = [workflow_in(repo, tmp_path / name / "run") for name in ("one", "two")]
    processes = []
    try:
        for run in runs:
            run.replace("tiny.yaml", "backend: numpy   # nothing to compile", "backend: numba")
            processes.append(
                subprocess.Popen(
                    run.command("--", "results/figures/rope.pdf"),
                    cwd=run.directory,
                    env={
                        **{
                            name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")
                        },
                        "PYTHONPATH": str(code),
                        "XDG_CACHE_HOME": str(caches),
                        "MPLCONFIGDIR": str(caches / "matplotlib"),
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    start_new_session=True,
                )
            )
        texts = [process.communicate(timeout=280)[0] for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
    for process, text in zip(processes, texts, strict=True):
        assert process.returncode == 0, text
    first, second = (run.contents() for run in runs)
    assert first
    assert first == second
    assert list(code.rglob("*.nbi"))
