"""Which times are whole numbers of layers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from physics import examples
from usaav import kernel, simulate
from usaav.errors import ConfigError
from usaav.flow import layers
from usaav.flow.systems import ArraySystem


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


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("beta", [30.0, 541.0, 700.0])
def test_equal_tokens_stay_where_they_are(backend: str, beta: float) -> None:
    """Rounding times ``exp(beta)`` is no force; and the square of a step may overflow, the step may not."""
    start = np.tile([0.50787832, 0.04116697, -0.86044459], (6, 1))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    model = kernel({"type": "usa", "beta": beta})
    run = simulate(model, start, times=[0.0, 3.0], method="layers", step=0.5, backend=backend)
    assert np.array_equal(run["tokens"].values[0, 1], run["tokens"].values[0, 0])


def test_a_step_whose_square_overflows_still_has_a_direction() -> None:
    system = ArraySystem(examples.system(examples.usa(600.0), None).interaction)
    tokens = np.array([[1.0, 0.0], [math.cos(0.1), math.sin(0.1)]])
    moved, finite = system.layer(tokens, np.array([0.5, 0.5]), math.exp(600.0))
    assert finite
    assert moved == pytest.approx(np.array([[0.0, 1.0], [math.sin(0.1), -math.cos(0.1)]]), abs=1e-12)
