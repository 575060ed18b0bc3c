"""What a configuration will take, told without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from usaav import estimate
from usaav.config import from_mapping, load

PLAIN = {
    "kernel": {"type": "usa", "beta": 1},
    "n_tokens": [16, 32],
    "seeds": 5,
    "times": {"start": 0, "stop": 20, "count": 11},
    "sweep": {"kernel.beta": [1, 2, 3]},
}


def lines(**settings):
    config = from_mapping({"experiments": {"one": {**PLAIN, **settings}}}, [])
    return {line.name: line for line in estimate.estimate(config)}


def test_a_job_for_each_case_and_one_for_the_table() -> None:
    found = lines()
    assert found["one: simulations"].jobs == 6
    assert found["one: tables"].jobs == 1


def test_a_sweep_has_a_job_for_each_batch() -> None:
    found = lines(batch=4)
    assert found["one: simulations"].jobs == 2
    # its table, then all tables and all data together
    assert found["one: tables"].jobs == 2 + 2


def test_batches_save_the_starts_of_processes() -> None:
    assert lines(batch=6)["one: simulations"].core_hours < lines()["one: simulations"].core_hours


@pytest.mark.parametrize(
    "more", [{"seeds": 50}, {"n_tokens": [1024, 2048]}, {"times": {"stop": 20, "count": 101}}]
)
def test_more_work_takes_longer(more) -> None:
    few, many = lines()["one: simulations"], lines(**more)["one: simulations"]
    assert many.core_hours > few.core_hours
    assert many.gigabytes > few.gigabytes


def test_the_last_line_is_the_sum() -> None:
    found = list(lines().values())
    *_, total, remark = estimate.table(found).splitlines()
    assert total.split()[:2] == ["all", str(sum(line.jobs for line in found))]
    assert remark.startswith("Guesses")


def test_the_shipped_sweep_is_estimated(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert estimate.main([str(repo / "config" / "sweep.yaml"), "seeds=2"]) == 0
    shown = capsys.readouterr().out
    assert "phases: simulations" in shown
    cases = load([repo / "config" / "sweep.yaml"]).cases()
    assert len(cases) > 2000


@pytest.mark.parametrize("words", [["no_such_file.yaml"], ["only=nothing"], ["=", "="]])
def test_what_is_wrong_is_said(repo: Path, words: list[str], capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    assert estimate.main(words) == 1
    captured = capsys.readouterr()
    assert captured.err
    assert not captured.out
