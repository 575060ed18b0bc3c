"""Predictions against independent closed forms, slow literal versions and invariances."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import exp1, expi, iv

import usaav
from usaav import theory
from usaav.errors import ConfigError, DataError
from usaav.kernels import Exponential, Kernel, Linear, Toeplitz

REFERENCE = json.loads(
    (Path(__file__).parent.parent / "data" / "reference" / "closed_forms.json").read_text(encoding="utf-8")
)
TURN = 2.0 * np.pi


def unit(points):
    points = np.asarray(points, dtype=float)
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


def random_tokens(n, dim=3, seed=0):
    return unit(np.random.default_rng(seed).standard_normal((n, dim)))


def grid(n):
    return TURN * np.arange(n) / n


# ------------------------------------------------------------------ two clusters


@pytest.mark.parametrize("row", REFERENCE["two_cluster_time"], ids=str)
def test_two_cluster_time_agrees_with_the_reference(row):
    time = theory.two_cluster_time(row["phi0"], row["phi1"], row["beta"])
    assert time == pytest.approx(row["time"], rel=1e-13)


@given(st.floats(0.01, 300.0), st.floats(0.05, 3.1), st.floats(0.001, 0.9))
def test_two_cluster_time_agrees_with_exponential_integrals(beta, phi0, share):
    # partial fractions of 1/(1 - s^2), s = -cos phi: another formula, which cancels for near angles
    phi1 = share * phi0
    below, above = (2.0 * math.cos(phi / 2.0) ** 2 for phi in (phi0, phi1))
    left, right = (2.0 * math.sin(phi / 2.0) ** 2 for phi in (phi0, phi1))
    exact = 0.5 * math.exp(beta) * (exp1(beta * below) - exp1(beta * above)) + 0.5 * math.exp(-beta) * (
        expi(beta * left) - expi(beta * right)
    )
    assert theory.two_cluster_time(phi0, phi1, beta) == pytest.approx(exact, rel=1e-9)


def test_two_cluster_time_of_the_linear_profile_is_elementary():
    assert theory.two_cluster_time(2.0, 0.1, 0.0) == pytest.approx(
        math.log(math.tan(1.0) / math.tan(0.05)), rel=1e-14
    )


def test_two_cluster_time_near_both_ends():
    # there sin phi is phi, and pi - phi, so the time is a logarithm
    assert theory.two_cluster_time(1e-3, 1e-9, 5.0) == pytest.approx(math.exp(-5.0) * math.log(1e6), rel=1e-6)
    gap = 1e-9
    slow = theory.two_cluster_time(math.pi - gap, math.pi - 1e-4, 5.0)
    assert slow == pytest.approx(math.exp(5.0) * math.log(1e-4 / gap), rel=1e-6)
    assert theory.two_cluster_time(math.pi, 1.0, 5.0) == math.inf
    assert theory.two_cluster_time(1.0, 0.0, 5.0) == math.inf
    assert theory.two_cluster_time(1.0, 1.0, 5.0) == 0.0


def test_two_cluster_time_at_the_largest_beta():
    time = theory.two_cluster_time(math.pi - 1e-6, 1e-3, 700.0)
    assert 1e303 < time < 1e306
    assert theory.two_cluster_time(0.5, 1e-3, 700.0) > 0.0


@given(st.floats(0.1, 100.0), st.floats(0.3, 3.0))
def test_two_cluster_times_add_up(beta, phi):
    whole = theory.two_cluster_time(phi, 0.01, beta)
    parts = theory.two_cluster_time(phi, 0.1, beta) + theory.two_cluster_time(0.1, 0.01, beta)
    assert parts == pytest.approx(whole, rel=1e-12)


def test_two_cluster_time_refuses_bad_arguments():
    with pytest.raises(ConfigError, match="beta"):
        theory.two_cluster_time(1.0, 0.5, 701.0)
    with pytest.raises(DataError, match="phi1 <= phi0"):
        theory.two_cluster_time(0.5, 1.0, 1.0)


# ------------------------------------------------------------------ modes


@pytest.mark.parametrize("row", REFERENCE["mode_growth_rate"], ids=str)
def test_growth_rates_agree_with_the_reference(row):
    assert theory.mode_growth_rate(row["k"], row["beta"], row["dim"]) == pytest.approx(row["rate"], rel=1e-13)


@pytest.mark.parametrize("dim", [2, 3, 4, 7])
@pytest.mark.parametrize("beta", [0.01, 1.0, 30.0, 200.0])
def test_growth_rates_agree_with_bessel_functions(dim, beta):
    for k in (1, 2, 6):
        coefficient = math.gamma(dim / 2) * (2.0 / beta) ** (dim / 2 - 1) * iv(k + dim / 2 - 1, beta)
        expected = k * (k + dim - 2) * coefficient / beta
        assert theory.mode_growth_rate(k, beta, dim) == pytest.approx(expected, rel=2e-13)


def test_growth_rate_is_a_funk_hecke_integral_in_dimension_5():
    # degree 2: Gegenbauer polynomial (d s^2 - 1)/(d - 1), weight (1 - s^2)^((d-3)/2)
    dim, beta = 5, 3.0
    weight = quad(lambda s: 1.0 - s * s, -1, 1)[0]
    funk_hecke = quad(lambda s: (1 - s * s) * (dim * s * s - 1) / (dim - 1) * math.exp(beta * s), -1, 1)[0]
    expected = 2 * dim * funk_hecke / weight / beta
    assert theory.mode_growth_rate(2, beta, dim) == pytest.approx(expected, rel=1e-12)


def test_growth_rates_of_the_linear_profile_are_the_limit():
    assert theory.mode_growth_rate(1, 0.0, 3) == pytest.approx(2.0 / 3.0, rel=1e-15)
    assert theory.mode_growth_rate(2, 0.0, 3) == 0.0
    assert theory.mode_growth_rate(0, 5.0, 3) == 0.0
    assert theory.mode_growth_rate(1, 1e-9, 3) == pytest.approx(2.0 / 3.0, rel=1e-9)


@pytest.mark.parametrize(("beta", "mode"), [(1, 1), (4, 3), (9, 4), (25, 7), (64, 11)])
def test_fastest_mode_on_the_circle(beta, mode):
    rates = [theory.mode_growth_rate(k, beta, 2) for k in range(1, 40)]
    assert theory.fastest_mode(beta, 2) == 1 + int(np.argmax(rates)) == mode


@settings(max_examples=20)
@given(st.floats(0.01, 700.0), st.integers(2, 12))
def test_fastest_mode_is_the_fastest(beta, dim):
    mode = theory.fastest_mode(beta, dim)
    rates = [theory.mode_growth_rate(k, beta, dim) for k in range(1, mode + 12)]
    assert 1 + int(np.argmax(rates)) == mode


def test_modes_refuse_bad_arguments():
    for arguments in [(-1, 1.0, 3), (1, 1.0, 1), (1, 701.0, 3)]:
        with pytest.raises(ConfigError):
            theory.mode_growth_rate(*arguments)


# ------------------------------------------------------------------ equiangular tokens


@pytest.mark.parametrize("n", [2, 3, 8])
def test_equiangular_cosine_obeys_its_equation_and_tends_to_1(n):
    beta, times = 1.5, np.linspace(0.0, 3.0, 301)
    gamma = theory.equiangular_cosine(times, n, beta)
    assert gamma[0] == 0.0
    assert np.all(np.diff(gamma) > 0.0)
    slope = np.gradient(gamma, times, edge_order=2)
    rates = [theory.equiangular_rate(value, n, beta) for value in gamma]
    assert slope[2:-2] == pytest.approx(rates[2:-2], abs=2e-3)
    # two tokens are two clusters
    if n == 2:
        phi = 2.0 * math.asin(math.sqrt((1.0 - gamma[100]) / 2.0))
        assert theory.two_cluster_time(math.pi / 2.0, phi, beta) == pytest.approx(times[100], rel=1e-10)


def test_equiangular_cosine_refuses_times_that_do_not_increase():
    with pytest.raises(ConfigError, match="increasing"):
        theory.equiangular_cosine([1.0, 1.0], 3, 1.0)


# ------------------------------------------------------------------ energy maxima


def naive_energy(kernel, tokens, labels):
    z = kernel.to_gauge(tokens, labels)
    n = len(z)
    weights = np.ones((n, n)) if labels is None else kernel.weights(labels, labels)
    return 0.5 * np.mean(weights * kernel.profile.value(z @ z.T))


def test_energy_maximum_of_weight_one():
    for beta in (0.01, 1.0, 700.0):
        kernel = usaav.kernel({"type": "usa", "beta": beta})
        assert theory.energy_maximum(kernel) == pytest.approx(math.exp(beta) / (2.0 * beta), rel=1e-15)
    assert theory.energy_maximum(Kernel(Linear())) == 0.5


def test_energy_maximum_of_a_gauge_is_that_of_the_prediction():
    kernel = usaav.kernel({"type": "rope", "beta": 2.0, "planes": [[0, 1]], "frequencies": [1.5]})
    labels = np.random.default_rng(0).uniform(0, TURN, 30)
    tokens = theory.predicted_tokens(kernel, labels, unit([1.0, 2.0, 3.0]))
    assert naive_energy(kernel, tokens, labels) == pytest.approx(
        theory.energy_maximum(kernel, labels), rel=1e-14
    )


@pytest.mark.parametrize("n", [20, 1500])
def test_energy_maximum_of_a_distance_bias_is_that_of_a_dirac_mass(n):
    kernel = usaav.kernel({"type": "distance_bias", "beta": 1.0, "profile": "exponential", "length": 0.3})
    labels = np.random.default_rng(1).uniform(0, 1, n).round(3)
    dirac = np.tile([0.0, 0.0, 1.0], (n, 1))
    assert theory.energy_maximum(kernel, labels) == pytest.approx(
        naive_energy(kernel, dirac, labels), rel=1e-13
    )


@pytest.mark.parametrize("m", [1, 2, 3])
def test_energy_maximum_of_a_cosine_on_a_grid_is_a_quarter(m):
    kernel = usaav.kernel({"type": "toeplitz", "coefficients": {m: 1.0}, "phi": "linear"})
    labels = grid(24)
    bound = theory.energy_bound(kernel, labels)
    assert bound.value == pytest.approx(0.25, rel=1e-14)
    assert bound.attained
    circle = np.column_stack([np.cos(m * labels), np.sin(m * labels), np.zeros(24)])
    assert naive_energy(kernel, circle, labels) == pytest.approx(0.25, rel=1e-13)


@pytest.mark.parametrize("a", [0.0, 0.5, 0.63, 0.7, 1.0])
def test_energy_maximum_of_the_dichotomy(a):
    kernel = usaav.kernel({"type": "toeplitz", "coefficients": {"0": 1.0 - a, "1": a}, "phi": "linear"})
    assert theory.energy_maximum(kernel, grid(64)) == pytest.approx(max((1.0 - a) / 2.0, a / 4.0), rel=1e-13)


def test_spectrum_of_small_rank_agrees_with_the_full_matrix():
    coefficients = {0: 0.2, 1: -0.7, 2: 0.9, 5: 0.4}
    kernel = usaav.kernel({"type": "toeplitz", "coefficients": coefficients, "phi": "linear"})
    labels = np.random.default_rng(3).uniform(0, TURN, 40)
    matrix = kernel.weights(labels, labels) / 40
    assert theory.energy_maximum(kernel, labels) == pytest.approx(
        np.linalg.eigvalsh(matrix)[-1] / 2.0, rel=1e-12
    )
    assert not theory.energy_bound(kernel, labels).attained


def test_energy_maximum_of_a_sign_changing_weight_seen_where_it_is_positive():
    # all labels within a quarter turn: the cosine is positive on every pair, so the Dirac mass wins
    kernel = usaav.kernel({"type": "toeplitz", "coefficients": {"1": 1.0}, "phi": "linear"})
    labels = np.linspace(0.0, 1.0, 10)
    dirac = np.tile([0.0, 0.0, 1.0], (10, 1))
    bound = theory.energy_bound(kernel, labels)
    assert bound.attained
    assert bound.value == pytest.approx(naive_energy(kernel, dirac, labels), rel=1e-14)


def test_energy_maximum_for_more_labels_than_a_matrix_takes():
    kernel = usaav.kernel({"type": "toeplitz", "coefficients": {"0": 0.2, "1": 0.8}, "phi": "linear"})
    assert theory.energy_maximum(kernel, grid(5000)) == pytest.approx(0.2, rel=1e-12)
    kernel = usaav.kernel({"type": "toeplitz", "coefficients": {"0": 0.8, "1": 0.2}, "phi": "linear"})
    assert theory.energy_maximum(kernel, grid(5000)) == pytest.approx(0.4, rel=1e-12)


@given(
    st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3),
    st.sampled_from(["linear", "exponential"]),
    st.integers(0, 2**31),
)
def test_no_tokens_have_more_energy_than_the_bound(values, phi, seed):
    profile = Linear() if phi == "linear" else Exponential(1.3)
    kernel = Kernel(profile, weight=Toeplitz(tuple(enumerate(values))))
    rng = np.random.default_rng(seed)
    labels = rng.uniform(0, TURN, 9)
    bound = theory.energy_bound(kernel, labels)
    for tokens in (
        unit(rng.standard_normal((9, 3))),
        np.tile([0.0, 0.0, 1.0], (9, 1)),
        np.column_stack([np.cos(labels), np.sin(labels), 0.0 * labels]),
        np.column_stack([np.cos(2 * labels), np.sin(2 * labels), 0.0 * labels]),
    ):
        assert naive_energy(kernel, tokens, labels) <= bound.value + 1e-12


def test_an_operator_without_positive_eigenvalues_has_bound_0():
    kernel = Kernel(Linear(), weight=Toeplitz(((0, -1.0),)))
    assert theory.energy_bound(kernel, grid(8)) == (0.0, False)
    assert theory.energy_bound(Kernel(Linear(), weight=Toeplitz(())), grid(8)).value == 0.0


class Checkerboard:
    """A weight of one's own: 1 between equal labels, -1 between different ones."""

    is_constant = False
    is_non_negative = False

    def between(self, first, second):
        return np.where(first[:, None] == second[None, :], 1.0, -1.0)


class Cubic:
    beta = 0.0

    def value(self, inner):
        return np.asarray(inner) ** 3

    def derivative(self, inner):
        return 3.0 * np.asarray(inner) ** 2


def test_energy_maximum_of_a_weight_of_ones_own():
    labels = np.array([0.0, 1.0] * 6)
    bound = theory.energy_bound(Kernel(Linear(), weight=Checkerboard()), labels)
    # two antipodal clusters
    assert bound.attained
    assert bound.value == pytest.approx(0.5, rel=1e-14)
    with pytest.raises(DataError, match="4096"):
        theory.energy_bound(Kernel(Linear(), weight=Checkerboard()), np.arange(5000.0))
    with pytest.raises(DataError, match="profile"):
        theory.energy_bound(Kernel(Cubic(), weight=Checkerboard()), labels)


def test_energy_maximum_refuses_what_it_does_not_know():
    kernel = usaav.kernel({"type": "toeplitz", "beta": 1.0, "coefficients": {"1": 1.0}, "phi": "exponential"})
    with pytest.raises(DataError, match="energy_bound"):
        theory.energy_maximum(kernel, grid(8))
    with pytest.raises(DataError, match="None"):
        theory.energy_maximum(kernel)
    with pytest.raises(DataError, match="shape"):
        theory.energy_maximum(kernel, np.zeros((2, 8)))


# ------------------------------------------------------------------ maximisers


@pytest.mark.parametrize(
    ("spec", "labels"),
    [
        ({"type": "rope", "beta": 1.0, "planes": [[0, 1]], "frequencies": [1.0]}, grid(12)),
        ({"type": "prefix", "beta": 1.0, "targets": {"law": "regular", "count": 4}}, np.arange(12.0) % 4),
    ],
)
def test_consensus_undoes_the_prediction(spec, labels):
    kernel = usaav.kernel(spec)
    u = unit([[1.0, -2.0, 0.5], [0.3, 0.2, 1.0]])
    tokens = theory.predicted_tokens(kernel, labels, u)
    assert tokens.shape == (2, 12, 3)
    assert theory.consensus(kernel, tokens, labels) == pytest.approx(u, abs=1e-15)
    assert theory.predicted_tokens(kernel, labels, u[0]) == pytest.approx(tokens[0], abs=1e-15)
    rows = np.stack([labels, labels])
    assert theory.predicted_tokens(kernel, rows, u) == pytest.approx(tokens, abs=1e-15)


def test_prefix_predicts_its_targets_for_the_reference_point():
    targets = unit([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    kernel = usaav.kernel({"type": "prefix", "beta": 1.0, "targets": targets.tolist()})
    predicted = theory.predicted_tokens(kernel, np.arange(3.0), [0.0, 0.0, 1.0])
    assert predicted == pytest.approx(targets, abs=1e-15)


def test_maximisers_refuse_what_has_none():
    usa = usaav.kernel({"type": "usa", "beta": 1.0})
    assert theory.predicted_tokens(usa, None, [0.0, 1.0, 0.0]).shape == (1, 3)
    with pytest.raises(DataError, match="consensus"):
        theory.consensus(usa, [[1.0, 0.0], [-1.0, 0.0]])
    with pytest.raises(DataError, match="do not fit"):
        theory.predicted_tokens(usa, np.zeros((3, 4)), np.ones((2, 3)))
    toeplitz = usaav.kernel({"type": "toeplitz", "coefficients": {"1": 1.0}, "phi": "linear"})
    with pytest.raises(DataError, match="sign"):
        theory.predicted_tokens(toeplitz, grid(4), [0.0, 1.0, 0.0])


# ------------------------------------------------------------------ dichotomy


def test_dichotomy_threshold_of_the_paper():
    assert theory.dichotomy_threshold({1: 1.0}) == pytest.approx(2.0 / 3.0, rel=1e-15)


@given(st.lists(st.floats(-1.0, 2.0), min_size=1, max_size=4))
def test_dichotomy_threshold_is_where_the_top_mode_changes(values):
    oscillating = dict(enumerate(values, start=1))
    if max(values) <= 0.0:
        with pytest.raises(ConfigError, match="a = 1"):
            theory.dichotomy_threshold(oscillating)
        return
    if max(values) < 1e-3:
        return  # the threshold is too near 1 to look on both sides of it
    a = theory.dichotomy_threshold(oscillating)

    def mixed(share):
        return {0: 1.0 - share, **{m: share * value for m, value in oscillating.items()}}

    assert theory.top_mode(mixed(a - 1e-6)) == 0
    assert theory.top_mode(mixed(a + 1e-6)) >= 1
    assert theory.toeplitz_energy(mixed(a)) == pytest.approx((1.0 - a) / 2.0, rel=1e-12)


def test_dichotomy_needs_two_sides():
    with pytest.raises(ConfigError, match="a = 1"):
        theory.dichotomy_threshold({0: 1.0, 1: 0.5})
    with pytest.raises(ConfigError, match="a = 0"):
        theory.dichotomy_threshold({1: 1.0}, {0: 0.1, 1: 1.0})
