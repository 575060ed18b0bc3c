"""Interaction energy of given tokens, from its definition."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from usaav.errors import ConfigError, DataError
from usaav.kernels import Exponential, Kernel
from usaav.kernels.kernel import check_labels
from usaav.kernels.kernel import kernel as make_kernel
from usaav.metrics.token_data import (
    Backend,
    Data,
    checked_backend,
    dataset_labels,
    dataset_tokens,
    is_data,
    label_array,
    measured,
    number_or_array,
    token_array,
)

Array = NDArray[np.float64]

#: side of the blocks in which all pairs are visited; no larger matrix is made
_TILE = 1024


def energy(
    data: Data | ArrayLike,
    kernel: Kernel | None = None,
    labels: ArrayLike | None = None,
    *,
    backend: Backend = "numpy",
) -> Any:
    """``E = 1/2 (1/n^2) sum_ij w_ij phi(<G_i x_i, G_j x_j>)``, which never decreases along the flow.

    Parameters
    ----------
    data
        Dataset with ``tokens`` and ``label``, or unit rows ``(n, d)`` or ``(..., n, d)``.
    kernel
        See :func:`usaav.kernel`; for a Dataset the default is the one in its attributes.
    labels
        For arrays and kernels that need them: ``(n,)`` or ``(..., n)``.
    backend
        ``numpy``, or ``cupy``: the pair sum on a CUDA device.

    Returns
    -------
    xarray.DataArray over the remaining dimensions, a float for ``(n, d)``, else an array ``(...)``

    Raises
    ------
    DataError
        Tokens, labels or the kernel are missing or do not fit.
    BackendError
        ``cupy`` without a device, or for a kernel that it does not know.
    """
    if is_data(data):
        tokens, marks = token_array(dataset_tokens(data)), None
        kernel = dataset_kernel(data) if kernel is None else kernel
        if kernel.needs_labels:
            marks = dataset_labels(data)
    else:
        tokens = token_array(data)
        if kernel is None:
            raise DataError("energy of an array of tokens: pass the kernel")
        check_labels(
            kernel, None if labels is None else np.asarray(labels, dtype=np.float64), tokens.shape[-2]
        )
        marks = label_array(labels, tokens) if kernel.needs_labels else None
    n, dim = tokens.shape[-2:]
    clouds = tokens.reshape(-1, n, dim)
    rows = [None] * len(clouds) if marks is None else list(marks.reshape(-1, n))
    if checked_backend(backend) == "cupy":
        from usaav.gpu import observables

        turned = [kernel.to_gauge(*pair) for pair in zip(clouds, rows, strict=True)]
        flat = None if marks is None else marks.reshape(-1, n)
        values = observables.energies(kernel, np.stack(turned), flat)
    else:
        values = np.array([_energy(kernel, *pair) for pair in zip(clouds, rows, strict=True)])
    values = values.reshape(tokens.shape[:-2])
    return (
        measured(data, values, "energy", "interaction energy") if is_data(data) else number_or_array(values)
    )


def dataset_kernel(data: Data) -> Kernel:
    """The kernel whose settings are in the attribute ``kernel`` of a Dataset.

    Raises
    ------
    DataError
        There are no settings: the kernel was put together in Python.
    """
    text = data.attrs.get("kernel") if isinstance(data, xr.Dataset) else None
    try:
        return make_kernel(json.loads(text or "null"))
    except (ValueError, TypeError, AttributeError, ConfigError):
        raise DataError("the data carry no settings of a kernel: pass the kernel itself") from None


def _energy(kernel: Kernel, tokens: Array, labels: Array | None) -> float:
    """Energy of one cloud; blocks of pairs on and above the diagonal, the others by symmetry."""
    z = kernel.to_gauge(tokens, labels)
    n = len(z)
    total = 0.0
    for start in range(0, n, _TILE):
        rows = slice(start, start + _TILE)
        for other in range(start, n, _TILE):
            columns = slice(other, other + _TILE)
            block = _relative(kernel, z[rows] @ z[columns].T)
            if not kernel.weight.is_constant and labels is not None:
                block *= kernel.weights(labels[rows], labels[columns])
            total += float(block.sum()) * (1.0 if other == start else 2.0)
    scale = float(kernel.profile.value(np.array(1.0))) if isinstance(kernel.profile, Exponential) else 1.0
    # the mean first: the sum itself may overflow at large beta
    return 0.5 * (total / n**2) * scale


def _relative(kernel: Kernel, inner: Array) -> Array:
    """Profile of inner products, for the exponential relative to its value at 1, which may be 1e304."""
    if isinstance(kernel.profile, Exponential):
        return np.asarray(np.exp(kernel.profile.beta * np.minimum(inner - 1.0, 0.0)))
    return np.array(kernel.profile.value(inner), dtype=np.float64)
