"""Mode amplitudes: how far the tokens are from the uniform law, degree by degree.

``A_l = sqrt( (1/n^2) sum_ij P_l(<z_i, z_j>) )`` with ``P_l`` the Legendre polynomial of the dimension, 1 at
1: on the circle ``|(1/n) sum_j exp(i l theta_j)|``, on the sphere the root of the power of degree l; ``A_1 =
|mean z|``. From a uniform start each grows, while small, at the rate that linearising the mean field gives
(:func:`usaav.theory.mode_growth_rate`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usaav.errors import BackendError, ConfigError

Array = NDArray[np.float64]


class ModeAmplitudes:
    """Amplitudes (and on the circle phases) of degrees 1 ... `degrees`, for tokens in dimension 2 or 3.

    Raises
    ------
    ConfigError
        Another dimension.
    BackendError
        numba, which the sums are compiled with, can't be imported.
    """

    def __init__(self, degrees: int, dim: int) -> None:
        if dim not in (2, 3):
            raise ConfigError(
                f"mode_degrees: amplitudes are computed in dimensions 2 and 3, not {dim}; set 0"
            )
        try:
            from usaav.flow.spectral import Moments
        except ImportError as error:
            raise BackendError(f"mode_degrees: amplitudes need numba ({error}); set 0") from error
        self._dim = dim
        self._moments = Moments(degrees, dim)

    def of(self, tokens: Array) -> tuple[Array, Array]:
        """Amplitudes and phases ``(degrees,)`` of unit rows ``(n, d)``.

        The phase is ``arg sum_j exp(i l theta_j)`` in radians; on the sphere, where a degree has no single
        phase, it is 0.
        """
        moments = self._moments.of(tokens, np.full(len(tokens), 1.0 / len(tokens)))
        if self._dim == 2:
            return np.abs(moments[1:]), -np.angle(moments[1:])
        power = np.abs(moments) ** 2
        power[1:] *= 2.0
        degrees = np.arange(power.shape[1])
        amplitude = np.sqrt(power.sum(axis=0) / (2.0 * degrees + 1.0))
        return amplitude[1:], np.zeros(len(degrees) - 1)
