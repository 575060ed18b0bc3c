"""Weights as sums of products, against the weights themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from usaav.kernels import Constant, DistanceBias, Toeplitz
from usaav.kernels.low_rank import LARGEST_RANK, products
from usaav.kernels.weights import Weight

SPREAD = np.random.default_rng(0).uniform(-3.0, 9.0, 200)
FEW = np.repeat([0.0, 1.5, 4.0, -7.0], 20)


def error(weight: Weight, labels: np.ndarray, tolerance: float) -> tuple[float, int]:
    """Largest error of the sum, and its number of products."""
    found = products(weight, labels, tolerance)
    assert found is not None
    factors = found.factors(labels)
    assert factors.shape == (len(found.signs), len(labels))
    assert set(np.abs(found.signs)) <= {1.0}
    total = np.einsum("k,ki,kj->ij", found.signs, factors, factors)
    return float(np.abs(total - weight.between(labels, labels)).max()), len(found.signs)


@pytest.mark.parametrize(
    ("coefficients", "rank"),
    [(((0, 0.2), (1, -0.6), (3, 0.7)), 5), (((1, 1.0),), 2), (((0, -2.0),), 1), ((), 0)],
)
def test_a_toeplitz_weight_is_two_products_a_wave(
    coefficients: tuple[tuple[int, float], ...], rank: int
) -> None:
    assert error(Toeplitz(coefficients), SPREAD, 1e-12) == (pytest.approx(0.0, abs=1e-14), rank)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-12])
@pytest.mark.parametrize(
    ("length", "period"), [(0.8, None), (2.0, None), (30.0, None), (0.3, 2.0 * math.pi), (1.0, 20.0)]
)
def test_the_gaussian_bias_to_its_tolerance(length: float, period: float | None, tolerance: float) -> None:
    found, rank = error(DistanceBias("gaussian", length, period), SPREAD, tolerance)
    assert found < tolerance
    assert rank <= LARGEST_RANK


def test_a_coarser_tolerance_takes_fewer_products() -> None:
    bias = DistanceBias("gaussian", 1.0)
    assert error(bias, SPREAD, 1e-5)[1] < error(bias, SPREAD, 1e-12)[1]


@pytest.mark.parametrize("profile", ["exponential", "gaussian", "alibi"])
@pytest.mark.parametrize("period", [None, 6.0])
def test_few_different_labels_need_no_more_products(profile: str, period: float | None) -> None:
    found, rank = error(DistanceBias(profile, 0.7, period), FEW, 1e-12)  # type: ignore[arg-type]
    assert found < 1e-14
    assert rank <= 4


def test_few_labels_are_better_than_many_waves() -> None:
    many = Toeplitz(tuple((order, 1.0 / (1 + order)) for order in range(40)))
    assert products(many, SPREAD, 1e-12) is None
    assert error(many, FEW, 1e-12) == (pytest.approx(0.0, abs=1e-13), 4)
    assert error(Constant(), FEW, 1e-12)[1] == 1


@pytest.mark.parametrize(
    "weight",
    [
        DistanceBias("exponential", 1.0),  # a corner at equal labels
        DistanceBias("alibi", 1.0, 6.0),
        DistanceBias("gaussian", 1.0, 2.0 * math.pi),  # a corner at half the period, exp(-pi^2 / 2) high
        DistanceBias("gaussian", 0.01),  # hundreds of waves
    ],
)
def test_no_short_sum_is_no_sum(weight: DistanceBias) -> None:
    assert products(weight, SPREAD, 1e-12) is None
