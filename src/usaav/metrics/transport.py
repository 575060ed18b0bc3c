"""Wasserstein distances between clouds of equal weights."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from usaav.errors import DataError
from usaav.metrics.token_data import (
    Data,
    angles,
    dataset_tokens,
    is_data,
    measured,
    number_or_array,
    token_array,
)

Array = NDArray[np.float64]

#: pairs above which the table of costs (and the solver's work space) gets out of hand
_MOST_PAIRS = 2**26
_TURN = 2.0 * np.pi


def wasserstein(
    a: Data | ArrayLike,
    b: Data | ArrayLike,
    p: float = 2.0,
    *,
    metric: Literal["chordal", "geodesic"] = "chordal",
) -> Any:
    """Exact p-Wasserstein distance on the sphere between two clouds, each of equal weights.

    The transport problem is solved by POT's network simplex.

    Parameters
    ----------
    a
        Dataset with ``tokens``, or unit rows ``(n, d)`` or ``(..., n, d)``.
    b
        Unit rows ``(m, d)``, to which each cloud of `a` is compared. Or one cloud for each of `a`: a Dataset
        whose runs and times are the same, or rows ``(..., m, d)``.
    p
        Order, at least 1.
    metric
        ``chordal``: length of the chord; ``geodesic``: angle in radians.

    Returns
    -------
    xarray.DataArray over the remaining dimensions, a float for ``(n, d)``, else an array ``(...)``

    Raises
    ------
    DataError
        Clouds of different dimension, or too large; runs or times of `b` that are not those of `a`; an order
        below 1; an unknown metric.
    """
    tokens = token_array(dataset_tokens(a) if is_data(a) else a)
    others = _partners(a, tokens, b)
    pairs = tokens.shape[-2] * others.shape[-2]
    if pairs > _MOST_PAIRS:
        raise DataError(
            f"{tokens.shape[-2]} x {others.shape[-2]} pairs: exact transport takes {_MOST_PAIRS}; "
            "use fewer points"
        )
    if not 1.0 <= p < np.inf:
        raise DataError(f"p = {p!r}: expected a number >= 1")
    if metric not in ("chordal", "geodesic"):
        raise DataError(f"metric = {metric!r}: expected chordal or geodesic")
    values = np.empty(tokens.shape[:-2])
    for place in np.ndindex(values.shape):
        values[place] = _transport(tokens[place], others[place], p, metric == "geodesic")
    if not is_data(a):
        return number_or_array(values)
    units = "rad" if metric == "geodesic" else "1"
    return measured(a, values, "wasserstein", f"{metric} W{p:g} distance to given points", units)


def _partners(a: Data | ArrayLike, tokens: Array, b: Data | ArrayLike) -> Array:
    """The cloud of `b` for each cloud of `tokens`, ``(..., m, d)``."""
    theirs = dataset_tokens(b) if is_data(b) else None
    other = token_array(b if theirs is None else theirs)
    leading, dim = tokens.shape[:-2], tokens.shape[-1]
    if other.shape[-1] != dim or (other.ndim > 2 and other.shape[:-2] != leading):
        each = f" or {(*leading, 'm', dim)}, one cloud for each of a" if leading else ""
        raise DataError(f"b has shape {other.shape}: expected (m, {dim}){each}, unit rows as those of a")
    if theirs is not None and is_data(a):
        _require_same_places(dataset_tokens(a), theirs)
    return np.broadcast_to(other, (*leading, *other.shape[-2:]))


def _require_same_places(mine: xr.DataArray, theirs: xr.DataArray) -> None:
    """Refuse clouds of other times, which positions alone would pair with one another."""
    if theirs.ndim > 2 and theirs.dims[:-2] != mine.dims[:-2]:
        raise DataError(f"b has the dimensions {theirs.dims[:-2]}, a {mine.dims[:-2]}: make both the same")
    for name in ("time", "snapshot_time"):
        if name in mine.coords and name in theirs.coords:
            first, second = mine[name], theirs[name]
            if first.shape == second.shape and not np.array_equal(first, second):
                raise DataError(f"a and b hold tokens at different times ({name}): select the same of both")


def circle_wasserstein(a: ArrayLike, b: ArrayLike) -> float:
    """Exact 1-Wasserstein distance on the circle of circumference 2 pi, each sample of equal weights.

    With the distribution functions F and G it is the least over c of the integral of ``|F - G - c|`` round
    the circle, reached at the median of ``F - G`` (Werman, Peleg, Rosenfeld 1985).

    Parameters
    ----------
    a, b
        Angles in radians, shapes ``(n,)`` and ``(m,)``; multiples of 2 pi do not count.

    Returns
    -------
    float
        Radians, between 0 and pi.

    Raises
    ------
    DataError
        No angles, or angles that are not finite.
    """
    first, second = (_turned(values) for values in (a, b))
    places = np.concatenate([first, second])
    jumps = np.concatenate([np.full(len(first), 1.0 / len(first)), np.full(len(second), -1.0 / len(second))])
    order = np.argsort(places, kind="stable")
    places, heights = places[order], np.cumsum(jumps[order])
    lengths = np.diff(places, append=places[0] + _TURN)
    ranked = np.argsort(heights, kind="stable")
    half = np.searchsorted(np.cumsum(lengths[ranked]), 0.5 * float(lengths.sum()))
    median = heights[ranked[min(int(half), len(ranked) - 1)]]
    return float(np.sum(lengths * np.abs(heights - median)))


def _turned(values: ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64).reshape(-1)
    if array.size == 0 or not np.all(np.isfinite(array)):
        raise DataError("angles on the circle: expected at least one, all finite")
    return np.asarray(np.mod(array, _TURN))


def _transport(cloud: Array, other: Array, p: float, geodesic: bool) -> float:
    from ot import emd  # a second to import, and most jobs do not need it

    if geodesic:
        costs = np.stack([angles(point, other) for point in cloud])
    else:
        from scipy.spatial.distance import cdist

        costs = cdist(cloud, other)
    largest = float(costs.max())
    if largest == 0.0:
        return 0.0
    # relative to the largest, so that the solver's absolute tolerances mean the same for every p
    costs = (costs / largest) ** p
    n, m = costs.shape
    plan = emd(np.full(n, 1.0 / n), np.full(m, 1.0 / m), costs, numItermax=10_000_000)
    total = float(np.sum(plan * costs))
    return float(largest * total ** (1.0 / p))
