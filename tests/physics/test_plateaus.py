"""Plateaus that last exponentially long, timed against the quadrature for two clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import xarray as xr

from physics import examples, literal
from usaav import initial_tokens, simulate
from usaav.kernels import kernel

ANGLE = 1e-3  # the reported one


def tolerance(beta: float) -> float:
    return 1e-8 if beta >= 9.0 else 1e-6


def last(run: xr.Dataset) -> dict[str, float]:
    names = ("time", "duration", "angle_before", "mass_first", "mass_second")
    return {name: float(run[f"merge_{name}"][0, -1]) for name in names}


@pytest.mark.parametrize("masses", [(1, 1), (3, 1), (1, 5)], ids=str)
@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize("beta", [0.5, 1.0, 4.0, 9.0, 25.0, 49.0, 81.0])
def test_two_clusters(beta: float, dim: int, masses: tuple[int, int]) -> None:
    """Coincident tokens are the clusters: equal and unequal masses take equally long."""
    for start in (0.6, 1.6, 2.9):
        tokens = np.repeat(examples.pair(start, dim), masses, axis=0)
        event = last(simulate(kernel(examples.usa(beta)), tokens, times=[0.0, 1e300]))
        total = sum(masses)
        assert event["mass_first"] == pytest.approx(masses[0] / total)
        assert event["mass_second"] == pytest.approx(masses[1] / total)
        assert event["angle_before"] == pytest.approx(start, abs=1e-14)
        expected = literal.two_cluster_time(start, ANGLE, beta)
        assert event["duration"] == pytest.approx(expected, rel=tolerance(beta))
        assert event["time"] == event["duration"]


@pytest.mark.parametrize(
    ("beta", "dim", "backend"),
    [(beta, dim, "numba") for beta in (4.0, 9.0, 25.0, 49.0, 81.0) for dim in (2, 3, 5)]
    + [(4.0, 5, "numpy"), (9.0, 3, "numpy"), (25.0, 2, "numpy")],
)
def test_last_merge_of_random_tokens(beta: float, dim: int, backend: Any) -> None:
    """From the moment two clusters are left: the end of a staircase."""
    checked = 0
    for seed in range(2):
        start = examples.tokens(24 if backend == "numba" else 8, dim, seed)
        run = simulate(kernel(examples.usa(beta)), start, times=[0.0, 1e300], backend=backend)
        assert run.sizes["merge"] == len(start) - 1
        event = last(run)
        if event["angle_before"] > 0.1:
            expected = literal.two_cluster_time(event["angle_before"], ANGLE, beta)
            assert event["duration"] == pytest.approx(expected, rel=tolerance(beta))
            checked += 1
    assert checked


@pytest.mark.parametrize("name", ["rope", "generalized_rope", "prefix"])
def test_orbits_merge_like_clusters(name: str) -> None:
    """The same through a gauge."""
    spec = {**examples.kernels(3)[name], "beta": 25.0}
    labels, model = examples.labels_for(spec, 12, 3), kernel(spec)
    event = last(simulate(model, examples.tokens(12, 3, 3), labels, [0.0, 1e300]))
    expected = literal.two_cluster_time(event["angle_before"], ANGLE, 25.0)
    assert event["duration"] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("angle", [1e-4, 1e-2, 0.1, 0.5])
def test_the_reported_angle_is_the_one_that_is_crossed(angle: float) -> None:
    for beta in (1.0, 9.0, 81.0):
        run = simulate(
            kernel(examples.usa(beta)), examples.pair(1.1), times=[0.0, 1e300], merge_angle=angle, rtol=1e-12
        )
        expected = literal.two_cluster_time(1.1, angle, beta)
        assert last(run)["duration"] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(("beta", "start"), [(4.0, 2.0), (81.0, 3.0), (300.0, 2.0), (700.0, 1.5)])
def test_a_softmax_pair(beta: float, start: float, backend: Any) -> None:
    """``dphi/dtau = -2 sin(phi) / (1 + exp(beta (1 - cos phi)))`` for equal masses, up to tau = 1e300."""
    run = simulate(
        kernel(examples.usa(beta)),
        examples.pair(start),
        times=[0.0, 1e300],
        normalization="softmax",
        rtol=1e-12,
        backend=backend,
    )
    # dphi / sin(phi) = du
    low, high = (math.log(math.tan(0.5 * end)) for end in (ANGLE, start))
    edges = np.linspace(low, high, 401)
    nodes, shares = np.polynomial.legendre.leggauss(20)
    half = 0.5 * np.diff(edges)[:, None]
    u = edges[:-1, None] + half * (1.0 + nodes)
    slowness = half * 0.5 * (1.0 + np.exp(beta * (1.0 + np.tanh(u))))
    # local errors of 1e-12 of the angle, which beta multiplies
    assert last(run)["time"] == pytest.approx(float(np.sum(slowness @ shares)), rel=1e-11 * max(10.0, beta))


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_softmax_clusters_of_random_tokens(backend: Any) -> None:
    """To the last merge, where velocities per tau are far below what their squares can hold."""
    start = examples.tokens(8, 3, 1)
    run = simulate(
        kernel(examples.usa(250.0)), start, times=[0.0, 1e300], backend=backend, normalization="softmax"
    )
    assert run.sizes["merge"] == 7
    assert float(run["dirac_distance"][0, -1]) < 1e-14


@pytest.mark.parametrize("start", [1.0, 2.0, 3.0])
def test_steps_grow_slower_than_the_logarithm_of_time(start: float) -> None:
    """Per e-fold of the plateau's length in units of the fastest rate, ever fewer steps."""
    per_fold = []
    for beta in (9.0, 25.0, 81.0, 250.0, 700.0):
        run = simulate(kernel(examples.usa(beta)), examples.pair(start), times=[0.0, 1e300])
        folds = math.log(last(run)["time"]) + beta
        per_fold.append(int(run["step_count"][0]) / folds)
    assert np.all(np.diff(per_fold) < 0.0)
    assert per_fold[-1] < 10.0


@pytest.mark.parametrize("seed", [0, 1])
def test_steps_of_a_staircase_grow_slower_than_the_logarithm_of_time(seed: int) -> None:
    """From 24 random tokens over 23 mergers, with the logarithm of the whole time in the same units."""
    per_fold = []
    for beta in (25.0, 81.0, 250.0):
        tokens = initial_tokens({"law": "uniform"}, n_tokens=24, dim=3, seed=seed)
        run = simulate(kernel(examples.usa(beta)), tokens, times=[0.0, 1e250])
        assert np.isfinite(run["merge_time"].values).sum() == 23
        folds = math.log(np.nanmax(run["merge_time"].values)) + beta
        per_fold.append(int(run["step_count"][0]) / folds)
    assert np.all(np.diff(per_fold) < 0.0)


def test_the_last_plateau_takes_all_the_time() -> None:
    """At beta = 700 and nearly antipodal, up to the largest times that are allowed."""
    run = simulate(kernel(examples.usa(700.0)), examples.pair(3.0), times=[0.0, 1e299, 1e300])
    assert last(run)["time"] == pytest.approx(literal.two_cluster_time(3.0, ANGLE, 700.0), rel=1e-7)
    first, second = run["tokens"].values[0, 1]
    assert 2.9 < 2.0 * math.asin(0.5 * np.linalg.norm(first - second)) < 3.0
