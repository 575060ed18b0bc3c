"""Metrics of clouds of points: slow literal versions, exact cases, invariances."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import special_ortho_group

import usaav
from usaav import metrics
from usaav.errors import DataError
from usaav.kernels import Kernel
from usaav.metrics import clusters

TURN = 2.0 * np.pi


def unit(points):
    points = np.asarray(points, dtype=float)
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


def random_tokens(n, dim=3, seed=0):
    return unit(np.random.default_rng(seed).standard_normal((n, dim)))


def circle(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


def tight_cloud(n, dim, size, seed=0):
    rng = np.random.default_rng(seed)
    return unit(unit(rng.standard_normal(dim)) + size * rng.standard_normal((n, dim)))


random_clouds = st.builds(random_tokens, st.integers(1, 12), st.integers(2, 5), st.integers(0, 10_000))


# ------------------------------------------------------------------ Dirac distance


@given(random_clouds)
def test_dirac_distance_is_that_of_the_mean(tokens):
    mean = np.linalg.norm(tokens.mean(axis=0))
    assert metrics.dirac_distance(tokens) == pytest.approx(math.sqrt(max(0.0, 2.0 * (1.0 - mean))), abs=3e-8)
    assert metrics.order_parameter(tokens) == pytest.approx(mean, abs=1e-15)


def test_dirac_distance_of_a_collapsed_cloud_keeps_its_digits():
    point = unit([0.3, -0.5, 0.8])
    assert metrics.dirac_distance(np.tile(point, (100, 1))) < 1e-15
    tilt = unit(np.cross(point, [1.0, 0.0, 0.0]))
    pair = np.stack([point + 1e-12 * tilt, point - 1e-12 * tilt])
    assert metrics.dirac_distance(pair) == pytest.approx(1e-12, rel=1e-3)
    assert metrics.dirac_distance(pair, geodesic=True) == pytest.approx(1e-12, rel=1e-3)
    pair = circle([1e-12, -1e-12])
    assert metrics.dirac_distance(pair, geodesic=True) == pytest.approx(1e-12, rel=1e-12)


def test_dirac_distance_of_antipodal_points():
    pair = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    assert metrics.dirac_distance(pair) == math.sqrt(2.0)
    # any point between is as good as the ends: (t^2 + (pi - t)^2)/2 is least in the middle
    assert metrics.dirac_distance(pair, geodesic=True) == pytest.approx(math.pi / 2.0, rel=1e-14)
    assert metrics.dirac_distance(circle([0.0, math.pi]), geodesic=True) == pytest.approx(math.pi / 2.0)


def test_dirac_distance_of_one_token_is_0():
    assert metrics.dirac_distance([[0.6, 0.8]]) < 1e-16
    assert metrics.dirac_distance([[0.6, 0.8]], geodesic=True) == 0.0
    assert metrics.dirac_distance([[0.0, 0.6, 0.8]], geodesic=True) < 1e-15


@settings(max_examples=20)
@given(st.integers(1, 9), st.integers(2, 4), st.integers(0, 1000))
def test_geodesic_dirac_distance_is_the_least_over_all_points(n, dim, seed):
    tokens = random_tokens(n, dim, seed)

    def spread(point):
        point = point / np.linalg.norm(point)
        return np.mean(np.arccos(np.clip(tokens @ point, -1.0, 1.0)) ** 2)

    starts = [*tokens, *random_tokens(8, dim, seed + 1)]
    best = min(
        minimize(spread, start, method="Nelder-Mead", options={"fatol": 1e-10}).fun for start in starts
    )
    found = metrics.dirac_distance(tokens, geodesic=True)
    assert found**2 <= best + 1e-7
    assert found**2 >= best - 1e-4


@given(random_clouds)
def test_geodesic_distance_is_between_the_chordal_one_and_pi_half_times_it(tokens):
    chordal, geodesic = (metrics.dirac_distance(tokens, geodesic=flag) for flag in (False, True))
    assert chordal - 1e-9 <= geodesic <= math.pi / 2.0 * chordal + 1e-9


def test_geodesic_dirac_distance_of_the_uniform_law_on_a_circle():
    # on the great circle the best point is its pole, in the plane any point: mean of t^2 over (-pi, pi)
    flat = circle(TURN * np.arange(1000) / 1000)
    assert metrics.dirac_distance(flat, geodesic=True) == pytest.approx(math.pi / math.sqrt(3.0), rel=1e-5)
    lifted = np.column_stack([flat, np.zeros(1000)])
    assert metrics.dirac_distance(lifted, geodesic=True) == pytest.approx(math.pi / 2.0, rel=1e-13)


@pytest.mark.parametrize("geodesic", [False, True])
@pytest.mark.parametrize("dim", [2, 3, 5])
def test_dirac_distance_does_not_notice_rotations_and_permutations(dim, geodesic):
    tokens = random_tokens(20, dim, 4)
    value = metrics.dirac_distance(tokens, geodesic=geodesic)
    turned = tokens @ special_ortho_group(dim).rvs(random_state=1).T
    assert metrics.dirac_distance(turned, geodesic=geodesic) == pytest.approx(value, rel=1e-12)
    shuffled = np.random.default_rng(0).permutation(tokens)
    assert metrics.dirac_distance(shuffled, geodesic=geodesic) == pytest.approx(value, rel=1e-12)


def test_metrics_take_batches():
    tokens = np.stack([[random_tokens(6, 3, 3 * run + time) for time in range(3)] for run in range(2)])
    for metric in (metrics.dirac_distance, metrics.order_parameter, metrics.cluster_count):
        values = metric(tokens)
        assert values.shape == (2, 3)
        assert values[1, 2] == metric(tokens[1, 2])


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((0, 3)), np.zeros((4, 1)), np.full((2, 2), np.nan)])
def test_metrics_refuse_what_are_no_tokens(bad):
    for metric in (metrics.dirac_distance, metrics.order_parameter, metrics.cluster_sizes):
        with pytest.raises(DataError, match="tokens"):
            metric(bad)


# ------------------------------------------------------------------ clusters


def naive_components(tokens, angle):
    chords = np.linalg.norm(tokens[:, None] - tokens[None], axis=-1)
    near = chords < 2.0 * math.sin(angle / 2.0)
    marks = np.arange(len(tokens))
    for _ in tokens:
        marks = np.array([marks[row].min() for row in near])
    return np.sort(np.unique(marks, return_counts=True)[1])[::-1]


@given(random_clouds, st.floats(0.01, 3.14))
def test_cluster_sizes_are_those_of_the_graph(tokens, angle):
    assert metrics.cluster_sizes(tokens, angle).tolist() == naive_components(tokens, angle).tolist()


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.005, 0.2))
def test_cluster_sizes_of_clumps_are_those_of_the_graph(seed, angle):
    rng = np.random.default_rng(seed)
    centres = random_tokens(4, 3, seed)[rng.integers(0, 4, 40)]
    tokens = unit(centres + 0.05 * rng.standard_normal((40, 3)))
    assert metrics.cluster_sizes(tokens, angle).tolist() == naive_components(tokens, angle).tolist()


def test_a_chain_is_one_cluster():
    chain = circle(0.09 * np.arange(5))
    assert metrics.cluster_count(chain, angle=0.1) == 1
    assert metrics.cluster_count(chain, angle=0.08) == 5
    assert metrics.cluster_sizes(chain, angle=0.08).tolist() == [1] * 5


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.005, 0.2))
def test_large_clouds_have_the_components_of_small_ones(seed, angle):
    # the ways for many tokens, on clouds that the way for few can check
    rng = np.random.default_rng(seed)
    centres = random_tokens(4, 3, seed)[rng.integers(0, 4, 60)]
    tokens = unit(centres + 0.05 * rng.standard_normal((60, 3)))
    expected = clusters.components(tokens, angle)
    chord = 2.0 * math.sin(angle / 2.0)
    assert clusters._numbered(clusters._by_cubes(tokens, chord)).tolist() == expected.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "_FEW", 1)
        assert clusters.components(tokens, angle).tolist() == expected.tolist()


def test_clumps_that_touch_only_away_from_their_first_tokens():
    # two arcs of 0.08 with a gap of 0.015: no first tokens are near, the ends are
    arcs = np.concatenate([np.linspace(0.0, 0.08, 400), np.linspace(0.095, 0.175, 400)])
    for angle, count in ((0.02, 1), (0.014, 2)):
        assert metrics.cluster_count(circle(arcs), angle=angle) == count
        found = clusters._by_cubes(circle(arcs), 2.0 * math.sin(angle / 2.0))
        assert len(np.unique(found)) == count


def test_cluster_count_of_a_large_collapsed_cloud_makes_no_table_of_pairs():
    tokens = np.concatenate([tight_cloud(100_000, 3, 1e-3, 1), -tight_cloud(50_000, 3, 1e-3, 1)])
    assert metrics.cluster_sizes(tokens, 0.1).tolist() == [100_000, 50_000]


def test_cluster_sizes_are_padded():
    tokens = np.stack([circle([0.0, 0.0, 3.0]), circle([0.0, 1.0, 2.0])])
    assert metrics.cluster_sizes(tokens).tolist() == [[2, 1, 0], [1, 1, 1]]


@pytest.mark.parametrize("angle", [0.0, -1.0, 3.2, math.nan])
def test_cluster_count_refuses_angles_out_of_range(angle):
    with pytest.raises(DataError, match="angle"):
        metrics.cluster_count(circle([0.0, 1.0]), angle)


# ------------------------------------------------------------------ energy


def naive_energy(kernel, tokens, labels):
    total = 0.0
    for i, x in enumerate(kernel.to_gauge(tokens, labels)):
        for j, y in enumerate(kernel.to_gauge(tokens, labels)):
            weight = 1.0 if labels is None else kernel.weights(labels[[i]], labels[[j]])[0, 0]
            total += weight * float(kernel.profile.value(x @ y))
    return 0.5 * total / len(tokens) ** 2


SPECS = [
    {"type": "usa", "beta": 3.0},
    {"type": "rope", "beta": 1.0, "planes": [[0, 1]], "frequencies": [1.0]},
    {"type": "prefix", "beta": 2.0, "targets": {"law": "regular", "count": 4}},
    {"type": "distance_bias", "beta": 1.0, "profile": "gaussian", "length": 0.5},
    {"type": "toeplitz", "coefficients": {"0": 0.2, "1": 1.0}, "phi": "linear"},
    {"type": "toeplitz", "beta": 2.0, "coefficients": {"2": 1.0}, "phi": "exponential"},
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec['type']}-{spec.get('phi', '')}")
def test_energy_is_its_definition(spec):
    kernel = usaav.kernel(spec)
    tokens, labels = random_tokens(7), np.arange(7.0) % 4
    assert metrics.energy(tokens, kernel, labels) == pytest.approx(
        naive_energy(kernel, tokens, labels), rel=1e-13
    )


def test_energy_of_many_tokens_goes_in_blocks():
    kernel = usaav.kernel(SPECS[3])
    tokens, labels = random_tokens(2100), np.random.default_rng(0).uniform(0, 1, 2100)
    weights = kernel.weights(labels, labels)
    expected = 0.5 * np.mean(weights * np.exp(tokens @ tokens.T))
    assert metrics.energy(tokens, kernel, labels) == pytest.approx(expected, rel=1e-12)


def test_energy_at_the_largest_beta_does_not_overflow():
    kernel = usaav.kernel({"type": "usa", "beta": 700.0})
    tokens = np.tile([0.0, 0.0, 1.0], (3000, 1))
    assert metrics.energy(tokens, kernel) == pytest.approx(usaav.theory.energy_maximum(kernel), rel=1e-12)


class Cubic:
    beta = 0.0

    def value(self, inner):
        return np.asarray(inner) ** 3

    def derivative(self, inner):
        return 3.0 * np.asarray(inner) ** 2


def test_energy_of_a_profile_of_ones_own():
    tokens = random_tokens(6)
    expected = 0.5 * np.mean((tokens @ tokens.T) ** 3)
    assert metrics.energy(tokens, Kernel(Cubic())) == pytest.approx(expected, rel=1e-13)


def test_energy_needs_a_kernel_and_its_labels():
    with pytest.raises(DataError, match="kernel"):
        metrics.energy(random_tokens(4))
    with pytest.raises(DataError, match="labels"):
        metrics.energy(random_tokens(4), usaav.kernel(SPECS[1]))
    with pytest.raises(DataError, match="labels"):
        metrics.energy(random_tokens(4), usaav.kernel(SPECS[1]), np.zeros(3))
    with pytest.raises(DataError, match="fit"):
        metrics.energy(np.stack([random_tokens(4)] * 3), usaav.kernel(SPECS[1]), np.zeros((2, 4)))


# ------------------------------------------------------------------ slices


@given(st.integers(1, 15), st.integers(0, 1000))
def test_conditional_dirac_distance_is_that_of_each_slice(n, seed):
    tokens, labels = random_tokens(n, 3, seed), np.random.default_rng(seed).integers(0, 4, n)
    expected = [metrics.dirac_distance(tokens[labels == label]) for label in np.unique(labels)]
    found = metrics.conditional_dirac_distance(tokens, labels, per_label=True)
    assert found == pytest.approx(expected, abs=1e-14)
    assert metrics.conditional_dirac_distance(tokens, labels) == pytest.approx(max(expected), abs=1e-14)


def test_conditional_dirac_distance_of_an_antipodal_slice():
    assert metrics.conditional_dirac_distance([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [7, 7, 8]) == math.sqrt(
        2.0
    )


def test_slices_of_a_batch_are_padded():
    tokens = np.stack([random_tokens(4, 3, 1), random_tokens(4, 3, 2)])
    labels = np.array([[0, 0, 1, 2], [5, 5, 5, 5]])
    table = metrics.conditional_dirac_distance(tokens, labels, per_label=True)
    assert table.shape == (2, 3)
    assert np.isnan(table[1]).tolist() == [False, True, True]
    with pytest.raises(DataError, match="labels"):
        metrics.conditional_dirac_distance(tokens)


# ------------------------------------------------------------------ transport


@settings(max_examples=20)
@given(st.integers(1, 5), st.sampled_from([1.0, 2.0, 3.0]), st.integers(0, 1000))
def test_wasserstein_is_the_best_matching(n, p, seed):
    a, b = random_tokens(n, 3, seed), random_tokens(n, 3, seed + 1)
    costs = np.linalg.norm(a[:, None] - b[None], axis=-1) ** p
    best = min(np.mean([costs[i, j] for i, j in enumerate(order)]) for order in permutations(range(n)))
    assert metrics.wasserstein(a, b, p) == pytest.approx(best ** (1.0 / p), rel=1e-10)


@pytest.mark.parametrize("geodesic", [False, True])
def test_wasserstein_to_a_dirac_mass_is_the_dirac_distance(geodesic):
    tokens = tight_cloud(30, 3, 0.3)
    metric = "geodesic" if geodesic else "chordal"
    mean = unit(tokens.mean(axis=0))
    found = metrics.wasserstein(tokens, mean[None], metric=metric)
    if geodesic:
        assert found >= metrics.dirac_distance(tokens, geodesic=True)
        assert found == pytest.approx(np.sqrt(np.mean(np.arccos(tokens @ mean) ** 2)), rel=1e-7)
    else:
        assert found == pytest.approx(metrics.dirac_distance(tokens), rel=1e-12)


def test_wasserstein_is_a_distance():
    a, b, c = (random_tokens(n, 3, n) for n in (8, 12, 5))
    assert metrics.wasserstein(a, a) == 0.0
    assert metrics.wasserstein(a, a[::-1]) < 1e-15
    assert metrics.wasserstein(np.tile(a[:1], (4, 1)), a[:1]) == 0.0
    assert metrics.wasserstein(a, b) == pytest.approx(metrics.wasserstein(b, a), rel=1e-10)
    assert metrics.wasserstein(a, c) <= metrics.wasserstein(a, b) + metrics.wasserstein(b, c)
    assert metrics.wasserstein(a, b, 1.0) <= metrics.wasserstein(a, b, 2.0)


def test_wasserstein_of_near_clouds_keeps_small_distances():
    a = random_tokens(50, 3, 1)
    b = unit(a + 1e-9 * np.random.default_rng(0).standard_normal(a.shape))
    expected = np.sqrt(np.mean(np.sum((a - b) ** 2, axis=1)))
    assert metrics.wasserstein(a, b[::-1]) == pytest.approx(expected, rel=1e-6)


def test_wasserstein_of_two_datasets_pairs_runs_and_times():
    def dataset(values, times):
        coords = {"time": times}
        return xr.Dataset({"tokens": (("run", "time", "token", "component"), values)}, coords)

    clouds = np.stack([[random_tokens(5, 3, 10 * run + time) for time in range(2)] for run in range(3)])
    one, other = dataset(clouds, [0.0, 1.0]), dataset(clouds[:, ::-1, :4], [0.0, 1.0])
    assert np.all(metrics.wasserstein(one, one) == 0.0)
    found = metrics.wasserstein(one, other)
    assert found.dims == ("run", "time")
    for run, time in np.ndindex(3, 2):
        expected = metrics.wasserstein(clouds[run, time], clouds[run, 1 - time, :4])
        assert float(found[run, time]) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_array_equal(metrics.wasserstein(clouds, other), found)
    np.testing.assert_array_equal(metrics.wasserstein(one, one.isel(run=0, time=0))[0, 0], 0.0)
    with pytest.raises(DataError, match="different times"):
        metrics.wasserstein(one, dataset(clouds, [0.0, 2.0]))
    with pytest.raises(DataError, match="one cloud for each of a"):
        metrics.wasserstein(one, one.isel(run=[0, 1]))
    with pytest.raises(DataError, match="make both the same"):
        metrics.wasserstein(one, one.isel(time=[0, 1]).rename(time="snapshot"))
    with pytest.raises(DataError, match="no variable tokens"):
        metrics.wasserstein(one, xr.Dataset())


def test_wasserstein_refuses_bad_arguments():
    a = random_tokens(4)
    with pytest.raises(DataError, match="b has shape"):
        metrics.wasserstein(a, random_tokens(4, 2))
    with pytest.raises(DataError, match="p ="):
        metrics.wasserstein(a, a, 0.5)
    with pytest.raises(DataError, match="metric"):
        metrics.wasserstein(a, a, metric="taxi")
    with pytest.raises(DataError, match="pairs"):
        metrics.wasserstein(np.tile(a, (3000, 1)), np.tile(a, (3000, 1)))


angle_lists = st.lists(st.floats(0.0, 6.28), min_size=1, max_size=8)


@given(angle_lists, angle_lists)
def test_circle_wasserstein_is_the_transport_problem(a, b):
    import ot

    gaps = np.abs(np.array(a)[:, None] - np.array(b)[None])
    costs = np.minimum(gaps, TURN - gaps)
    expected = ot.emd2(np.full(len(a), 1 / len(a)), np.full(len(b), 1 / len(b)), costs)
    assert metrics.circle_wasserstein(a, b) == pytest.approx(expected, abs=1e-12)


def test_circle_wasserstein_goes_round_the_shorter_way():
    assert metrics.circle_wasserstein([0.1], [TURN - 0.1]) == pytest.approx(0.2, rel=1e-13)
    assert metrics.circle_wasserstein([0.0, 3.0], [-0.5, 2.5 + TURN]) == pytest.approx(0.5, rel=1e-13)
    assert metrics.circle_wasserstein([1.0], [1.0 + math.pi]) == pytest.approx(math.pi, rel=1e-14)
    n = 1000
    shifted = metrics.circle_wasserstein(TURN * np.arange(n) / n, TURN * (np.arange(n) + 0.5) / n)
    assert shifted == pytest.approx(math.pi / n, rel=1e-9)


@pytest.mark.parametrize("bad", [[], [math.nan]])
def test_circle_wasserstein_refuses_what_are_no_angles(bad):
    with pytest.raises(DataError, match="angles"):
        metrics.circle_wasserstein(bad, [0.0])
