"""The kinds of error."""

from __future__ import annotations

import pickle

import pytest

from usaav import errors

KINDS = [errors.ConfigError, errors.DataError, errors.BackendError, errors.SimulationError]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_caught_as_a_usaav_error(kind: type[errors.UsaavError]) -> None:
    with pytest.raises(errors.UsaavError, match="beta = -1"):
        raise kind("beta = -1 in config.yaml: expected a positive number")


@pytest.mark.parametrize("kind", KINDS)
def test_errors_cross_process_boundaries(kind: type[errors.UsaavError]) -> None:
    copy = pickle.loads(pickle.dumps(kind("what was wrong")))  # noqa: S301  bytes made on this very line
    assert type(copy) is kind
    assert str(copy) == "what was wrong"


def test_kinds_are_not_one_another() -> None:
    for kind in KINDS:
        assert [other for other in KINDS if issubclass(kind, other)] == [kind]


def test_all_lists_every_error() -> None:
    assert set(errors.__all__) == {kind.__name__ for kind in KINDS} | {"UsaavError"}
