"""Solutions on paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from physics import examples, literal
from usaav import simulate
from usaav.kernels import kernel

LINEAR = {"type": "combined", "phi": "linear"}


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("dim", [2, 3, 5])
def test_angle_of_two_tokens(dim: int, backend: Any) -> None:
    """Output times from the quadrature, angles from the flow."""
    beta, start = 2.0, 2.8
    angles = np.array([2.5, 2.0, 1.0, 0.3, 0.01])
    times = [literal.two_cluster_time(start, angle, beta) for angle in angles]
    run = simulate(
        kernel(examples.usa(beta)), examples.pair(start, dim), times=times, rtol=1e-12, backend=backend
    )
    first, second = run["tokens"].values[0].transpose(1, 0, 2)
    reached = 2.0 * np.arcsin(0.5 * np.linalg.norm(first - second, axis=1))
    assert reached == pytest.approx(angles, abs=1e-11)


@pytest.mark.parametrize("softmax", [False, True], ids=["usa", "softmax"])
@pytest.mark.parametrize("beta", [0.5, 3.0])
@pytest.mark.parametrize("dim", [2, 3, 5])
def test_orthonormal_tokens_stay_equiangular(dim: int, beta: float, softmax: bool) -> None:
    """One ordinary differential equation for the inner product of any two."""

    def growth(_: float, gamma: np.ndarray) -> np.ndarray:
        share = (
            (dim - 1) * np.exp(beta * gamma) + math.exp(beta) if softmax else dim
        )  # what each pull is divided by
        return 2.0 / share * np.exp(beta * gamma) * (1.0 - gamma) * ((dim - 1) * gamma + 1.0)

    frame, _ = np.linalg.qr(np.random.default_rng(dim).normal(size=(dim, dim)))
    times = [0.0, 0.2, 0.7, 1.5, 4.0]
    run = simulate(
        kernel(examples.usa(beta)),
        frame,
        times=times,
        rtol=1e-12,
        normalization="softmax" if softmax else "none",
    )
    stock = solve_ivp(growth, (0.0, 4.0), [0.0], method="DOP853", t_eval=times, rtol=1e-12, atol=1e-14)
    for state, gamma in zip(run["tokens"].values[0], stock.y[0], strict=True):
        inner = (state @ state.T)[~np.eye(dim, dtype=bool)]
        assert inner == pytest.approx(np.full(len(inner), gamma), abs=1e-10)


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_linear_profile_on_the_circle_is_kuramoto(backend: Any) -> None:
    n, times = 9, [0.0, 1.0, 3.0, 8.0]
    angles = np.random.default_rng(3).uniform(0.0, 2.0 * math.pi, n)
    run = simulate(
        kernel(LINEAR),
        np.stack([np.cos(angles), np.sin(angles)], axis=1),
        times=times,
        rtol=1e-12,
        backend=backend,
    )
    stock = solve_ivp(
        lambda _, theta: np.sin(theta[None, :] - theta[:, None]).mean(axis=1),
        (0.0, 8.0),
        angles,
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-13,
    )
    expected = np.stack([np.cos(stock.y.T), np.sin(stock.y.T)], axis=-1)
    assert np.abs(run["tokens"].values[0] - expected).max() < 1e-10


@pytest.mark.parametrize("dim", [2, 4])
def test_two_linear_tokens(dim: int) -> None:
    """Here the angle is elementary: ``tan(phi/2)`` decays as ``exp(-tau)``."""
    times = np.array([0.0, 0.5, 2.0, 6.0])
    run = simulate(kernel(LINEAR), examples.pair(3.0, dim), times=times, rtol=1e-12)
    first, second = run["tokens"].values[0].transpose(1, 0, 2)
    reached = 2.0 * np.arcsin(0.5 * np.linalg.norm(first - second, axis=1))
    assert reached == pytest.approx(2.0 * np.arctan(math.tan(1.5) * np.exp(-times)), abs=1e-11)
    assert run["energy"].values[0] == pytest.approx(0.25 * (1.0 + np.cos(reached)), abs=1e-12)


def test_two_tokens_that_repel() -> None:
    """A negative weight drives the pair apart to antipodes: ``tan(phi/2)`` grows as ``exp(tau)``."""
    times = np.array([0.0, 0.5, 2.0, 6.0])
    spec = {"type": "toeplitz", "coefficients": {1: 1.0}}
    run = simulate(kernel(spec), examples.pair(0.3), [0.0, math.pi], times, rtol=1e-12)
    first, second = run["tokens"].values[0].transpose(1, 0, 2)
    reached = 2.0 * np.arcsin(0.5 * np.linalg.norm(first - second, axis=1))
    # near pi an angle from a chord keeps half the digits
    assert reached == pytest.approx(2.0 * np.arctan(math.tan(0.15) * np.exp(times)), abs=1e-7)
    assert "merge_time" not in run


@pytest.mark.parametrize("beta", [0.01, 1.0, 9.0, 700.0])
def test_largest_energy(beta: float) -> None:
    """``exp(beta)/(2 beta)``, where all tokens agree; and where all agree in gauge coordinates."""
    run = simulate(kernel(examples.usa(beta)), np.tile(examples.tokens(1, 3, 0), (4, 1)))
    assert run["energy"].values[0] == pytest.approx(math.exp(beta) / (2.0 * beta), rel=1e-14)
    rope = kernel({"type": "rope", "beta": beta, "planes": [(0, 1)], "frequencies": [1.0]})
    labels = np.array([0.0, 1.0, 2.0, 5.0])
    orbit = rope.from_gauge(np.tile(examples.tokens(1, 3, 0), (4, 1)), labels)
    run = simulate(rope, orbit, labels)
    assert run["energy"].values[0] == pytest.approx(math.exp(beta) / (2.0 * beta), rel=1e-12)
    assert np.abs(run["tokens"].values[0] - orbit).max() < 1e-14
