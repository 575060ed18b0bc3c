"""Distance of a cloud of tokens to the nearest Dirac mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.metrics.frechet import frechet_distance
from usaav.metrics.token_data import (
    Data,
    dataset_tokens,
    each_cloud,
    is_data,
    measured,
    number_or_array,
    token_array,
)

Array = NDArray[np.float64]


def dirac_distance(data: Data | ArrayLike, *, geodesic: bool = False) -> Any:
    """2-Wasserstein distance to the nearest Dirac mass.

    With chords, ``W2^2 = mean |x_i - m|^2`` is least at the direction m of the mean token, where it is
    ``2 (1 - |mean|)``. That last form bottoms out at 2e-8 on a collapsed cloud, the first does not, so the
    first is computed. A mean of zero has no direction; then every Dirac mass is sqrt 2 away.

    Parameters
    ----------
    data
        Dataset with ``tokens``, or unit rows ``(n, d)`` or ``(..., n, d)``.
    geodesic
        Measure with angles (radians) instead: the root mean square angle to the Frechet mean.

    Returns
    -------
    xarray.DataArray over the remaining dimensions, a float for ``(n, d)``, else an array ``(...)``
        Between 0 and sqrt 2; with `geodesic` between 0 and pi.

    Raises
    ------
    DataError
        `data` has no tokens, or they are not finite.
    """
    tokens = token_array(dataset_tokens(data) if is_data(data) else data)
    values = each_cloud(tokens, frechet_distance) if geodesic else chordal_distance(tokens)
    if not is_data(data):
        return number_or_array(values)
    metric, units = ("geodesic", "rad") if geodesic else ("chordal", "1")
    return measured(data, values, "dirac_distance", f"{metric} W2 distance to the nearest Dirac mass", units)


def chordal_distance(tokens: Array) -> Array:
    """See :func:`dirac_distance`; unit rows ``(..., n, d)`` to ``(...)``."""
    mean = tokens.mean(axis=-2, keepdims=True)
    length = np.linalg.norm(mean, axis=-1, keepdims=True)
    nearest = np.divide(mean, length, out=np.zeros_like(mean), where=length > 0.0)
    squares = np.mean(np.sum((tokens - nearest) ** 2, axis=-1), axis=-1)
    # without a direction the sum above is that to the origin, 1, and that to any unit vector is 2
    squares = np.where(length[..., 0, 0] > 0.0, squares, 2.0)
    return np.asarray(np.minimum(np.sqrt(squares), np.sqrt(2.0)), dtype=np.float64)
