"""Maximisers of Toeplitz weights: their energy, their singular values, their Dirac distance."""

from __future__ import annotations

import numpy as np
import pytest

import usaav
from usaav import theory
from usaav.errors import DataError

LABELS = 2.0 * np.pi * np.arange(24) / 24
WEIGHTS = [{1: 1.0}, {2: 1.0}, {0: 0.2, 3: 0.8}, {0: 1.0}, {0: 0.5, 1: 0.5}]


def near(coefficients, seed=0):
    """Tokens not far from some maximiser."""
    rng = np.random.default_rng(seed)
    m = theory.top_mode(coefficients)
    frame = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    tokens = np.cos(m * LABELS)[:, None] * frame[0] + np.sin(m * LABELS)[:, None] * frame[1]
    tokens += 0.2 * rng.standard_normal(tokens.shape)
    return tokens / np.linalg.norm(tokens, axis=1, keepdims=True)


@pytest.mark.parametrize("coefficients", WEIGHTS, ids=str)
def test_the_maximiser_has_what_is_predicted(coefficients):
    places = theory.toeplitz_maximiser(coefficients, LABELS, near(coefficients))
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 1.0)
    kernel = usaav.kernel({"type": "toeplitz", "coefficients": coefficients})
    energy = 0.5 * np.mean(kernel.weights(LABELS, LABELS) * (places @ places.T))
    assert energy == pytest.approx(theory.toeplitz_energy(coefficients))
    values = np.linalg.svd(places, compute_uv=False) / np.sqrt(len(places))
    np.testing.assert_allclose(values, theory.toeplitz_singular_values(coefficients, 3), atol=1e-12)
    assert usaav.metrics.dirac_distance(places) == pytest.approx(
        theory.toeplitz_dirac_distance(coefficients), abs=1e-12
    )


@pytest.mark.parametrize("coefficients", WEIGHTS, ids=str)
def test_no_turned_maximiser_is_nearer(coefficients):
    tokens = near(coefficients)
    places = theory.toeplitz_maximiser(coefficients, LABELS, tokens)
    np.testing.assert_allclose(theory.toeplitz_maximiser(coefficients, LABELS, places), places, atol=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(20):
        turn = np.linalg.qr(np.eye(3) + 0.1 * rng.standard_normal((3, 3)))[0]
        turn *= np.sign(np.diag(turn))
        assert np.sum((tokens - places) ** 2) <= np.sum((tokens - places @ turn) ** 2) + 1e-12


def test_without_a_part_in_the_mode_nothing_is_nearest():
    first = np.stack([np.cos(LABELS), np.sin(LABELS), np.zeros(24)], axis=1)
    with pytest.raises(DataError, match="no part in mode 2"):
        theory.toeplitz_maximiser({2: 1.0}, LABELS, first)
