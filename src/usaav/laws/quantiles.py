"""Points that stand for a law of labels: its quantiles at evenly spaced shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usaav.config.label_models import (
    ArcsLabels,
    AtomsLabels,
    CantorLabels,
    GridLabels,
    LabelLaw,
    PointsLabels,
    UniformLabels,
    VonMisesLabels,
)
from usaav.errors import DataError
from usaav.laws.csv_files import read_numbers

Array = NDArray[np.float64]
TURN = 2.0 * np.pi


def quantiles(law: LabelLaw | None, count: int) -> Array:
    """Labels ``(count,)`` at the shares ``(k + 1/2)/count`` of `law`; of equal weights they are close to it.

    Raises
    ------
    DataError
        There is no law, or it is that of prompts, which are names and no numbers.
    """
    shares = (np.arange(count) + 0.5) / count
    if isinstance(law, (GridLabels, UniformLabels)):
        if isinstance(law, GridLabels) and law.count is not None:
            shares = np.floor(shares * law.count) / law.count
        return law.start + shares * (law.stop - law.start)
    if isinstance(law, VonMisesLabels):
        return _of_von_mises(law.kappa, law.mean, shares)
    if isinstance(law, ArcsLabels):
        return _of_arcs(np.array(law.arcs), shares)
    if isinstance(law, AtomsLabels):
        weights = np.ones(len(law.positions)) if law.weights is None else np.array(law.weights)
        return _of_atoms(np.array(law.positions), weights, shares)
    if isinstance(law, CantorLabels):
        return _of_cantor(law.depth, shares)
    if isinstance(law, PointsLabels):
        column = read_numbers(law.file, law.sha256)[:, law.column]
        return _of_atoms(column, np.ones(len(column)), shares)
    raise DataError(f"quantiles: law {getattr(law, 'law', None)!r} is none of numbers")


def _of_von_mises(kappa: float, mean: float, shares: Array) -> Array:
    """The distribution function on a fine grid, read the other way round (scipy solves for each share)."""
    from scipy.stats import vonmises

    grid = np.linspace(-np.pi, np.pi, 2**15 + 1)
    return np.asarray(np.mod(mean + np.interp(shares, vonmises(kappa).cdf(grid), grid), TURN))


def _of_arcs(arcs: Array, shares: Array) -> Array:
    ordered = arcs[np.argsort(arcs[:, 0])]
    ends = np.cumsum(ordered[:, 1] - ordered[:, 0])
    place = shares * ends[-1]
    chosen = np.minimum(np.searchsorted(ends, place, side="right"), len(ordered) - 1)
    starts = np.concatenate([[0.0], ends[:-1]])
    return np.asarray(ordered[chosen, 0] + (place - starts[chosen]))


def _of_atoms(positions: Array, weights: Array, shares: Array) -> Array:
    order = np.argsort(positions)
    ends = np.cumsum(weights[order]) / weights.sum()
    chosen = np.minimum(np.searchsorted(ends, shares, side="right"), len(order) - 1)
    return np.asarray(positions[order][chosen])


def _of_cantor(depth: int, shares: Array) -> Array:
    """Binary digits of the share become ternary digits 0 and 2."""
    labels, rest = np.zeros_like(shares), shares
    for digit in range(1, depth + 1):
        rest = 2.0 * rest
        labels += 2.0 * 3.0**-digit * np.floor(rest)
        rest = rest - np.floor(rest)
    return TURN * labels
