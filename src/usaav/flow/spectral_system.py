"""A right-hand side on the spectral field, which hands over to the direct one once that is better."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from usaav.flow import dormand_prince
from usaav.flow.cells import group_close
from usaav.flow.spectral import SpectralField, local_mass
from usaav.flow.systems import (
    LARGEST_MATRIX,
    ArraySystem,
    BaseSystem,
    CompiledSystem,
    Interaction,
    Neighbours,
    System,
)
from usaav.kernels.low_rank import Products, products

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: nanoseconds that an evaluation takes for each ordered pair, without and with weights, for each token and
#: degree, and for each token and harmonic; benchmarks/field.py measures them, and a test compares
DIRECT, WEIGHTED, CIRCLE, SPHERE = 0.55, 1.4, 0.45, 0.6
# below this the array step costs more than any field
_FEWEST = 512
# up to so many tokens all pairs are looked at, and merges are recorded one by one
_MOST_IN_PAIRS = 2048
# tokens at which the local mass is sampled
_SAMPLE = 64
# forces between clusters are to be known to this part of them, or to a thousand times the tolerance of a step
_RELATIVE = 1e-6


def tolerance_for(rtol: float) -> float:
    """Absolute tolerance of the field (in units of ``exp(beta)``) that a step tolerance `rtol` asks for."""
    return max(1e-15, min(1e-10, 1e-3 * rtol))


@cache
def crossover(beta: float, dim: int, rtol: float, rank: int | None = None) -> int:
    """Number of tokens from which the spectral field is the faster one (d = 2, 3).

    `rank` is the number of products of a weight of labels, None for w = 1.
    """
    degree = SpectralField(beta, dim, tolerance_for(rtol)).degree
    per_token = CIRCLE * degree if dim == 2 else SPHERE * (degree + 1) * (degree + 2) / 2.0
    faster = per_token / DIRECT if rank is None else rank * per_token / WEIGHTED
    return max(_FEWEST, int(faster))


def products_of(interaction: Interaction, rtol: float) -> Products | None:
    """The weight of `interaction` between its labels as few products, to the tolerance of the field.

    None if it is no such sum, or has no labels.
    """
    if interaction.labels is None:
        return None
    return products(interaction.kernel.weight, interaction.labels, tolerance_for(rtol))


class SpectralSystem(BaseSystem):
    """Funk-Hecke while many clusters are left, the direct field below `handover` of them.

    The hand-over is what keeps relative accuracy: between few distant clusters forces are far below the
    absolute accuracy of the expansion. It comes also with more clusters, once none feels another to the
    accuracy of the field.

    Parameters
    ----------
    interaction, dim, rtol
        The right-hand side, the dimension, and the tolerance of a step.
    handover
        The direct field takes over below so many clusters.
    threads
        Threads to work with.
    weight
        The weight of the labels as a sum of products; None for w = 1.
    """

    def __init__(
        self,
        interaction: Interaction,
        dim: int,
        rtol: float,
        handover: int,
        threads: int,
        weight: Products | None = None,
    ) -> None:
        super().__init__(interaction)
        signs = factors = None
        if weight is not None and interaction.labels is not None:
            signs, factors = weight.signs, weight.factors(interaction.labels)
        tolerance = tolerance_for(rtol)
        self._field = SpectralField(self.beta, dim, tolerance, threads, signs, factors)
        # only for looks at pairs, whatever their labels: the matrix of weights waits for the hand-over
        self._pairs = CompiledSystem(Interaction(interaction.kernel, None, softmax=False))
        self._direct: System | None = None
        self._handover = handover
        self._faintest = tolerance / min(_RELATIVE, 1e3 * rtol)
        self._faint = False

    @property
    def spectral(self) -> bool:
        """Whether the direct field has not yet taken over."""
        return self._direct is None

    def keep(self, rows: Index) -> None:
        """See :class:`usaav.flow.systems.System`."""
        if self._direct is not None:
            self._direct.keep(rows)
            return
        self.interaction.keep(rows)
        self._field.keep(rows)

    def review(self, clusters: int) -> bool:
        """See :class:`usaav.flow.systems.System`."""
        if self._direct is not None or not (clusters < self._handover or self._faint):
            return False
        compiled = self.interaction.labels is None or clusters <= LARGEST_MATRIX
        self._direct = CompiledSystem(self.interaction) if compiled else ArraySystem(self.interaction)
        self._direct.set_shift(self.shift)
        return True

    def set_shift(self, shift: float) -> None:
        """See :class:`usaav.flow.systems.System`."""
        self.shift = shift
        if self._direct is not None:
            self._direct.set_shift(shift)

    def velocity(self, tokens: Array, masses: Array) -> Array:
        """See :class:`usaav.flow.systems.System`."""
        return (self._direct or self._field).velocity(tokens, masses)

    def step(
        self, tokens: Array, masses: Array, velocity: Array, size: float, tolerance: float
    ) -> tuple[Array, Array, float]:
        """See :class:`usaav.flow.systems.System`."""
        if self._direct is not None:
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
        if self._direct is not None:
            return self._direct.neighbours(tokens, masses, velocity, near, report)
        fastest, others = self._local_masses(tokens, masses)
        self._faint = others < self._faintest
        if len(tokens) <= _MOST_IN_PAIRS:
            seen = self._pairs.neighbours(tokens, masses, velocity, near, report)
            alike = self.interaction.alike(seen.pairs)
            # far pairs are not what this field is for: its rates stay in units of exp(beta)
            return seen._replace(
                pairs=seen.pairs[alike],
                squares=seen.squares[alike],
                rates=seen.rates[alike],
                unit_shift=self.shift,
            )
        none = np.empty(0)
        return Neighbours(
            pairs=np.empty((0, 2), dtype=np.int64),
            squares=none,
            rates=none,
            fastest=fastest,
            unit_shift=self.shift,
            widest=_widest(tokens, masses, velocity),
            groups=group_close(tokens, masses, velocity, math.sqrt(report), self.interaction.labels),
        )

    def energy(self, tokens: Array, masses: Array) -> float:
        """See :class:`usaav.flow.systems.System`."""
        if self._direct is not None:
            return self._direct.energy(tokens, masses)
        return 0.5 * self._field.energy(tokens, masses) * self.interaction.energy_unit

    def _local_masses(self, tokens: Array, masses: Array) -> tuple[float, float]:
        """Largest local mass at a few tokens, with their own mass and without it.

        The first bounds contraction rates. Where the second vanishes no token feels another; where forces
        only cancel, it does not.
        """
        slope = -0.5 * self.beta / math.log(2.0)
        labels, kernel = self.interaction.labels, self.interaction.kernel
        largest = largest_of_others = 0.0
        for row in np.linspace(0, len(tokens) - 1, min(_SAMPLE, len(tokens))).astype(np.int64):
            coupled = masses
            if labels is not None:
                coupled = masses * np.abs(kernel.weights(labels[row : row + 1], labels)[0])
            mass = float(local_mass(tokens, coupled, tokens[row], slope))
            largest = max(largest, mass)
            largest_of_others = max(largest_of_others, mass - float(coupled[row]))
        return largest, largest_of_others


def _widest(tokens: Array, masses: Array, velocity: Array) -> float:
    """Bound of the squared distance of any two tokens, if as a whole they are not spreading; else inf."""
    apart = tokens - tokens[0]
    center, drift = masses @ apart, masses @ velocity
    if masses @ np.sum((apart - center) * (velocity - drift), axis=1) > 0.0:
        return math.inf
    return 4.0 * float(np.max(np.sum(apart**2, axis=1)))
