"""Length of the mean token."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from usaav.metrics.token_data import Data, dataset_tokens, is_data, measured, number_or_array, token_array


def order_parameter(data: Data | ArrayLike) -> Any:
    """``|mean token|``: 1 for a collapsed cloud, about ``n^(-1/2)`` for independent uniform tokens.

    The Kuramoto order parameter on the circle.

    Parameters
    ----------
    data
        Dataset with ``tokens``, or unit rows ``(n, d)`` or ``(..., n, d)``.

    Returns
    -------
    xarray.DataArray over the remaining dimensions, a float for ``(n, d)``, else an array ``(...)``

    Raises
    ------
    DataError
        `data` has no tokens, or they are not finite.
    """
    tokens = token_array(dataset_tokens(data) if is_data(data) else data)
    values = np.asarray(np.linalg.norm(tokens.mean(axis=-2), axis=-1), dtype=np.float64)
    if not is_data(data):
        return number_or_array(values)
    return measured(data, values, "order_parameter", "length of the mean token")
