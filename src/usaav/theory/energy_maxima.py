"""Largest energy that any tokens can have, given the kernel and the labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.errors import DataError
from usaav.kernels import Exponential, Kernel, Linear, Toeplitz
from usaav.kernels.kernel import check_labels
from usaav.theory.spectrum import LARGEST_MATRIX, carries_unit_rows, top_space

Array = NDArray[np.float64]

_TILE = 1024


class EnergyBound(NamedTuple):
    """An upper bound on the energy.

    Attributes
    ----------
    value
        No tokens have more energy.
    attained
        Whether some tokens are known to have it, so that it is the maximum; False means "not shown".
    """

    value: float
    attained: bool


def energy_maximum(kernel: Kernel, labels: ArrayLike | None = None) -> float:
    """Largest energy ``E = 1/2 mean_ij w_ij phi(<G_i x_i, G_j x_j>)`` over all tokens with these labels.

    * Weight 1: ``phi(1)/2``, that is ``exp(beta)/(2 beta)``, with any gauge.
    * Weight nowhere negative: ``phi(1)/2`` times the mean weight, reached when all agree in the gauge.
    * Sign-changing weight, linear profile: half the largest eigenvalue of the operator ``W/n``; reached when
      the top eigenspace carries unit rows (as for cosines on a grid of the circle), else an upper bound;
      :func:`energy_bound` tells which.

    Parameters
    ----------
    kernel
        See :func:`usaav.kernel`.
    labels
        ``(n,)``; None for weight 1.

    Raises
    ------
    DataError
        Labels are missing, or the weight changes its sign and the profile is not linear: there only an upper
        bound is known, :func:`energy_bound`.
    """
    bound = energy_bound(kernel, labels)
    if not bound.attained and not isinstance(kernel.profile, Linear):
        raise DataError(
            "energy_maximum: not known for a weight that changes its sign with a profile that is not linear; "
            "energy_bound gives an upper bound"
        )
    return bound.value


def energy_bound(kernel: Kernel, labels: ArrayLike | None = None, dim: int = 3) -> EnergyBound:
    """Upper bound on the energy, and whether it is known to be reached in dimension `dim`.

    As :func:`energy_maximum`; for the exponential profile with a sign-changing weight every power of the
    matrix of inner products (entry by entry) is positive semidefinite with ones on its diagonal, so the power
    series gives ``(mean_ij w_ij + (exp(beta) - 1) lambda_max)/(2 beta)``.

    Raises
    ------
    DataError
        Labels are missing or do not fit, or the profile is neither linear nor exponential and the weight
        changes its sign.
    """
    top = float(kernel.profile.value(np.array(1.0)))
    if kernel.weight.is_constant:
        return EnergyBound(0.5 * top, True)
    marks = None if labels is None else np.asarray(labels, dtype=np.float64)
    if marks is None or marks.ndim != 1:
        shape = "None" if marks is None else f"of shape {marks.shape}"
        raise DataError(f"labels are {shape}: this weight depends on them, expected one per token, (n,)")
    check_labels(kernel, marks, len(marks))
    mean, non_negative = _mean_weight(kernel, marks)
    if non_negative:
        return EnergyBound(0.5 * mean * top, True)
    space = top_space(kernel, marks)
    # an operator without positive eigenvalues leaves 0 at best, when the tokens are in its kernel
    value = max(space.value, 0.0)
    if isinstance(kernel.profile, Linear):
        return EnergyBound(0.5 * value, carries_unit_rows(space.basis, dim))
    if isinstance(kernel.profile, Exponential):
        beta = kernel.profile.beta
        return EnergyBound(0.5 * (mean / beta + value * (top - 1.0 / beta)), False)
    raise DataError(
        "energy_bound: a weight that changes its sign needs the linear or the exponential profile"
    )


def _mean_weight(kernel: Kernel, labels: Array) -> tuple[float, bool]:
    """Mean of ``w_ij`` over all pairs, and whether none of these weights is negative."""
    values, counts = np.unique(labels, return_counts=True)
    if isinstance(kernel.weight, Toeplitz) and len(values) > LARGEST_MATRIX:
        phases = [
            (value, np.mean(np.exp(1j * order * labels))) for order, value in kernel.weight.coefficients
        ]
        mean = float(sum(value * abs(phase) ** 2 for value, phase in phases))
        return mean, kernel.weight.is_non_negative
    shares = counts / len(labels)
    total, least, largest = 0.0, np.inf, 0.0
    for start in range(0, len(values), _TILE):
        block = kernel.weights(values[start : start + _TILE], values)
        total += float(shares[start : start + _TILE] @ block @ shares)
        least, largest = min(least, float(block.min())), max(largest, float(np.abs(block).max()))
    # a zero of a non-negative weight may come out as minus a rounding error
    return total, least >= -1e-12 * largest
