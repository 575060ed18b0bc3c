"""How far the layers of a looped network are from the flow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def flow_distance(layers: Array, flow: Array) -> Array:
    """Largest, over the times, root mean square chordal distance between equal tokens.

    Parameters
    ----------
    layers, flow : (runs, times, n, d)
        Tokens of the same runs at the same times.

    Returns
    -------
    Array
        Shape ``(runs,)``, between 0 and 2.
    """
    squares = np.mean(np.sum((layers - flow) ** 2, axis=-1), axis=-1)
    return np.asarray(np.sqrt(squares.max(axis=-1)))
