"""Errors fall at the rate that the methods promise."""

from __future__ import annotations

import numpy as np
import pytest

from physics import examples
from usaav import simulate
from usaav.flow import dormand_prince
from usaav.kernels import kernel

N, DIM = 10, 3


def order(sizes: np.ndarray, errors: np.ndarray) -> float:
    """Slope of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


@pytest.mark.parametrize("name", ["usa", "toeplitz_exponential", "toeplitz_linear"])
def test_the_step_is_of_order_eight(name: str) -> None:
    """Fixed steps over a fixed time, on both engines; and both take the same steps."""
    spec, z = examples.kernels(DIM)[name], examples.tokens(N, DIM, 1)
    labels, masses, duration = examples.labels_for(spec, N, 1), np.full(N, 1.0 / N), 8.0
    plain, compiled = (examples.system(spec, labels, backend) for backend in ("numpy", "numba"))

    def run(count: int) -> tuple[np.ndarray, np.ndarray]:
        first, second = z, z
        for _ in range(count):
            first, _ = dormand_prince.step(
                lambda point: plain.velocity(point, masses),
                first,
                plain.velocity(first, masses),
                duration / count,
            )
            second, _, _ = compiled.step(
                second, masses, compiled.velocity(second, masses), duration / count, 0.0
            )
        return first, second

    exact = run(64)[0]
    counts = np.array([8, 12, 16])
    runs = [run(count) for count in counts]
    errors = np.array([np.abs(first - exact).max() for first, _ in runs])
    assert errors[-1] > 1e-14  # above rounding
    assert 7.5 < order(1.0 / counts, errors) < 8.5
    assert max(np.abs(first - second).max() for first, second in runs) < 1e-13


def test_the_error_estimate_is_an_upper_bound_of_the_angle() -> None:
    """The embedded pair's estimate belongs to lower orders, so it is never the smaller one."""
    spec, z, masses = examples.usa(2.0), examples.tokens(N, DIM, 1), np.full(N, 1.0 / N)
    system = examples.system(spec, None)
    velocity = system.velocity(z, masses)
    for size in (1.0, 2.0, 4.0):
        new, _, estimate = system.step(z, masses, velocity, size, 0.0)
        fine, speed = z, velocity
        for _ in range(32):
            fine, speed, _ = system.step(fine, masses, speed, size / 32, 1.0)
        assert np.linalg.norm(new - fine, axis=1).max() < estimate


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("name", ["usa", "rope", "toeplitz_exponential"])
def test_error_is_proportional_to_rtol(name: str, backend: str) -> None:
    spec, x = examples.kernels(DIM)[name], examples.tokens(N, DIM, 7)
    labels = examples.labels_for(spec, N, 7)
    model, times = kernel(spec), [0.0, 3.0]

    def final(rtol: float) -> np.ndarray:
        run = simulate(model, x, labels, times, rtol=rtol, backend=backend)  # type: ignore[arg-type]
        return np.asarray(run["tokens"].values[0, -1])

    exact = final(1e-14)
    tolerances = np.array([1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
    errors = np.array([np.abs(final(rtol) - exact).max() for rtol in tolerances])
    assert np.all(errors < 3.0 * tolerances)
    assert 0.8 < order(tolerances, errors) < 1.2


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("name", ["usa", "prefix", "toeplitz_linear"])
def test_layers_are_of_first_order(name: str, backend: str) -> None:
    spec, x = examples.kernels(DIM)[name], examples.tokens(N, DIM, 7)
    labels, model = examples.labels_for(spec, N, 7), kernel(spec)
    exact = simulate(model, x, labels, [2.0], rtol=1e-12)["tokens"].values[0, 0]

    def error(step: float) -> float:
        run = simulate(model, x, labels, [2.0], method="layers", step=step, backend=backend)  # type: ignore[arg-type]
        assert int(run["step_count"][0]) == round(2.0 / step)
        return float(np.abs(run["tokens"].values[0, 0] - exact).max())

    steps = np.array([0.02, 0.01, 0.005])
    errors = np.array([error(step) for step in steps])
    assert 0.95 < order(steps, errors) < 1.05
    assert errors[0] < 0.1


def test_layers_are_an_euler_step_and_a_normalisation() -> None:
    spec, x, step = examples.usa(2.0), examples.tokens(N, DIM, 7), 0.1
    run = simulate(kernel(spec), x, times=[0.0, 0.1, 0.3], method="layers", step=step)
    system, masses = examples.system(spec, None), np.full(N, 1.0 / N)
    states = [x]
    for _ in range(3):
        moved = states[-1] + step * system.rate * system.velocity(states[-1], masses)
        states.append(moved / np.linalg.norm(moved, axis=1, keepdims=True))
    for state, expected in zip(run["tokens"].values[0], (states[0], states[1], states[3]), strict=True):
        assert np.abs(state - expected).max() < 1e-15
    assert "merge_time" not in run
