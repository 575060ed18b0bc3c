"""A right-hand side on the spectral field.

Which hands over to the direct field once few clusters are left.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from usaav.flow import dormand_prince
from usaav.flow.cells import group_close
from usaav.flow.spectral import SpectralField, largest_local_mass
from usaav.flow.systems import BaseSystem, CompiledSystem, Interaction, Neighbours

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# Nanoseconds that an evaluation takes for each ordered pair, for each token and degree, and for each token
# and harmonic, as measured by the field benchmark.
_DIRECT, _CIRCLE, _SPHERE = 0.65, 0.5, 0.8
#: below this the array step costs more than any field
FEWEST = 512
# up to so many tokens all pairs are looked at, and merges are recorded one by one
_MOST_IN_PAIRS = 2048
# tokens at which the local mass, which bounds contraction rates, is sampled
_SAMPLE = 64


def tolerance_for(rtol: float) -> float:
    """Absolute tolerance of the field (in units of ``exp(beta)``) that a step tolerance `rtol` asks for."""
    return max(1e-15, min(1e-10, 1e-3 * rtol))


def crossover(beta: float, dim: int, rtol: float) -> int:
    """Number of tokens from which the spectral field is the faster one (d = 2, 3)."""
    degree = SpectralField(beta, dim, tolerance_for(rtol)).degree
    per_token = _CIRCLE * degree if dim == 2 else _SPHERE * (degree + 1) * (degree + 2) / 2.0
    return max(FEWEST, int(per_token / _DIRECT))


class SpectralSystem(BaseSystem):
    """Funk-Hecke while many clusters are left, the direct field below `handover` of them.

    The hand-over is what keeps relative accuracy: between few distant clusters forces are far below the
    absolute accuracy of the expansion.
    """

    def __init__(self, interaction: Interaction, dim: int, rtol: float, handover: int, threads: int) -> None:
        super().__init__(interaction)
        self._field = SpectralField(self.beta, dim, tolerance_for(rtol), threads)
        self._direct = CompiledSystem(interaction)
        self._handover = handover
        self.spectral = True

    def keep(self, rows: Index) -> None:
        """See :class:`usaav.flow.systems.System`."""
        self._direct.keep(rows)

    def review(self, clusters: int) -> bool:
        """See :class:`usaav.flow.systems.System`."""
        if self.spectral and clusters < self._handover:
            self.spectral = False
            return True
        return False

    def set_shift(self, shift: float) -> None:
        """See :class:`usaav.flow.systems.System`."""
        self.shift = shift
        self._direct.set_shift(shift)

    def velocity(self, tokens: Array, masses: Array) -> Array:
        """See :class:`usaav.flow.systems.System`."""
        return (self._field if self.spectral else self._direct).velocity(tokens, masses)

    def step(
        self, tokens: Array, masses: Array, velocity: Array, size: float, tolerance: float
    ) -> tuple[Array, Array, float]:
        """See :class:`usaav.flow.systems.System`."""
        if not self.spectral:
            return self._direct.step(tokens, masses, velocity, size, tolerance)
        field = self._field
        new, error = dormand_prince.step(
            lambda point: field.velocity(point, masses),
            tokens,
            velocity,
            size,
            field.displaced,
            field.largest_error,
        )
        return new, field.velocity(new, masses) if error <= tolerance else velocity, error

    def neighbours(
        self, tokens: Array, masses: Array, velocity: Array, near: float, report: float
    ) -> Neighbours:
        """See :class:`usaav.flow.systems.System`; by cells instead of pairs while there are many."""
        if not self.spectral:
            return self._direct.neighbours(tokens, masses, velocity, near, report)
        if len(tokens) <= _MOST_IN_PAIRS:
            seen = self._direct.neighbours(tokens, masses, velocity, near, report)
            # far pairs are not what this field is for: its rates stay in units of exp(beta)
            return seen._replace(unit_shift=self.shift)
        none = np.empty(0)
        return Neighbours(
            pairs=np.empty((0, 2), dtype=np.int64),
            squares=none,
            rates=none,
            fastest=self._fastest(tokens, masses),
            unit_shift=self.shift,
            groups=group_close(tokens, masses, velocity, math.sqrt(report)),
        )

    def energy(self, tokens: Array, masses: Array) -> float:
        """See :class:`usaav.flow.systems.System`."""
        if not self.spectral:
            return self._direct.energy(tokens, masses)
        return 0.5 * self._field.energy(tokens, masses) * self.interaction.energy_unit

    def _fastest(self, tokens: Array, masses: Array) -> float:
        """Bound of the contraction rates: the largest local mass at a sample of tokens."""
        sample = tokens[np.linspace(0, len(tokens) - 1, min(_SAMPLE, len(tokens))).astype(np.int64)]
        return float(largest_local_mass(tokens, masses, sample, -0.5 * self.beta / math.log(2.0)))
