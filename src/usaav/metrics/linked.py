"""Connected components of a cloud of tokens, compiled: tables need them some hundred thousand times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usaav.flow import numba_setup  # noqa: F401  must run before numba is imported

from numba import njit  # isort: skip

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@njit(error_model="numpy", nogil=True, cache=True)
def linked(cloud: Array, square: float) -> Index:
    """Number of the component of each row of `cloud` ``(n, d)``, from 0, in the order of their first rows.

    Rows nearer to each other than `square` (squared distance) are joined. Each row found looks only through
    those not yet found: at most ``n^2 / 2`` distances, and ``n`` for each component of tight ones.
    """
    n, d = cloud.shape
    found = np.full(n, -1, dtype=np.int64)
    waiting, unseen = np.empty(n, dtype=np.int64), np.arange(n)
    left = n  # of `unseen`, in ascending order
    count = 0
    while left:
        waiting[0], queue = unseen[0], 1
        found[waiting[0]] = count
        while queue:
            queue -= 1
            row = waiting[queue]
            kept = 0
            for k in range(left):
                other = unseen[k]
                if other == row:  # the first of its component
                    continue
                gap = 0.0
                for c in range(d):
                    gap += (cloud[other, c] - cloud[row, c]) ** 2
                if gap < square:
                    found[other] = count
                    waiting[queue] = other
                    queue += 1
                else:
                    unseen[kept] = other
                    kept += 1
            left = kept
        count += 1
    return found
