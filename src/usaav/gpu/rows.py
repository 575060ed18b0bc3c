"""Rows of a run that live on the device, and come to the host when somebody looks at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.gpu.device import Device

Array = NDArray[np.float64]


class DeviceRows:
    """Tokens or velocities ``(m, d)`` on the device; ``numpy.asarray`` and indices give host copies.

    What is downloaded once is kept: rows are not changed after they were made.

    Attributes
    ----------
    on_device
        The array of the device.
    speed
        The largest length of any row, where the launch that made them told it; else None.
    """

    __slots__ = ("_device", "_host", "on_device", "shape", "speed")

    def __init__(
        self, device: Device, on_device: Any, shape: tuple[int, int], speed: float | None = None
    ) -> None:
        self._device, self.on_device, self.shape, self.speed = device, on_device, shape, speed
        self._host: Array | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The rows on the host."""
        if self._host is None:
            self._host = self._device.download(self.on_device).reshape(self.shape)
            self._host.flags.writeable = False
        return np.array(self._host, dtype=dtype) if copy else np.asarray(self._host, dtype=dtype)

    def __len__(self) -> int:
        """Number of rows."""
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        """Rows on the host, by any index of NumPy's."""
        return np.asarray(self)[index]
