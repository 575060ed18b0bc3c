"""Which times are whole numbers of layers."""

from __future__ import annotations

import numpy as np
import pytest

from physics import examples
from usaav.errors import ConfigError
from usaav.flow import layers


def test_whole_numbers_of_layers() -> None:
    assert layers.layer_numbers(np.array([0.0, 0.1, 0.3, 20.0]), 0.1) == [0, 1, 3, 200]
    assert (
        layers.layer_numbers(np.linspace(0.0, 1e4, 101), 0.01)[-1] == 1_000_000
    )  # steps as rounded as 0.01 is


@pytest.mark.parametrize("time", [0.05, 0.15, 1e-5, 19.99])
def test_other_times(time: float) -> None:
    with pytest.raises(ConfigError, match=rf"times: {time:g} is not a whole number of layers of step 0\.1"):
        layers.layer_numbers(np.array([0.0, time, 20.0]), 0.1)


def test_what_is_observed() -> None:
    seen: list[tuple[int, float]] = []
    start = examples.tokens(5, 3, 0)
    system = examples.system(examples.usa(1.0), None)
    count = layers.integrate(
        system,
        start,
        np.array([0.0, 0.5, 2.0]),
        0.5,
        lambda index, rows: seen.append((index, float(rows[0, 0]))),
    )
    assert count == 4
    assert [index for index, _ in seen] == [0, 1, 2]
    assert seen[0][1] == start[0, 0]
    assert len({value for _, value in seen}) == 3
