"""Sampling of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.config.label_models import (
    ArcsLabels,
    AtomsLabels,
    CantorLabels,
    GridLabels,
    LabelLaw,
    PointsLabels,
    PromptsLabels,
    UniformLabels,
    VonMisesLabels,
)
from usaav.errors import DataError
from usaav.laws.csv_files import read_numbers

Array = NDArray[np.float64]
TURN = 2.0 * np.pi


def draw(law: LabelLaw, n_tokens: int, rng: np.random.Generator, n_targets: int | None = None) -> Array:
    """Labels ``(n_tokens,)`` of `law`, real numbers (whole ones for prompts).

    Parameters
    ----------
    law
        Validated settings.
    n_tokens
        Number of labels.
    rng
        Source of randomness; laws `grid`, `prompts` and `points` draw nothing from it.
    n_targets
        Number of prompts when law `prompts` does not say; None: one per token.

    Raises
    ------
    DataError
        The file of law `points` cannot be used.
    """
    if isinstance(law, PromptsLabels):
        return np.arange(n_tokens, dtype=np.float64) % (law.count or n_targets or n_tokens)
    return _SAMPLERS[type(law)](law, n_tokens, rng)


def _grid(law: GridLabels, n_tokens: int, _rng: np.random.Generator) -> Array:
    count = law.count or n_tokens
    places = np.arange(n_tokens, dtype=np.float64) % count
    labels: Array = law.start + places * (law.stop - law.start) / count
    return labels


def _uniform(law: UniformLabels, n_tokens: int, rng: np.random.Generator) -> Array:
    return rng.uniform(law.start, law.stop, n_tokens)


def _von_mises(law: VonMisesLabels, n_tokens: int, rng: np.random.Generator) -> Array:
    return np.mod(rng.vonmises(law.mean, law.kappa, n_tokens), TURN)


def _arcs(law: ArcsLabels, n_tokens: int, rng: np.random.Generator) -> Array:
    """Uniform on the intervals laid end to end, then moved back to where they are."""
    arcs = np.array(law.arcs)
    ends = np.cumsum(arcs[:, 1] - arcs[:, 0])
    position = rng.uniform(0.0, ends[-1], n_tokens)
    # rounding must not push the last position beyond the last interval
    chosen = np.minimum(np.searchsorted(ends, position, side="right"), len(arcs) - 1)
    starts = np.concatenate([[0.0], ends[:-1]])
    labels: Array = np.minimum(arcs[chosen, 0] + (position - starts[chosen]), arcs[chosen, 1])
    return labels


def _atoms(law: AtomsLabels, n_tokens: int, rng: np.random.Generator) -> Array:
    weights = np.ones(len(law.positions)) if law.weights is None else np.array(law.weights)
    return rng.choice(np.array(law.positions), size=n_tokens, p=weights / weights.sum())


def _cantor(law: CantorLabels, n_tokens: int, rng: np.random.Generator) -> Array:
    digits = 2.0 * rng.integers(0, 2, size=(n_tokens, law.depth))
    labels: Array = TURN * (digits @ 3.0 ** -np.arange(1.0, law.depth + 1.0))
    return labels


def _column(law: PointsLabels, n_tokens: int, _rng: np.random.Generator) -> Array:
    rows = read_numbers(law.file, law.sha256)
    if law.column >= rows.shape[1]:
        raise DataError(f"{law.file}: no column {law.column}; it has {rows.shape[1]}, counted from 0")
    column: Array = rows[np.arange(n_tokens) % len(rows), law.column]
    return column


_SAMPLERS: dict[type, Callable[[Any, int, np.random.Generator], Array]] = {
    GridLabels: _grid,
    UniformLabels: _uniform,
    VonMisesLabels: _von_mises,
    ArcsLabels: _arcs,
    AtomsLabels: _atoms,
    CantorLabels: _cantor,
    PointsLabels: _column,
}
