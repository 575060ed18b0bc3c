"""The profiles that need no scheduler to be looked at; tests/slurm runs the one for Slurm."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.workflow

# Prints a number, writes down how it was called, and runs the job.
QSUB = """#!/bin/sh
printf '%s\\n' "$*" >> "{log}"
for script in "$@"; do :; done
sh "$script" > "{log}.out" 2>&1 &
echo $$
"""


def run(workflow, *words: str, **environment: str) -> tuple[int, str]:
    command = [word for word in workflow.command(*words) if word not in {"--cores", "2"}]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(workflow.code / "src"), **environment},
        cwd=workflow.directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=280,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", ["default", "slurm", "gpu", "cluster-generic"])
def test_every_setting_of_a_profile_is_explained(repo: Path, name: str) -> None:
    file = repo / "profiles" / name / "config.yaml"
    text = file.read_text(encoding="utf-8")
    assert yaml.safe_load(text)
    paragraphs = re.split(r"\n\s*\n", text)
    assert all(paragraph.lstrip().startswith("#") for paragraph in paragraphs), file


@pytest.mark.parametrize("name", ["slurm", "cluster-generic"])
def test_members_of_a_group_take_turns(repo: Path, unstarted, name: str) -> None:
    settings = yaml.safe_load((repo / "profiles" / name / "config.yaml").read_text(encoding="utf-8"))
    assert settings["retries"] == 2
    status, text = run(unstarted, "--profile", str(repo / "profiles" / name), "--dry-run")
    assert status == 0, text
    # so that a group asks for the cores of its largest member only
    assert "turn=1" in text


def test_the_gpu_profile_says_before_any_job_that_there_is_no_device(repo: Path, unstarted) -> None:
    unstarted.replace("tiny.yaml", "backend: numpy   # nothing to compile\n", "")
    status, text = run(unstarted, "--profile", str(repo / "profiles" / "gpu"), "--dry-run")
    assert status == 0, text
    assert "gpu=1" in text
    # no device, whatever this machine has
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    status, text = run(unstarted, "--profile", str(repo / "profiles" / "gpu"), "--", "simulations", **hidden)
    assert status != 0, text
    assert "BackendError: backend = cupy: " in text
    assert not list(unstarted.results.rglob("*.nc"))
    assert "Finished job" not in text


def test_another_scheduler_gets_what_the_rules_ask_for(
    repo: Path, unstarted, finished, tmp_path: Path
) -> None:
    """With a stand-in for qsub, which runs the job at once."""
    calls = tmp_path / "calls"
    (tmp_path / "bin").mkdir()
    qsub = tmp_path / "bin" / "qsub"
    qsub.write_text(QSUB.format(log=calls), encoding="utf-8")
    qsub.chmod(0o755)
    profile = ["--profile", str(repo / "profiles" / "cluster-generic"), "--latency-wait", "5"]
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    status, text = run(unstarted, *profile, "--", "results/metrics/rope.csv", PATH=path)
    assert status == 0, text
    asked = calls.read_text(encoding="utf-8").splitlines()
    assert len(asked) == 2
    assert all(re.search(r"-pe smp 1 -l h_vmem=100\dM -l h_rt=\d+ ", line) for line in asked), asked
    table = "metrics/rope.csv"
    assert (unstarted.results / table).read_bytes() == (finished.results / table).read_bytes()
