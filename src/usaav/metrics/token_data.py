"""What the metrics share: the tokens of a Dataset or of an array, and results with the right coordinates."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal, TypeGuard

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from usaav.errors import ConfigError, DataError

Array = NDArray[np.float64]
Data = xr.Dataset | xr.DataArray
Backend = Literal["numpy", "cupy"]


def is_data(data: object) -> TypeGuard[Data]:
    """Whether `data` is a Dataset with tokens, or a DataArray of tokens, rather than a plain array."""
    return isinstance(data, (xr.Dataset, xr.DataArray))


def checked_backend(backend: Backend) -> Backend:
    """`backend` itself.

    Raises
    ------
    ConfigError
        There is none of that name for metrics.
    """
    if backend not in ("numpy", "cupy"):
        raise ConfigError(f"backend = {backend!r}: metrics expect numpy or cupy")
    return backend


def token_array(tokens: ArrayLike) -> Array:
    """Tokens as float64, shape ``(..., n, d)`` with n >= 1 and d >= 2, all finite.

    Raises
    ------
    DataError
        Another shape, or numbers that are not finite.
    """
    array = np.asarray(tokens, dtype=np.float64)
    if array.ndim < 2 or array.shape[-1] < 2 or array.shape[-2] < 1:
        raise DataError(f"tokens have shape {array.shape}: expected (..., n, d) with n >= 1 and d >= 2")
    if not np.all(np.isfinite(array)):
        raise DataError("tokens contain NaN or infinities: every component must be a finite number")
    return array


def label_array(labels: ArrayLike | None, tokens: Array) -> Array:
    """Labels broadcast to one per token, shape ``(..., n)`` for tokens ``(..., n, d)``.

    Raises
    ------
    DataError
        No labels, or a shape that does not fit the tokens.
    """
    if labels is None:
        raise DataError("labels are needed here: pass one per token")
    array = np.asarray(labels, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != tokens.shape[-2]:
        raise DataError(
            f"labels have shape {array.shape}: expected one for each of {tokens.shape[-2]} tokens"
        )
    try:
        return np.broadcast_to(array, tokens.shape[:-1])
    except ValueError:
        raise DataError(
            f"labels have shape {array.shape}, which does not fit tokens of shape {tokens.shape}: "
            f"expected ({tokens.shape[-2]},) or {tokens.shape[:-1]}"
        ) from None


def dataset_tokens(data: Data) -> xr.DataArray:
    """The tokens of `data` with the dimensions ``token`` and ``component`` last.

    Raises
    ------
    DataError
        There is no variable ``tokens`` with these dimensions.
    """
    tokens = data.get("tokens") if isinstance(data, xr.Dataset) else data
    if tokens is None or not {"token", "component"} <= set(tokens.dims):
        raise DataError("the data hold no variable tokens with dimensions token and component")
    return tokens.transpose(..., "token", "component")


def dataset_labels(data: Data) -> Array:
    """Labels of the Dataset `data`, ``(..., n)``, one for each of its tokens and with their leading axes.

    Raises
    ------
    DataError
        There is no variable ``label``.
    """
    if not isinstance(data, xr.Dataset) or "label" not in data:
        raise DataError("the data hold no variable label: pass the whole Dataset of simulate, or arrays")
    tokens = dataset_tokens(data).isel(component=0, drop=True)
    return np.asarray(data["label"].broadcast_like(tokens).transpose(*tokens.dims), dtype=np.float64)


def token_count(dataset: xr.Dataset) -> int:
    """Number of tokens n of the runs, of which a Dataset of very many stores only some.

    Raises
    ------
    DataError
        Only some are stored, and no settings say how many there were.
    """
    if "token" not in dataset.coords:
        return int(dataset.sizes["token"])
    try:
        return int(json.loads(dataset.attrs["settings"])["settings"]["n_tokens"])
    except (KeyError, TypeError, ValueError):
        raise DataError(
            "only some tokens are stored here, and the attribute settings does not say of how many"
        ) from None


def measured(data: Data, values: Any, name: str, long_name: str, units: str = "1") -> xr.DataArray:
    """`values` with a leading axis for each dimension of the tokens of `data` (run, time), as a DataArray."""
    tokens = dataset_tokens(data)
    kept = tokens.dims[:-2]
    coords = {key: c for key, c in tokens.coords.items() if set(c.dims) <= set(kept)}
    return xr.DataArray(
        values, dims=kept, coords=coords, name=name, attrs={"long_name": long_name, "units": units}
    )


def each_cloud(tokens: Array, function: Callable[[Array], float]) -> Array:
    """`function` of each cloud ``(n, d)`` in ``(..., n, d)``, shape ``(...)``."""
    clouds = tokens.reshape(-1, *tokens.shape[-2:])
    return np.array([function(cloud) for cloud in clouds], dtype=np.float64).reshape(tokens.shape[:-2])


def number_or_array(values: Array) -> Any:
    """A plain float for a single cloud, the array otherwise."""
    return float(values) if np.ndim(values) == 0 else values


def angles(first: Array, second: Array) -> Array:
    """Angles (radians) between unit vectors on the last axis, to full accuracy from 0 to pi.

    ``arccos`` loses half the digits near 0 and ``arcsin`` of the half chord near pi; the half angle is the
    argument of (|x + y|, |x - y|) everywhere.
    """
    half = np.arctan2(np.linalg.norm(first - second, axis=-1), np.linalg.norm(first + second, axis=-1))
    return np.asarray(2.0 * half, dtype=np.float64)
