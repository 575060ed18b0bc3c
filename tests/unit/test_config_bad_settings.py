"""Every kind of bad setting is refused with its key, its value and what was expected."""

from __future__ import annotations

import time
from typing import Any

import pytest

from unit.bad_settings import BAD, BIAS, GOOD, PREFIX, with_changes
from usaav.config import load
from usaav.errors import ConfigError


@pytest.mark.parametrize(
    ("changes", "expected"), BAD, ids=[f"{i}-{next(iter(c))[:40]!r}" for i, (c, _) in enumerate(BAD)]
)
def test_bad_setting_is_refused_with_key_and_expectation(
    changes: dict[str, Any], expected: tuple[str, ...]
) -> None:
    started = time.perf_counter()
    with pytest.raises(ConfigError) as caught:
        load([], with_changes(changes))
    message = str(caught.value)
    for words in expected:
        assert words in message
    assert message.startswith(tuple(f"{count} problem" for count in range(1, 10)))
    assert time.perf_counter() - started < 1.0


def test_the_good_settings_are_good() -> None:
    assert [case.name for case in load([], GOOD).cases()] == ["n8", "n16", "n8"]


def test_table_is_long_and_has_no_double() -> None:
    texts = [repr(changes) for changes, _ in BAD]
    assert len(set(texts)) == len(texts) >= 80


def test_the_limits_can_be_raised() -> None:
    large = {".n_tokens": 200_000, ".kernel": BIAS}
    with pytest.raises(ConfigError, match="memory_limit"):
        load([], with_changes(large))
    with pytest.raises(ConfigError, match="time_limit"):
        load([], {**with_changes(large), "memory_limit": 1000, "time_limit": 1})
    case = load([], {**with_changes(large), "memory_limit": "1000", "time_limit": "1e6"}).cases("main")[0]
    assert case.settings.n_tokens == 200_000
    # what is not going to be run may be of any size
    assert load([], {**with_changes(large), "only": ["other"]}).experiments.keys() == {"other"}


def test_all_problems_are_reported_at_once() -> None:
    changes = {
        "betta": 1,
        ".kernel.betta": 2,
        ".kernel.planes": [[0, 7]],
        ".labels": None,
        "experiments.other.dim": 1,
        "figures.one.draw": "nothing",
        "claims.one.tolerance": -1,
    }
    with pytest.raises(ConfigError) as caught:
        load([], with_changes(changes))
    message = str(caught.value)
    for key in (
        "betta = 1",
        "kernel.betta = 2",
        "kernel.planes.0",
        "labels",
        "other.dim",
        "one.draw",
        "one.tolerance",
    ):
        assert key in message
    assert message.startswith("7 problems")


@pytest.mark.parametrize(
    "changes",
    [
        {".n_tokens": 0},
        {".kernel.planes": [[0, 9.5]]},
        {"figures.one.experiments": ["A"]},
        {
            ".kernel": PREFIX,
            ".labels": {"law": "uniform"},
            ".variants": {"a": {"kernel.beta": 1}, "b": {"kernel.beta": 2}},
        },
    ],
)
def test_one_mistake_is_one_problem(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        load([], with_changes(changes))
    message = str(caught.value)
    assert message.startswith("1 problem in")
    assert "variant" not in message
    assert ".." not in message.replace("...", "")


def test_a_problem_of_some_variants_names_them() -> None:
    changes = {
        ".variants": {
            "a": {"kernel.beta": 1},
            "b": {"kernel.beta": 2},
            "c": {"kernel": {"type": "usa", "beta": 1}},
        },
        ".labels": None,
    }
    with pytest.raises(ConfigError) as caught:
        load([], with_changes(changes))
    assert str(caught.value).startswith("1 problem in")
    assert "(variants a, b)" in str(caught.value)


def test_long_lists_of_problems_are_cut() -> None:
    with pytest.raises(ConfigError, match=r"\.\.\. and \d+ more"):
        load([], with_changes({f"unknown{index}": 1 for index in range(100)}))


def test_long_values_are_cut() -> None:
    with pytest.raises(ConfigError) as caught:
        load([], with_changes({".labels": "x" * 5000}))
    assert len(str(caught.value)) < 400
    assert "(5002 characters)" in str(caught.value)
