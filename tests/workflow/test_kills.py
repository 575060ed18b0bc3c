"""Killed at any moment, a run leaves nothing half done and goes on with the commands that README.md gives."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.faults]

#: target -> the folders of results that are deleted first, so that there is something to do
STAGES = {
    "simulations": ["simulations", "logs/simulate"],
    "metrics": ["metrics", "logs/measure"],
    "figures": ["figures", "logs/draw"],
    "claims": ["claims", "claims.csv", "claims.html", "logs/check", "logs/claims"],
}
#: a job of the tiny run takes about so many seconds, most of them for imports
LONGEST = 2.0
LONG = 26


def delete(results: Path, names: list[str]) -> None:
    for name in names:
        path = results / name
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.is_file():
                file.unlink()


def under_old_names(contents: dict[str, bytes]) -> dict[str, bytes]:
    """Also what was set aside, as newer data were made than it shows."""
    return {name.replace(".outdated", ""): content for name, content in contents.items()}


def wait_for_a_job(process, results: Path, names: list[str]) -> None:
    deadline = time.monotonic() + 100
    while not any(list((results / name).rglob("*.log")) for name in names if name.startswith("logs")):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)


def wait_for_a_write(process, workflow, seconds: float) -> None:
    """Until a temporary file is there, which is when a job writes, but no longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while not workflow.temporaries() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("number", "target"),
    [(number, list(STAGES)[number % len(STAGES)]) for number in range(4)]
    + [
        pytest.param(number, list(STAGES)[number % len(STAGES)], marks=pytest.mark.long)
        for number in range(4, 4 + LONG)
    ],
)
def test_what_was_killed_goes_on_to_the_same_bytes(copy, finished, count, number: int, target: str) -> None:
    undisturbed = finished.contents()
    moment = random.Random(number)
    names = STAGES[target]
    delete(copy.results, names)
    process = copy.start("--", target)
    try:
        wait_for_a_job(process, copy.results, names)
        if number % 2:
            time.sleep(moment.uniform(0.0, LONGEST))
        else:
            wait_for_a_write(process, copy, 3 * LONGEST)
            time.sleep(moment.uniform(0.0, 0.01))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    # nothing half written under a final name
    for name, content in copy.contents().items():
        assert content == undisturbed[name], name
    assert copy.run("--unlock").status == 0
    outcome = copy.run("--", target)
    assert outcome.status == 0, outcome.text
    assert under_old_names(copy.contents()) == undisturbed
    assert {name for name in undisturbed if name.startswith(names[0])} <= copy.files()
    assert not copy.temporaries()
    count("kills survived")


@pytest.mark.parametrize("sent", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_ctrl_c_says_how_to_go_on(copy, finished, sent: signal.Signals, count) -> None:
    delete(copy.results, STAGES["simulations"] + STAGES["metrics"])
    process = copy.start()
    try:
        wait_for_a_job(process, copy.results, STAGES["simulations"])
        os.killpg(process.pid, sent)
        text, _ = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode != 0
    assert "give the same command again" in text
    # what was to be made again does not look current
    assert not list((copy.results / "figures").glob("*[!d].pdf"))
    assert {path.name for path in (copy.results / "figures").glob("*.outdated.pdf")} == {
        "distances.outdated.pdf",
        "rope.outdated.pdf",
    }
    outcome = copy.run()  # without unlocking
    assert outcome.status == 0, outcome.text
    assert copy.contents() == finished.contents()
    assert not copy.temporaries()
    count("kills survived")
