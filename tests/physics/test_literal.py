"""The literal formula in x against what is computed in gauge coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from physics import examples, literal
from usaav import simulate
from usaav.kernels import kernel

N = 11
SOFTMAX = [(name, dim) for name, dim in examples.ALL if name in ("usa", "rope", "generalized_rope", "prefix")]


def compare(name: str, dim: int, backend: str, *, softmax: bool) -> None:
    spec, x = examples.kernels(dim)[name], examples.tokens(N, dim, dim)
    labels = examples.labels_for(spec, N, dim)
    flow = literal.Flow(spec, labels, N, dim, softmax=softmax)
    model, masses = kernel(spec), np.full(N, 1.0 / N)
    right_hand_side = examples.system(spec, labels, backend, softmax=softmax)
    z = model.to_gauge(x, labels)
    velocity = model.from_gauge(right_hand_side.rate * right_hand_side.velocity(z, masses), labels)
    assert np.abs(velocity - flow.velocity(x)).max() < 1e-13
    assert abs(right_hand_side.energy(z, masses) - flow.energy(x)) < 1e-13
    assert np.abs(velocity).max() > 1e-2  # something was compared


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(("name", "dim"), examples.ALL)
def test_velocity_and_energy(name: str, dim: int, backend: str) -> None:
    compare(name, dim, backend, softmax=False)


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(("name", "dim"), SOFTMAX)
def test_velocity_with_softmax(name: str, dim: int, backend: str) -> None:
    compare(name, dim, backend, softmax=True)


@pytest.mark.parametrize(
    ("name", "dim", "softmax"),
    [(*example, False) for example in examples.ALL] + [(*example, True) for example in SOFTMAX],
)
def test_trajectory(name: str, dim: int, softmax: bool) -> None:
    """A stock solver on the literal field."""
    n, times = 5, [0.0, 0.4, 1.5]
    spec, x = examples.kernels(dim)[name], examples.tokens(n, dim, 3 * dim)
    labels = examples.labels_for(spec, n, dim)
    flow = literal.Flow(spec, labels, n, dim, softmax=softmax)
    stock = solve_ivp(
        lambda _, flat: flow.velocity(flat.reshape(n, dim)).ravel(),
        (0.0, times[-1]),
        x.ravel(),
        method="DOP853",
        t_eval=times,
        rtol=1e-10,
        atol=1e-11,
    )
    normalization: Any = "softmax" if softmax else "none"
    run = simulate(kernel(spec), x, labels, times, rtol=1e-11, normalization=normalization)
    expected = stock.y.T.reshape(len(times), n, dim)
    # ten times the stock solver's local tolerance, for its steps add up and leave the sphere
    assert np.abs(run["tokens"].values[0] - expected).max() < 1e-9
    assert run["energy"].values[0] == pytest.approx([flow.energy(state) for state in expected], abs=1e-9)
