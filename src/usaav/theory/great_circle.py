"""Where tokens end under a Toeplitz weight with labels spread evenly over the circle."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.errors import DataError
from usaav.theory.dichotomy import Coefficients, top_mode

Array = NDArray[np.float64]


def toeplitz_dirac_distance(coefficients: Coefficients) -> float:
    """Dirac distance of the maximiser: 0 where mode 0 is strongest, else ``sqrt(2)``, as its mean is zero."""
    return 0.0 if top_mode(coefficients) == 0 else float(np.sqrt(2.0))


def toeplitz_singular_values(coefficients: Coefficients, dim: int) -> Array:
    """Singular values ``(dim,)`` of the token matrix ``(n, dim)`` of the maximiser, over ``sqrt(n)``.

    Their squares sum to 1: one of them for a Dirac mass, two equal ones for a great circle.
    """
    count = 1 if top_mode(coefficients) == 0 else 2
    return np.where(np.arange(dim) < count, 1.0 / np.sqrt(count), 0.0)


def toeplitz_maximiser(coefficients: Coefficients, labels: ArrayLike, tokens: ArrayLike) -> Array:
    """The maximiser ``(n, d)`` nearest to `tokens`.

    It is ``x_i = a cos(m xi_i) + b sin(m xi_i)`` for the top mode m, and one point for m = 0. Which
    orthonormal a and b (or which point) a flow settles on, its start decides; the nearest ones in mean square
    are those of the orthogonal Procrustes problem.

    Parameters
    ----------
    coefficients
        ``{m: c_m}`` of the weight.
    labels
        ``(n,)``, in radians, spread evenly over the circle.
    tokens
        Unit rows ``(n, d)``.

    Raises
    ------
    DataError
        The tokens have no part in the top mode, so that no maximiser is nearest.
    """
    x, angles = np.asarray(tokens, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    m = top_mode(coefficients)
    waves = (
        np.cos(m * angles)[:, None] if m == 0 else np.stack([np.cos(m * angles), np.sin(m * angles)], axis=1)
    )
    left, values, right = np.linalg.svd(waves.T @ x / len(x), full_matrices=False)
    if values[-1] < 1e-12:
        raise DataError(f"the tokens have no part in mode {m}, the strongest of the weight")
    return np.asarray(waves @ left @ right)
