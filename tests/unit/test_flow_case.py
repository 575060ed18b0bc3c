"""Cases: what is drawn for a seed, and the file that a job leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from usaav import datasets
from usaav.config import Case, load
from usaav.errors import ConfigError
from usaav.flow.case import draw_labels, draw_tokens, run_case, simulate_case
from usaav.kernels import kernel

BASE: dict[str, Any] = {
    "kernel": {"type": "rope", "beta": 1, "planes": [[0, 1]], "frequencies": [1]},
    "labels": {"law": "uniform"},
    "n_tokens": 6,
    "seeds": 3,
    "times": {"stop": 2, "count": 5},
    "snapshots": 2,
}
PREFIX = {"type": "prefix", "beta": 1, "targets": {"law": "uniform", "count": 4}}


def case_of(**changes: Any) -> Case:
    (case,) = load([], {"experiments": {"e": {**BASE, **changes}}}).cases()
    return case


def drawn(case: Case) -> tuple[np.ndarray, np.ndarray | None]:
    labels = draw_labels(case)
    return draw_tokens(case, kernel(case.settings.kernel), labels), labels


def test_a_seed_starts_alike_alone_and_in_company() -> None:
    tokens, labels = drawn(case_of())
    assert tokens.shape == (3, 6, 3)
    assert labels is not None
    alone, own = drawn(case_of(seeds=[2]))
    assert own is not None
    assert np.array_equal(alone[0], tokens[2])
    assert np.array_equal(own[0], labels[2])
    hotter, _ = drawn(case_of(kernel={**BASE["kernel"], "beta": 9}))
    assert np.array_equal(hotter, tokens)
    assert not np.array_equal(tokens[0], tokens[1])
    assert not np.array_equal(labels[0], labels[1])
    assert not np.array_equal(drawn(case_of(n_tokens=7))[0][:, :6], tokens)


def test_no_labels() -> None:
    assert draw_labels(case_of(kernel={"type": "usa", "beta": 1}, labels=None)) is None


def test_prompts_follow_the_targets() -> None:
    labels = draw_labels(case_of(kernel=PREFIX, labels={"law": "prompts"}, n_tokens=9))
    assert labels is not None
    assert labels[0].tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0]


def test_anchored_tokens_are_symmetric_in_gauge_coordinates() -> None:
    """So the consensus is the reference point, and each prompt ends at its target."""
    case = case_of(
        kernel=PREFIX, labels={"law": "prompts"}, initial={"law": "anchored"}, n_tokens=8, times=[0, 60]
    )
    model, labels = kernel(case.settings.kernel), draw_labels(case)
    z = model.to_gauge(draw_tokens(case, model, labels), labels)
    assert np.abs(z.mean(axis=1)[:, :2]).max() < 1e-15
    final = model.to_gauge(run_case(case)["tokens"].values[:, -1], labels)
    assert np.abs(final - np.eye(3)[-1]).max() < 1e-12


def test_the_file_of_a_job(tmp_path: Path) -> None:
    case, path = case_of(), tmp_path / "deep" / "e" / "n6.nc"
    told: list[int] = []
    simulate_case(case.to_json(), path, 2, lambda run, _: told.append(run))
    stored = datasets.open_(path, experiment="e", case=case.name)
    assert json.loads(stored.attrs["settings"]) == json.loads(case.to_json())
    expected = run_case(case)
    for name in ("tokens", "energy", "label", "seed", "snapshot_time"):
        assert np.array_equal(stored[name].values, expected[name].values)
    assert sorted(told) == sorted([0, 1, 2] * 5)
    assert [entry.name for entry in path.parent.iterdir()] == ["n6.nc"]


def test_a_job_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not the JSON of a case"):
        simulate_case("{}", tmp_path / "x.nc", 1)
    assert list(tmp_path.iterdir()) == []
