"""Clusters: connected components of the graph that joins tokens closer than an angle."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.errors import DataError
from usaav.metrics.token_data import (
    Backend,
    Data,
    checked_backend,
    dataset_tokens,
    is_data,
    measured,
    token_array,
)

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: clouds up to this size are clustered by looking at all pairs, if need be
_FEW = 1024
#: pairs of near tokens, both ways, that are listed one by one
_MOST_NEIGHBOURS = 1_000_000


def cluster_count(data: Data | ArrayLike, angle: float = 0.1, *, backend: Backend = "numpy") -> Any:
    """Number of connected components of the graph "closer than `angle`".

    So a chain of tokens, each close to the next, is one cluster, however far apart its ends are.

    Parameters
    ----------
    data
        Dataset with ``tokens``, or unit rows ``(n, d)`` or ``(..., n, d)``.
    angle
        Radians, in (0, pi].
    backend
        ``numpy``, or ``cupy``: all pairs on a CUDA device.

    Returns
    -------
    xarray.DataArray over the remaining dimensions, an int for ``(n, d)``, else an array ``(...)``

    Raises
    ------
    DataError
        `data` has no tokens, or `angle` is out of range.
    BackendError
        ``cupy`` without a device.
    """
    tokens = token_array(dataset_tokens(data) if is_data(data) else data)
    chord = _chord(angle)
    clouds = tokens.reshape(-1, *tokens.shape[-2:])
    on_device = checked_backend(backend) == "cupy"
    counts = np.array(
        [len(np.unique(row)) for row in _on_device(clouds, chord)]
        if on_device
        else [_count(cloud, chord) for cloud in clouds]
    ).reshape(tokens.shape[:-2])
    if is_data(data):
        return measured(data, counts, "cluster_count", f"clusters of tokens closer than {angle:g} rad")
    return int(counts) if counts.ndim == 0 else counts


def cluster_sizes(data: Data | ArrayLike, angle: float = 0.1, *, backend: Backend = "numpy") -> Any:
    """Numbers of tokens in the clusters of :func:`cluster_count`, largest first.

    Parameters and errors are those of :func:`cluster_count`.

    Returns
    -------
    xarray.DataArray or array of whole numbers
        With a last axis ``cluster``, as long as the most clusters of any cloud; 0 where a cloud has fewer.
    """
    tokens = token_array(dataset_tokens(data) if is_data(data) else data)
    clouds = tokens.reshape(-1, *tokens.shape[-2:])
    if checked_backend(backend) == "cupy":
        numbers = [_numbered(row) for row in _on_device(clouds, _chord(angle))]
    else:
        numbers = [components(cloud, angle) for cloud in clouds]
    rows = [np.sort(np.bincount(number))[::-1] for number in numbers]
    most = max(len(row) for row in rows)
    table = np.stack([np.pad(row, (0, most - len(row))) for row in rows]).reshape(*tokens.shape[:-2], most)
    if not is_data(data):
        return table
    first = measured(data, table[..., 0], "cluster_sizes", f"tokens in clusters closer than {angle:g} rad")
    return first.expand_dims({"cluster": most}, axis=-1).copy(data=table)


def components(cloud: Array, angle: float) -> Index:
    """Number of the cluster of each unit row ``(n, d)``, from 0, in the order of their first tokens.

    Raises
    ------
    DataError
        `angle` is not in (0, pi].
    """
    return _components(cloud, _chord(angle))


def _on_device(clouds: Array, chord: float) -> Index:
    """Of each row of `clouds` ``(k, n, d)`` the first row of its component, ``(k, n)``."""
    from usaav.gpu import observables

    return observables.components(clouds, chord)


def _chord(angle: float) -> float:
    if not 0.0 < angle <= math.pi:
        raise DataError(f"angle = {angle!r}: expected radians, more than 0 and at most pi")
    return 2.0 * math.sin(angle / 2.0)


def _count(cloud: Array, chord: float) -> int:
    """Number of components, without finding out which token is in which where that saves time."""
    if np.sum((cloud - cloud[0]) ** 2, axis=1).max() < chord**2:
        return 1
    return int(_components(cloud, chord).max()) + 1


def _components(cloud: Array, chord: float) -> Index:
    n = len(cloud)
    if n <= _FEW and (linked := _compiled()) is not None:
        return linked(np.ascontiguousarray(cloud), chord**2)
    if n == 1:
        return np.zeros(1, dtype=np.int64)
    from scipy.spatial import cKDTree

    tree = cKDTree(cloud)
    if tree.count_neighbors(tree, chord) <= _MOST_NEIGHBOURS:
        pairs = tree.query_pairs(chord, output_type="ndarray")
        gaps = np.sum((cloud[pairs[:, 0]] - cloud[pairs[:, 1]]) ** 2, axis=1)
        return _numbered(_joined(n, pairs[gaps < chord**2]))
    return _numbered(_by_cubes(cloud, chord))


@cache
def _compiled() -> Callable[[Array, float], Index] | None:
    """The fastest way for few tokens, where numba can be imported."""
    try:
        from usaav.metrics.linked import linked
    except ImportError:
        return None
    return linked


def _by_cubes(cloud: Array, chord: float) -> Index:
    """Components of a large dense cloud.

    Tokens of one small cube are one cluster whatever else there is, so pairs are looked at between cubes, not
    between tokens: a collapsed cloud of a million tokens takes no n^2 pairs.
    """
    from scipy.spatial import cKDTree

    # a cube's diagonal stays below the chord
    cubes = np.floor(cloud / (0.999 * chord / math.sqrt(cloud.shape[1])))
    _, first, cube = np.unique(cubes, axis=0, return_index=True, return_inverse=True)
    cube = cube.reshape(-1)
    near = cKDTree(cloud[first]).query_pairs(3.0 * chord, output_type="ndarray")
    gaps = np.linalg.norm(cloud[first[near[:, 0]]] - cloud[first[near[:, 1]]], axis=1)
    joined = _joined(len(first), near[gaps < chord])
    open_pairs = near[joined[near[:, 0]] != joined[near[:, 1]]]
    if len(open_pairs):
        joined = _join_by_tokens(cloud, cube, open_pairs, joined, chord)
    return joined[cube]


def _joined(count: int, pairs: Index) -> Index:
    """Component of each of `count` nodes joined by `pairs` ``(p, 2)``."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(pairs), dtype=np.int8)
    graph = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _join_by_tokens(cloud: Array, cube: Index, pairs: Index, joined: Index, chord: float) -> Index:
    """Join components further where tokens of two cubes are close though their first tokens are not."""
    from scipy.spatial import cKDTree

    order = np.argsort(cube, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(cube[order])) + 1)
    trees: dict[int, cKDTree] = {}
    joined = joined.copy()
    for one, other in pairs:
        if joined[one] == joined[other]:
            continue
        small, large = sorted((int(one), int(other)), key=lambda key: len(members[key]))
        if large not in trees:
            trees[large] = cKDTree(cloud[members[large]])
        gaps = trees[large].query(cloud[members[small]], distance_upper_bound=chord)[0]
        if np.min(gaps) < chord:
            joined[joined == joined[other]] = joined[one]
    return joined


def _numbered(marks: NDArray[np.integer[Any]]) -> Index:
    """The same partition, numbered by first occurrence."""
    _, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse.reshape(-1)])
