"""Dirac distance of the tokens that share a label."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from usaav.metrics.token_data import (
    Data,
    dataset_labels,
    dataset_tokens,
    is_data,
    label_array,
    measured,
    number_or_array,
    token_array,
)

Array = NDArray[np.float64]


def conditional_dirac_distance(
    data: Data | ArrayLike, labels: ArrayLike | None = None, *, per_label: bool = False
) -> Any:
    """Chordal W2 distance to the nearest Dirac mass of each slice, a slice being the tokens of one label.

    Conditional collapse (the paper's conditional Diracisation) is this going to 0. A label of a single token
    makes a slice of distance 0.

    Parameters
    ----------
    data
        Dataset with ``tokens`` and ``label``, or unit rows ``(n, d)`` or ``(..., n, d)``.
    labels
        For arrays: ``(n,)`` or ``(..., n)``.
    per_label
        One distance per label, in increasing order of the labels, instead of the largest.

    Returns
    -------
    xarray.DataArray, float or array
        The largest slice's distance over the remaining dimensions. With `per_label` there is a last axis
        ``slice``; clouds with fewer labels than others have NaN at its end.

    Raises
    ------
    DataError
        Labels or tokens are missing or do not fit.
    """
    if is_data(data):
        tokens, marks = token_array(dataset_tokens(data)), dataset_labels(data)
    else:
        tokens = token_array(data)
        marks = label_array(labels, tokens)
    shape = tokens.shape[:-2]
    rows = [
        _slice_distances(cloud, mark)
        for cloud, mark in zip(
            tokens.reshape(-1, *tokens.shape[-2:]), marks.reshape(-1, marks.shape[-1]), strict=True
        )
    ]
    name, long_name = "conditional_dirac_distance", "Dirac distance of the tokens that share a label"
    if not per_label:
        values = np.array([row.max() for row in rows]).reshape(shape)
        return (
            measured(data, values, name, f"largest {long_name}") if is_data(data) else number_or_array(values)
        )
    width = max(len(row) for row in rows)
    table = np.stack([np.pad(row, (0, width - len(row)), constant_values=np.nan) for row in rows])
    table = table.reshape(*shape, width)
    return _with_slices(data, table, name, long_name) if is_data(data) else table


def _with_slices(data: Data, table: Array, name: str, long_name: str) -> xr.DataArray:
    parts = [measured(data, table[..., index], name, long_name) for index in range(table.shape[-1])]
    return xr.concat(parts, dim="slice").transpose(..., "slice").assign_attrs(parts[0].attrs)


def _slice_distances(cloud: Array, labels: Array) -> Array:
    """Distances of the slices of one cloud ``(n, d)``, in increasing order of their labels."""
    order = np.argsort(labels, kind="stable")
    ordered, marks = cloud[order], labels[order]
    starts = np.flatnonzero(np.concatenate([[True], marks[1:] != marks[:-1]]))
    counts = np.diff(np.append(starts, len(marks)))
    means = np.add.reduceat(ordered, starts, axis=0) / counts[:, None]
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    nearest = np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0.0)
    squares = np.sum((ordered - np.repeat(nearest, counts, axis=0)) ** 2, axis=1)
    mean_squares = np.add.reduceat(squares, starts) / counts
    # a slice with mean zero is sqrt 2 from every Dirac mass
    return np.asarray(np.sqrt(np.where(lengths[:, 0] > 0.0, mean_squares, 2.0)))
