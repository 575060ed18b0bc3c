"""Linear growth of the modes around the uniform law, which predicts the first number of clusters."""

from __future__ import annotations

import math
import operator

from usaav.config.kernel_models import MAX_BETA
from usaav.errors import ConfigError


def mode_growth_rate(k: int, beta: float, dim: int) -> float:
    """Rate per tau at which spherical harmonics of degree `k` grow around the uniform law on ``S^{dim-1}``.

    The mean-field equation linearised gives ``k (k + dim - 2) lambda_k / beta``, where
    ``lambda_k = Gamma(dim/2) (2/beta)^{dim/2-1} I_{k+dim/2-1}(beta)`` is the Funk-Hecke coefficient of
    ``exp(beta s)`` for the uniform probability measure; on the circle this is ``k^2 I_k(beta)/beta``.

    The power series of the Bessel function has positive terms only, so summing it loses nothing (relative
    error about 1e-14 times the square root of the number of terms), in any dimension.

    Parameters
    ----------
    k
        Degree, at least 0.
    beta
        Inverse temperature, 0 (linear profile) to 700.
    dim
        Dimension d, at least 2.

    Raises
    ------
    ConfigError
        An argument is out of range.
    """
    k, dim = _checked(k, beta, dim)
    if k == 0:
        return 0.0
    # lambda_k/beta = (1/beta) prod_{j<k} (beta/2)/(d/2 + j) * 0F1(k + d/2; beta^2/4)
    scale = 0.5 / (dim / 2.0)
    for j in range(1, k):
        scale *= (beta / 2.0) / (dim / 2.0 + j)
    return k * (k + dim - 2) * scale * _confluent(k + dim / 2.0, beta * beta / 4.0)


def fastest_mode(beta: float, dim: int) -> int:
    """Degree k >= 1 of the fastest mode; the smaller of two that are equally fast.

    The rate is log-concave in k (``I_nu`` is in nu), so the first fall is behind the maximum.

    Parameters and errors are those of :func:`mode_growth_rate`.
    """
    k = 1
    rate = mode_growth_rate(1, beta, dim)
    while (following := mode_growth_rate(k + 1, beta, dim)) > rate:
        k, rate = k + 1, following
    return k


def _confluent(b: float, x: float) -> float:
    """``0F1(; b; x) = sum_m x^m / (m! (b)_m)`` for b > 0, x >= 0."""
    terms = [1.0]
    m = 0
    while terms[-1] > 1e-17 * terms[0] or x > m * (m + b):
        m += 1
        terms.append(terms[-1] * (x / (m * (m + b - 1.0))))
    return math.fsum(terms)


def _checked(k: int, beta: float, dim: int) -> tuple[int, int]:
    degree, dimension = operator.index(k), operator.index(dim)
    if degree < 0:
        raise ConfigError(f"k = {k!r}: expected a whole number >= 0")
    if dimension < 2:
        raise ConfigError(f"dim = {dim!r}: expected a whole number >= 2")
    if not 0.0 <= beta <= MAX_BETA:
        raise ConfigError(f"beta = {beta!r}: expected a number from 0 to {MAX_BETA:g}")
    return degree, dimension
