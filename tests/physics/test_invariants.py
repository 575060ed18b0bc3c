"""What holds whatever the start: energy, symmetry, unit length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from physics import examples
from usaav import simulate
from usaav.flow import adaptive
from usaav.kernels import kernel

SOFTMAX = ("usa", "rope", "generalized_rope", "prefix")


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(("name", "dim"), examples.ALL)
def test_energy_grows_by_the_mean_square_speed(name: str, dim: int, backend: str) -> None:
    """``dE/dtau = (1/n) sum |dx_i/dtau|^2``, by a central difference along the velocity."""
    spec, z, n = examples.kernels(dim)[name], examples.tokens(10, dim, 2), 10
    labels = examples.labels_for(spec, n, 2)
    system, masses = examples.system(spec, labels, backend), np.full(n, 1.0 / n)
    velocity = system.rate * system.velocity(z, masses)

    def energy(time: float) -> float:
        moved = z + time * velocity
        return system.energy(moved / np.linalg.norm(moved, axis=1, keepdims=True), masses)

    # error of the difference: h^2 times a third derivative of order 10, and rounding 1e-16/h
    growth = (energy(1e-4) - energy(-1e-4)) / 2e-4
    assert growth == pytest.approx(np.sum(velocity**2) / n, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", SOFTMAX)
def test_energy_grows_with_softmax(name: str) -> None:
    """The same in the metric that weighs a token by its denominator."""
    spec, z, n = examples.kernels(3)[name], examples.tokens(10, 3, 2), 10
    system, masses = examples.system(spec, None, softmax=True), np.full(n, 1.0 / n)
    velocity = system.velocity(z, masses)
    denominator = np.exp(spec["beta"] * z @ z.T).mean(axis=1)

    def energy(time: float) -> float:
        moved = z + time * velocity
        return system.energy(moved / np.linalg.norm(moved, axis=1, keepdims=True), masses)

    growth = (energy(1e-4) - energy(-1e-4)) / 2e-4
    assert growth == pytest.approx(np.mean(denominator * np.sum(velocity**2, axis=1)), rel=1e-5)


@pytest.mark.parametrize(("name", "dim"), examples.ALL)
def test_energy_never_decreases(name: str, dim: int) -> None:
    n = 12
    spec, x = examples.kernels(dim)[name], examples.tokens(n, dim, 8)
    labels = examples.labels_for(spec, n, 8)
    energy = simulate(kernel(spec), x, labels, np.linspace(0.0, 20.0, 201))["energy"].values[0]
    # sums of n^2 terms, each at most exp(beta)/beta or the largest weight: their rounding
    assert np.diff(energy).min() >= -1e-14 * max(1.0, np.abs(energy).max())
    assert energy[-1] > energy[0] + 0.01


@pytest.mark.parametrize(("beta", "dim"), [(9.0, 2), (25.0, 3), (81.0, 3)])
def test_energy_never_decreases_over_plateaus_and_merges(beta: float, dim: int) -> None:
    times = [0.0, *np.geomspace(1e-2 * math.exp(-beta), 1e40, 300)]
    run = simulate(kernel(examples.usa(beta)), examples.tokens(40, dim, 8), times=times)
    energy = run["energy"].values[0] / (math.exp(beta) / (2.0 * beta))
    assert np.diff(energy).min() >= -1e-14
    assert energy[-1] == pytest.approx(1.0, abs=1e-14)
    assert run.sizes["merge"] == 39


def turned(x: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    frame, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(x.shape[-1], x.shape[-1])))
    return x @ frame.T, frame


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(("name", "dim"), examples.ALL)
def test_rotation_equivariance(name: str, dim: int, backend: Any) -> None:
    """A start turned in gauge coordinates stays so turned; reflections included."""
    n, times = 9, [0.0, 0.5, 2.0]
    spec, z = examples.kernels(dim)[name], examples.tokens(n, dim, 4)
    labels, model = examples.labels_for(spec, n, 4), kernel(spec)
    other, frame = turned(z, 1)

    def final(start: np.ndarray) -> np.ndarray:
        run = simulate(model, model.from_gauge(start, labels), labels, times, backend=backend, rtol=1e-10)
        return np.asarray(model.to_gauge(run["tokens"].values[0], labels))

    # steps are equal up to rounding, so no tolerance of the integrator enters
    assert np.abs(final(z) @ frame.T - final(other)).max() < 1e-12


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(("name", "dim"), examples.ALL)
def test_permutation_equivariance(name: str, dim: int, backend: Any) -> None:
    n, times = 9, [0.0, 0.5, 2.0]
    spec, x = examples.kernels(dim)[name], examples.tokens(n, dim, 4)
    labels, order = examples.labels_for(spec, n, 4), np.random.default_rng(0).permutation(n)
    plain = simulate(kernel(spec), x, labels, times, backend=backend, rtol=1e-10)
    mixed = simulate(
        kernel(spec), x[order], None if labels is None else labels[order], times, backend=backend, rtol=1e-10
    )
    assert np.abs(plain["tokens"].values[:, :, order] - mixed["tokens"].values).max() < 1e-12
    assert plain["energy"].values == pytest.approx(mixed["energy"].values, rel=1e-12)


@pytest.mark.parametrize("name", ["rope", "generalized_rope", "prefix"])
def test_a_gauge_changes_only_the_coordinates(name: str) -> None:
    """With w = 1 the flow in z is the baseline's, bit by bit."""
    n, times = 10, [0.0, 0.3, 1.0, 6.0]
    spec, z = examples.kernels(3)[name], examples.tokens(n, 3, 6)
    labels, model = examples.labels_for(spec, n, 6), kernel(spec)
    gauged = simulate(model, model.from_gauge(z, labels), labels, times)
    start = model.to_gauge(gauged["tokens"].values[0, 0], labels)
    plain = simulate(kernel(examples.usa(spec["beta"])), start, times=times)
    expected = model.from_gauge(plain["tokens"].values[0], labels)
    assert np.abs(gauged["tokens"].values[0] - expected).max() < 1e-13


def test_a_tiny_beta_is_the_linear_profile() -> None:
    x, times = examples.tokens(8, 3, 9), [0.0, 1.0, 4.0]
    linear = simulate(kernel({"type": "combined", "phi": "linear"}), x, times=times)["tokens"]
    small = simulate(kernel(examples.usa(0.01)), x, times=times)["tokens"]
    smaller = simulate(
        kernel({"type": "combined", "beta": 0.02, "weight": {"type": "constant"}}), x, times=times
    )["tokens"]
    near, far = (float(np.abs(run - linear).max()) for run in (small, smaller))
    assert near < 0.02
    assert far / near == pytest.approx(2.0, rel=0.05)  # the difference is of first order in beta


STARTS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(sorted(examples.kernels(3))),
        "beta": st.floats(math.log(0.01), math.log(700.0)).map(math.exp),
        "dim": st.sampled_from([2, 3, 5]),
        "n": st.integers(1, 9),
        "copies": st.integers(1, 2),
        "seed": st.integers(0, 10_000),
        "durations": st.lists(st.floats(-6.0, 1.0), min_size=1, max_size=4),
        "to_the_end": st.booleans(),
        "softmax": st.booleans(),
        "backend": st.sampled_from(examples.BACKENDS),
    }
)


@hypothesis_settings(max_examples=60)
@given(STARTS)
def test_properties(start: dict[str, Any]) -> None:
    """Unit rows, finite numbers, consistent observables and merges: any kernel, beta, dimension and start."""
    spec = dict(examples.kernels(start["dim"])[start["name"]])
    linear = "beta" not in spec
    normalization: Any = "softmax" if start["softmax"] and start["name"] in SOFTMAX else "none"
    # in units of the fastest rate: where labels couple differently nothing merges, and steps follow it
    unit = 1.0 if linear or normalization == "softmax" else math.exp(-start["beta"])
    if not linear:
        spec["beta"] = start["beta"]
    x = np.repeat(examples.tokens(start["n"], start["dim"], start["seed"]), start["copies"], axis=0)
    labels = examples.labels_for(spec, len(x), start["seed"])
    times = np.cumsum([0.0, *(unit * 10.0**duration for duration in start["durations"])])
    if kernel(spec).weight.is_constant and start["to_the_end"]:
        times = np.append(times, 1e300)
    run = simulate(kernel(spec), x, labels, times, backend=start["backend"], normalization=normalization)

    lengths = np.linalg.norm(run["tokens"].values, axis=-1)
    assert np.abs(lengths - 1.0).max() <= 1e-14
    assert run["time"].values.tolist() == times.tolist()
    assert np.abs(run["tokens"].values[0, 0] - x).max() <= 4e-16 * start["dim"] * 3
    energy = run["energy"].values[0]
    assert np.all(np.isfinite(energy))
    assert np.diff(energy).min() >= -1e-13 * max(1e-300, np.abs(energy).max())
    assert np.all((run["dirac_distance"].values >= 0.0) & (run["dirac_distance"].values <= math.sqrt(2.0)))
    if "merge_time" in run:
        assert run.sizes["merge"] < len(x)
        merged = run["merge_time"].values[0]
        assert np.all((merged >= 0.0) & (merged <= times[-1]))
        assert np.all(np.diff(merged) >= 0.0)


@pytest.mark.parametrize("beta", [1.0, 9.0, 81.0])
def test_the_clock_lands_exactly(beta: float) -> None:
    system = examples.system(examples.usa(beta), None)
    times = [0.0, 1e-7, 0.1, 0.1 + 2e-16, 0.3, 1.0, 1e10, 1e10 + 4e-6, 1e17, 1e300]
    shown = []
    start = examples.tokens(7, 3, 0)
    run = adaptive._Run(system, adaptive.Clusters(start, 1e-3), adaptive.Options())
    for time in times:
        run.advance_to(time)
        shown.append((run.clock.time, run.clock.until(time)))
    assert shown == [(time, 0.0) for time in times]


def test_more_output_times_change_nothing() -> None:
    """Landing on output times costs no accuracy and leaves no trace beyond the tolerance."""
    x, model = examples.tokens(12, 3, 5), kernel(examples.usa(6.0))
    few = simulate(model, x, times=[0.0, 3.0], rtol=1e-11)
    many = simulate(model, x, times=np.linspace(0.0, 3.0, 500), rtol=1e-11)
    assert np.abs(few["tokens"].values[0, -1] - many["tokens"].values[0, -1]).max() < 1e-9
    assert few.sizes["merge"] == many.sizes["merge"]
    assert int(many["step_count"][0]) < int(few["step_count"][0]) + 500


def test_a_run_can_be_continued() -> None:
    x, model = examples.tokens(12, 3, 5), kernel(examples.usa(2.0))
    whole = simulate(model, x, times=[0.0, 1.0, 2.5], rtol=1e-11)["tokens"].values[0]
    later = simulate(model, whole[1], times=[0.0, 1.5], rtol=1e-11)["tokens"].values[0]
    assert np.abs(whole[1:] - later).max() < 1e-10
