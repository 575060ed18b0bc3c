"""The coefficients satisfy the conditions of their order, and the step keeps to the sphere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from physics import examples
from usaav.flow.dormand_prince import E3, E5, N_STAGES, A, B, displaced, largest_error, step

NODES = A.sum(axis=1)


def test_shapes() -> None:
    assert A.shape == (N_STAGES, N_STAGES)
    assert np.array_equal(A, np.tril(A, -1))
    assert B.shape == E5.shape == E3.shape == (N_STAGES,)


@pytest.mark.parametrize("power", range(8))
def test_quadrature_conditions_of_order_eight(power: int) -> None:
    assert pytest.approx(1.0 / (power + 1), abs=1e-14) == B @ NODES**power


def test_conditions_of_trees() -> None:
    """Some of each height, up to the tallest of order 8."""
    assert pytest.approx(1 / 6, abs=1e-14) == B @ (A @ NODES)
    assert pytest.approx(1 / 8, abs=1e-14) == B @ (NODES * (A @ NODES))
    assert pytest.approx(1 / 20, abs=1e-14) == B @ (A @ NODES**3)
    tall = NODES
    for _ in range(6):
        tall = A @ tall
    assert pytest.approx(1 / math.factorial(8), abs=1e-14) == B @ tall


def test_embedded_formulas() -> None:
    """Differences to formulas of order 5 and 3: they annihilate what those integrate exactly, and no more."""
    for power in range(5):
        assert pytest.approx(0.0, abs=1e-13) == E5 @ NODES**power
    assert abs(E5 @ NODES**5) > 1e-4
    for power in range(3):
        assert pytest.approx(0.0, abs=1e-13) == E3 @ NODES**power
    assert abs(E3 @ NODES**3) > 1e-4


def turning(point: np.ndarray) -> np.ndarray:
    return np.stack([-point[:, 1], point[:, 0], 0.0 * point[:, 0]], axis=1)


def test_a_rotation() -> None:
    """The exact solution turns by the size of the step; backwards too."""
    x = examples.tokens(4, 3, 0)
    for size in (0.3, -0.3):
        new, error = step(turning, x, turning(x), size)
        exact = x @ np.array(
            [[math.cos(size), math.sin(size), 0.0], [-math.sin(size), math.cos(size), 0.0], [0.0, 0.0, 1.0]]
        )
        assert np.abs(new - exact).max() < 1e-10
        assert 0.0 < error < 1e-6
        assert np.abs(np.linalg.norm(new, axis=1) - 1.0).max() < 1e-15


def test_no_motion_has_no_error() -> None:
    x = examples.tokens(4, 3, 0)
    new, error = step(np.zeros_like, x, np.zeros_like(x), 1.0)
    assert error == 0.0
    assert np.abs(new - x).max() < 1e-15


def test_nan_is_no_small_error() -> None:
    stages = np.zeros((N_STAGES, 2, 3))
    stages[3, 1, 1] = math.nan
    stages[11, 0, 0] = 1.0
    assert math.isnan(largest_error(stages, 0.1))


def test_displaced_rows_are_unit_also_after_a_giant_step() -> None:
    x, stages = examples.tokens(4, 3, 0), np.stack([turning(examples.tokens(4, 3, 0))] * 2)
    assert np.linalg.norm(displaced(x, stages, np.array([0.5, 0.5]), 1e8), axis=1) == pytest.approx(1.0)
