"""Weights between labels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from physics import examples, literal
from usaav.kernels import Constant, DistanceBias, Toeplitz, kernel

WEIGHTED = ("gaussian_circle", "exponential_line", "alibi_circle", "toeplitz_linear", "rope_with_toeplitz")


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_the_literal_ones(name: str) -> None:
    spec = examples.kernels(3)[name]
    first, second = np.linspace(-4.0, 9.0, 14), np.array([0.0, 2.5, 30.0])
    expected = [[literal.weight(spec, a, b) for b in second] for a in first]
    assert kernel(spec).weights(first, second) == pytest.approx(np.array(expected), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_symmetric(name: str) -> None:
    labels = np.linspace(-4.0, 9.0, 14)
    matrix = kernel(examples.kernels(3)[name]).weights(labels, labels)
    assert np.array_equal(matrix, matrix.T)


def test_the_shorter_way_round_a_circle() -> None:
    weight = DistanceBias("alibi", 1.0, period=10.0)
    distances = -np.log(weight.between(np.zeros(1), np.array([1.0, 9.0, 5.0, 12.0, -3.0])))
    assert distances[0] == pytest.approx([1.0, 1.0, 5.0, 2.0, 3.0])


def test_lengths_and_slopes() -> None:
    apart = np.zeros(1), np.array([2.0])
    assert DistanceBias("exponential", 4.0).between(*apart)[0, 0] == pytest.approx(math.exp(-0.5))
    assert DistanceBias("gaussian", 4.0).between(*apart)[0, 0] == pytest.approx(math.exp(-0.125))
    assert DistanceBias("alibi", 4.0).between(*apart)[0, 0] == pytest.approx(math.exp(-8.0))


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [
        (((0, 1.0),), True),
        (((1, 1.0),), False),
        (((0, 1.0), (1, 1.0)), True),  # touches 0
        (((0, 1.0), (1, 1.01)), False),
        (((0, 1.0), (1, 0.9), (2, 0.3)), True),  # although 1 < 0.9 + 0.3
        (((0, -1.0), (2, 0.5)), False),
    ],
)
def test_sign_of_a_toeplitz_weight(coefficients: tuple[tuple[int, float], ...], expected: bool) -> None:
    weight = Toeplitz(coefficients)
    assert weight.is_non_negative is expected
    assert not weight.is_constant


def test_the_symbol() -> None:
    weight = Toeplitz(((0, 0.3), (2, -0.7)))
    angle = np.array([[0.0, 0.4], [1.0, -1.0]])
    assert weight.symbol(angle) == pytest.approx(0.3 - 0.7 * np.cos(2.0 * angle))


def test_other_weights_tell_what_they_are() -> None:
    assert Constant().is_constant
    assert Constant().is_non_negative
    assert np.array_equal(Constant().between(np.zeros(2), np.zeros(3)), np.ones((2, 3)))
    bias = DistanceBias("gaussian", 1.0)
    assert not bias.is_constant
    assert bias.is_non_negative
