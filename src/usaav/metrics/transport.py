"""Wasserstein distances between clouds of equal weights."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.errors import DataError
from usaav.metrics.token_data import (
    Data,
    angles,
    dataset_tokens,
    each_cloud,
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
    a: Data | ArrayLike, b: ArrayLike, p: float = 2.0, *, metric: Literal["chordal", "geodesic"] = "chordal"
) -> Any:
    """Exact p-Wasserstein distance on the sphere between two clouds, each of equal weights.

    The transport problem is solved by POT's network simplex.

    Parameters
    ----------
    a
        Dataset with ``tokens``, or unit rows ``(n, d)`` or ``(..., n, d)``.
    b
        Unit rows ``(m, d)``, to which each cloud of `a` is compared.
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
        Clouds of different dimension, or too large; an order below 1; an unknown metric.
    """
    tokens = token_array(dataset_tokens(a) if is_data(a) else a)
    other = token_array(b)
    if other.ndim != 2 or other.shape[1] != tokens.shape[-1]:
        raise DataError(
            f"b has shape {other.shape}: expected (m, {tokens.shape[-1]}), unit rows as those of a"
        )
    if tokens.shape[-2] * len(other) > _MOST_PAIRS:
        raise DataError(
            f"{tokens.shape[-2]} x {len(other)} pairs: exact transport takes {_MOST_PAIRS}; use fewer points"
        )
    if not 1.0 <= p < np.inf:
        raise DataError(f"p = {p!r}: expected a number >= 1")
    if metric not in ("chordal", "geodesic"):
        raise DataError(f"metric = {metric!r}: expected chordal or geodesic")
    values = each_cloud(tokens, lambda cloud: _transport(cloud, other, p, metric == "geodesic"))
    if not is_data(a):
        return number_or_array(values)
    units = "rad" if metric == "geodesic" else "1"
    return measured(a, values, "wasserstein", f"{metric} W{p:g} distance to given points", units)


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
