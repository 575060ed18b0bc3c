"""The looped network: L shared layers ``x <- normalise(x + eta * field)``.

An Euler step and a normalisation a layer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from usaav.errors import ConfigError, SimulationError
from usaav.flow.systems import System

Array = NDArray[np.float64]


def layer_numbers(times: Array, step: float) -> list[int]:
    """After how many layers each of `times` is reached.

    Raises
    ------
    ConfigError
        A time is not a whole number of steps.
    """
    counts = np.rint(times / step)
    off = np.abs(counts * step - times) > 1e-9 * np.maximum(1.0, times)
    if np.any(off):
        raise ConfigError(
            f"times: {times[off][0]:g} is not a whole number of layers of step {step:g}; "
            "choose multiples of the step"
        )
    return [int(count) for count in counts]


def integrate(
    system: System, tokens: Array, times: Array, step: float, observe: Callable[[int, Array], None]
) -> int:
    """Pass `tokens` ``(n, d)``, unit rows in gauge coordinates, through the layers.

    The velocity is projected before the step (an unprojected sum is damped by the self term and is not the
    flow). ``observe(k, tokens)`` is called at ``times[k]``.

    Returns
    -------
    int
        Number of layers.

    Raises
    ------
    ConfigError
        A time is not a whole number of steps.
    SimulationError
        A token is no longer finite.
    """
    masses = np.full(len(tokens), 1.0 / len(tokens))
    layer = 0
    for index, target in enumerate(layer_numbers(times, step)):
        while layer < target:
            tokens, finite = system.layer(tokens, masses, step * system.rate)
            layer += 1
            if not finite:
                raise SimulationError(
                    f"non-finite state in layer {layer} (tau = {layer * step:g}), beta = {system.beta:g}: "
                    "try a smaller step"
                )
        observe(index, tokens)
    return layer
