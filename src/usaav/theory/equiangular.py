"""Closed form for n orthonormal tokens, which stay at equal angles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.errors import ConfigError

Array = NDArray[np.float64]


def equiangular_rate(gamma: float, n: int, beta: float) -> float:
    """``dgamma/dtau = (2/n) exp(beta gamma) (1 - gamma) ((n-1) gamma + 1)`` of the inner product gamma."""
    return 2.0 / n * math.exp(beta * gamma) * (1.0 - gamma) * ((n - 1) * gamma + 1.0)


def equiangular_cosine(times: ArrayLike, n: int, beta: float) -> Array:
    """Common inner product of n tokens that start orthonormal, under USA, at `times`.

    Integrated for ``-log(1 - gamma)``, which grows evenly where gamma tends to 1.

    Parameters
    ----------
    times
        tau, increasing, the first >= 0.
    n
        Number of tokens, at least 2.
    beta
        Inverse temperature, at least 0.

    Returns
    -------
    array, as long as `times`
        Relative error of ``1 - gamma`` about 1e-11.

    Raises
    ------
    ConfigError
        Times that do not increase from 0 on, or fewer than two tokens.
    """
    from scipy.integrate import solve_ivp

    tau = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if n < 2 or tau[0] < 0.0 or np.any(np.diff(tau) <= 0.0):
        raise ConfigError("equiangular_cosine: expected n >= 2 and increasing times, the first >= 0")

    def rate(_tau: float, depth: Array) -> Array:
        gamma = -np.expm1(-depth)
        return np.asarray(2.0 / n * np.exp(beta * gamma) * ((n - 1) * gamma + 1.0))

    span = (0.0, max(float(tau[-1]), 1e-300))
    solution = solve_ivp(rate, span, [0.0], method="DOP853", t_eval=tau, rtol=1e-13, atol=1e-14)
    return np.asarray(-np.expm1(-solution.y[0]))
