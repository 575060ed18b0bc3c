"""Labels as they can be read off the tokens of RoPE with one plane of rotation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.errors import DataError
from usaav.kernels import Kernel, PlaneRotations
from usaav.theory import consensus

Array = NDArray[np.float64]


def orbit_frequency(kernel: Kernel) -> float:
    """Radians on the orbit per unit of the label.

    Raises
    ------
    DataError
        The kernel is not RoPE with one plane.
    """
    gauge = kernel.gauge
    if not isinstance(gauge, PlaneRotations) or len(gauge.rotations) != 1 or gauge.rotations[0].harmonics:
        raise DataError("angles on an orbit need RoPE with one plane of rotation")
    return float(gauge.rotations[0].linear)


def orbit_angles(kernel: Kernel, tokens: ArrayLike, labels: ArrayLike) -> Array:
    """Angles on the orbit by which the tokens are turned back from the consensus u, radians in ``[0, 2 pi)``.

    A token at ``G_xi^T u`` stands at the angle of u minus ``omega xi`` in the plane of rotation, so the law
    of these angles is that of ``omega xi``.

    Parameters
    ----------
    kernel
        RoPE with one plane and frequency omega.
    tokens
        Unit rows ``(n, d)`` or ``(..., n, d)``.
    labels
        ``(n,)`` or ``(..., n)``.

    Returns
    -------
    array ``(n,)`` or ``(..., n)``

    Raises
    ------
    DataError
        The kernel is another.
    """
    orbit_frequency(kernel)
    x = np.asarray(tokens, dtype=np.float64)
    assert isinstance(kernel.gauge, PlaneRotations)  # as orbit_frequency has seen
    first, second = kernel.gauge.rotations[0].plane
    u = np.asarray(consensus(kernel, x, labels))
    turned = np.arctan2(u[..., second], u[..., first])[..., None] - np.arctan2(x[..., second], x[..., first])
    return np.asarray(np.mod(turned, 2.0 * np.pi))
