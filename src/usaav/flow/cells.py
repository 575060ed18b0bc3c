"""Groups of close tokens among very many, found by cells instead of pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


#: merges of one look move a token by at most this part of the merge tolerance: what several looks do adds up,
#: though what the earlier ones did fades with the contraction
PART = 0.4


def group_close(
    tokens: Array, masses: Array, velocities: Array, tolerance: float, labels: Array | None = None
) -> Index | None:
    """Group tokens that share a cell of diameter ``PART * tolerance`` and are, as a group, not spreading.

    Where there are labels, only tokens of equal ones are grouped.

    Two close tokens in neighbouring cells stay apart until they come to share one, or until so few are left
    that all pairs can be looked at.

    Parameters
    ----------
    tokens, velocities : (m, d)
        Unit rows and their velocities.
    masses, labels : (m,)

    Returns
    -------
    (m,) int64 or None
        Number of the group of each token (0 ... groups-1, in the order of their first tokens); None if every
        token is alone.
    """
    _, dim = tokens.shape
    edge = PART * tolerance / np.sqrt(dim)
    cells = np.floor(tokens / edge).astype(np.int64)
    # one number per cell; distinct cells with equal numbers are separated below, by their diameter
    key = np.zeros(len(tokens), dtype=np.int64)
    if labels is not None:
        kinds = np.unique(labels, return_inverse=True)[1]
        key += kinds * _factors(dim + 1)[dim]
    for column, factor in enumerate(_factors(dim)):
        key += cells[:, column] * factor
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if len(first) == len(tokens):
        return None
    mass = np.bincount(group, masses)
    spreading = np.zeros(len(first))
    widest = np.zeros(len(first))
    for k in range(dim):
        here, speed = tokens[:, k] - tokens[first, k][group], velocities[:, k]
        center = np.bincount(group, masses * here) / mass
        drift = np.bincount(group, masses * speed) / mass
        spreading += np.bincount(group, masses * (here - center[group]) * (speed - drift[group]))
        np.maximum.at(widest, group, np.abs(here))
    mixed = np.zeros(len(first), dtype=bool)
    if labels is not None:
        np.logical_or.at(mixed, group, labels != labels[first][group])
    split = ((spreading > 0.0) | (widest > tolerance) | mixed)[group]
    own = np.where(split, np.arange(len(tokens)), first[group])
    _, numbers = np.unique(own, return_inverse=True)
    result: Index = numbers.astype(np.int64)
    return result if result.max() + 1 < len(tokens) else None


def _factors(dim: int) -> list[int]:
    """Odd 62-bit multipliers, one a component."""
    rng = np.random.Generator(np.random.PCG64(dim))
    return [int(value) | 1 for value in rng.integers(1 << 40, 1 << 62, size=dim)]
