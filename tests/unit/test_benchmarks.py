"""The benchmark scripts: what they print at the end, and a short run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import usaav
from usaav.flow.spectral_system import crossover

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def trajectory(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import trajectory

    return trajectory


def test_ratios_are_lower_bounds_where_a_contender_did_not_do_as_much(trajectory):
    ours = {"name": "usaav-numba", "seconds": 0.5, "error": 1e-9}
    finished = {"name": "diffrax-Tsit5", "seconds": 50.0, "error": 1e-10, "finished": True}
    coarse = {"name": "diffrax-Dopri8", "seconds": 40.0, "error": 1e-6, "finished": True}
    stopped = {"name": "torchdiffeq-dopri5", "seconds": 30.0, "finished": False}
    failed = {"name": "diffrax-Other", "finished": False, "failed": ["no"]}

    def line(*rows):
        return trajectory.ratio([ours, *rows], ("diffrax", "torchdiffeq"), "peers")

    assert line(finished, failed) == "peers: = 100 times ours (diffrax-Tsit5)"
    assert line(finished, coarse) == "peers: >= 80 times ours (diffrax-Dopri8, with a larger error than ours)"
    assert line(finished, coarse, stopped).startswith("peers: >= 60 times ours (torchdiffeq-dopri5, stopped")
    assert line(failed) == "peers: not measured, no contender ran"


def test_what_a_stopped_contender_said_is_read_up_to_the_cut(trajectory):
    assert trajectory.progress('{"setup": 1.5}\n{"tau": 2.0}\n{"tau": 3') == {"setup": 1.5, "tau": 2.0}
    assert trajectory.progress("") == {}


def test_a_contender_that_is_too_slow_or_broken_is_told_as_such(trajectory):
    assert trajectory.peer("numpy-Euler-0.1", sys.executable, 0.001, 1e-8)["finished"] is False
    assert trajectory.peer("diffrax-None", sys.executable, 60.0, 1e-8)["failed"]
    assert "numpy" in trajectory.versions(sys.executable)


def test_the_contenders_integrate_the_same_flow(trajectory):
    tokens = usaav.initial_tokens({"law": "uniform"}, n_tokens=8, dim=3, seed=0)
    job = {"name": "scipy-DOP853", "tokens": tokens.tolist(), "beta": 2.0, "tau": 1.0, "rtol": 1e-10}
    command = [sys.executable, str(BENCHMARKS / "peers.py")]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=True)
    first, last = (
        json.loads(line) for line in done.stdout.splitlines()[:: len(done.stdout.splitlines()) - 1]
    )
    assert first["setup"] > 0
    kernel = usaav.kernel({"type": "usa", "beta": 2.0})
    expected = usaav.simulate(kernel, tokens, times=[0.0, 1.0], rtol=1e-12, backend="numpy").tokens.values
    assert np.abs(np.array(last["tokens"]) - expected[0, -1]).max() < 1e-8


def measured() -> list[dict]:
    path = BENCHMARKS / "results" / "field.json"
    if not path.exists():
        pytest.skip("the field has not been measured")
    return json.loads(path.read_text())["results"]["evaluations"]


@pytest.mark.parametrize("dim", [2, 3])
def test_auto_takes_the_spectral_field_from_where_it_was_measured_to_be_faster(dim):
    """By the time of a token on the spectral field over that of a pair on the direct one, for many tokens.

    Within a factor of two, which processors differ by; auto takes the direct field of 512 tokens anyway.
    """
    rows = [row for row in measured() if row["dim"] == dim]
    pair = min(row["ns_per_pair"] for row in rows if row["field"] == "direct" and row["n"] >= 1024)
    tokens = [row for row in rows if row["field"] == "spectral" and row["n"] == 100_000]
    assert len(tokens) >= 3
    for row in tokens:
        faster = max(512.0, row["ns_per_token"] / pair)
        assert 0.5 < crossover(row["beta"], dim, 1e3 * row["tolerance"]) / faster < 2.0


def test_with_weights_auto_goes_by_what_was_measured_too():
    rows = [row for row in measured() if row["field"].endswith(" weighted")]
    if not rows:
        pytest.skip("weights have not been measured")
    for dim in (2, 3):
        matrix, products = (
            next(row for row in rows if row["dim"] == dim and row["field"] == f"{field} weighted")
            for field in ("direct", "spectral")
        )
        faster = max(512.0, products["ns_per_token"] / matrix["ns_per_pair"])
        taken = crossover(products["beta"], dim, 1e3 * products["tolerance"], products["rank"])
        assert 0.5 < taken / faster < 2.0


@pytest.mark.slow
def test_the_field_is_measured_quickly():
    command = [sys.executable, str(BENCHMARKS / "field.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("one exponential: ")
    assert sum(line.startswith("direct") for line in lines) == 6
    assert sum(line.startswith("spectral") for line in lines) == 6
