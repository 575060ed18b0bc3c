"""Predicted maximisers of the energy for weights that are nowhere negative: ``x*(xi) = G_xi^T u``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.errors import DataError
from usaav.kernels import Kernel

Array = NDArray[np.float64]


def consensus(kernel: Kernel, tokens: ArrayLike, labels: ArrayLike | None = None) -> Array:
    """The point u on which the tokens agree in gauge coordinates: the direction of the mean of ``G_i x_i``.

    Parameters
    ----------
    kernel
        See :func:`usaav.kernel`.
    tokens
        Unit rows ``(n, d)`` or ``(..., n, d)``.
    labels
        ``(n,)`` or ``(..., n)``; None if the gauge needs none.

    Returns
    -------
    array ``(d,)`` or ``(..., d)``

    Raises
    ------
    DataError
        Labels are missing, or a mean is zero, so that it has no direction.
    """
    x = np.asarray(tokens, dtype=np.float64)
    mean = kernel.to_gauge(x, _labels(labels)).mean(axis=-2)
    length = np.linalg.norm(mean, axis=-1, keepdims=True)
    if np.any(length < 1e-14):
        raise DataError(
            "the mean of the tokens in gauge coordinates is zero: there is no consensus to speak of"
        )
    return np.asarray(mean / length)


def predicted_tokens(kernel: Kernel, labels: ArrayLike | None, u: ArrayLike) -> Array:
    """Maximiser of the energy for consensus `u`: token i at ``G_i^T u`` (orbit-wise universality).

    Parameters
    ----------
    kernel
        Its weight must not be negative for any pair of labels.
    labels
        ``(n,)`` or ``(..., n)``; None if the gauge needs none.
    u
        Unit vector ``(d,)`` or ``(..., d)``.

    Returns
    -------
    array ``(n, d)`` or ``(..., n, d)``
        A single row for labels None.

    Raises
    ------
    DataError
        The weight changes its sign, so that the maximiser is another; or labels and `u` do not fit.
    """
    if not kernel.weight.is_non_negative:
        raise DataError(
            "predicted_tokens: the weight changes its sign, so G^T u need not maximise the energy"
        )
    point = np.asarray(u, dtype=np.float64)
    marks = _labels(labels)
    if marks is None:
        return kernel.from_gauge(point[..., None, :], None)
    try:
        shape = np.broadcast_shapes(marks.shape, (*point.shape[:-1], 1))
    except ValueError:
        raise DataError(
            f"labels {marks.shape} and u {point.shape} do not fit: one u for each row of labels"
        ) from None
    start = np.broadcast_to(point[..., None, :], (*shape, point.shape[-1]))
    return kernel.from_gauge(np.array(start), np.broadcast_to(marks, shape))


def _labels(labels: ArrayLike | None) -> Array | None:
    return None if labels is None else np.asarray(labels, dtype=np.float64)
