"""How long two clusters take to meet."""

from __future__ import annotations

import math

import numpy as np

from usaav.config.kernel_models import MAX_BETA
from usaav.errors import ConfigError, DataError

#: longest panel of the quadrature in ``u`` and in the logarithm of the integrand, and nodes on each
_PANEL = 1.0
_DECADE = 4.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
#: exp(-_NEGLIGIBLE) of the largest value of the integrand is left out where beta makes it fall that far
_NEGLIGIBLE = 60.0


def two_cluster_time(phi0: float, phi1: float, beta: float) -> float:
    """Time tau in which two clusters at angle `phi0` come to angle `phi1`, whatever their masses p and 1-p.

    Their angle obeys ``dphi/dtau = -sin(phi) exp(beta cos(phi))``. With ``u = log tan(phi/2)`` the time is
    the integral of ``exp(beta tanh u) du``, smooth at both ends (phi -> 0, where it grows like the logarithm,
    and phi -> pi). It is summed by Gauss-Legendre on panels on which neither u nor the logarithm of the
    integrand changes much; the relative error is about ``(1 + beta) * 1e-16``.

    A pair of masses a, b that is isolated within a larger system takes the time divided by ``a + b``.

    Parameters
    ----------
    phi0, phi1
        Angles in radians, ``0 <= phi1 <= phi0 <= pi``.
    beta
        Inverse temperature, 0 (linear profile) to 700.

    Returns
    -------
    float
        Infinite for ``phi0 = pi`` (antipodal clusters stay) and for ``phi1 = 0``, 0 for equal angles.

    Raises
    ------
    ConfigError
        `beta` is out of range.
    DataError
        The angles are out of range or in the wrong order.
    """
    phi0, phi1, beta = float(phi0), float(phi1), float(beta)
    if not 0.0 <= beta <= MAX_BETA:
        raise ConfigError(f"beta = {beta!r}: expected a number from 0 to {MAX_BETA:g}")
    if not 0.0 <= phi1 <= phi0 <= math.pi:
        raise DataError(f"phi0 = {phi0!r}, phi1 = {phi1!r}: expected radians with 0 <= phi1 <= phi0 <= pi")
    if phi0 == phi1:
        return 0.0
    if phi1 == 0.0 or phi0 == math.pi:
        return math.inf
    low, high = math.log(math.tan(phi1 / 2.0)), math.log(math.tan(phi0 / 2.0))
    edges = _panels(low, high, beta)
    centres, halves = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    u = centres[:, None] + halves[:, None] * _NODES
    # tanh u - tanh(high) without cancellation
    exponents = beta * np.sinh(u - high) / (np.cosh(u) * math.cosh(high))
    total = float(halves @ (np.exp(exponents) @ _WEIGHTS))
    return math.exp(-beta * math.cos(phi0)) * total


def _panels(low: float, high: float, beta: float) -> np.ndarray:
    """Edges of the panels between `low` and `high`, increasing."""
    # levels of the integrand, counted down from its largest value, that is from u = high
    levels = math.tanh(high) - np.arange(_DECADE, _NEGLIGIBLE + _DECADE, _DECADE) / max(beta, 1e-300)
    inside = levels[levels > math.tanh(low)]
    falls = np.arctanh(inside)
    if len(falls) == len(levels):
        low = float(falls[-1])
    count = max(1, math.ceil((high - low) / _PANEL))
    edges = np.concatenate([np.linspace(low, high, count + 1), falls])
    return np.unique(edges)
