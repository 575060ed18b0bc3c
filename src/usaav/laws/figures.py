"""Vertices of regular figures."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from usaav.errors import ConfigError

Array = NDArray[np.float64]
GOLDEN = (1.0 + 5.0**0.5) / 2.0


def vertices(count: int, dim: int) -> Array:
    """Vertices ``(count, dim)`` of the regular figure with `count` vertices on S^{dim-1}, rows of length 1.

    Two poles in any dimension (+-e_d), polygons for dim 2, tetrahedron, octahedron, cube and icosahedron for
    dim 3, simplex and cross-polytope (axes +-e_i) in any dimension.

    Raises
    ------
    ConfigError
        There is no such figure.
    """
    if count == 2:
        return np.array([np.eye(dim)[-1], -np.eye(dim)[-1]])
    if dim == 2 and count > 2:
        angles = 2.0 * np.pi * np.arange(count) / count
        return np.column_stack([np.cos(angles), np.sin(angles)])
    if count == 2 * dim:
        return np.concatenate([np.eye(dim), -np.eye(dim)])
    if count == dim + 1:
        return _simplex(dim)
    if (count, dim) == (8, 3):
        return np.array(list(itertools.product([-(3.0**-0.5), 3.0**-0.5], repeat=3)))
    if (count, dim) == (12, 3):
        return _icosahedron()
    raise ConfigError(f"count = {count}: expected the vertex number of a regular figure in dimension {dim}")


def _simplex(dim: int) -> Array:
    """Centred basis vectors of R^{d+1}, written in an orthonormal basis of the hyperplane they span."""
    centred = np.eye(dim + 1) - 1.0 / (dim + 1)
    if dim == 3:
        # the even corners of a cube, whose coordinates are the familiar ones
        side = 3.0**-0.5
        return np.array(
            [[side, side, side], [side, -side, -side], [-side, side, -side], [-side, -side, side]]
        )
    basis = np.zeros((dim + 1, dim))
    for column in range(dim):  # Helmert's basis, exact up to rounding and without any choice of signs
        basis[: column + 1, column] = 1.0
        basis[column + 1, column] = -(column + 1.0)
        basis[:, column] /= np.linalg.norm(basis[:, column])
    points = centred @ basis
    rows: Array = points / np.linalg.norm(points, axis=1, keepdims=True)
    return rows


def _icosahedron() -> Array:
    corners = []
    for sign, long in itertools.product([-1.0, 1.0], [-GOLDEN, GOLDEN]):
        corners += [[0.0, sign, long], [sign, long, 0.0], [long, 0.0, sign]]
    rows: Array = np.array(corners) / np.hypot(1.0, GOLDEN)
    return rows
