"""Right-hand sides of one run: the same small interface over the compiled and the plain array engine.

A system works in internal time ``s`` with ``ds = rate * dtau`` and ``rate = exp(beta - shift)``
(``exp(-shift)`` for softmax, 1 for the linear profile), in which all velocities are of order one, see
``compiled.py`` for the equation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from usaav.flow import dormand_prince
from usaav.kernels import Kernel
from usaav.kernels.profiles import Exponential, Linear

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: above this many tokens no n x n array is made
LARGEST_MATRIX = 4096
# above so many tokens a look lists only a few pairs for each token of those that have met: they merge, and
# the next look sees the others; else a cloud that meets as a whole would be a matrix
_ALL_PAIRS, _PAIRS_PER_TOKEN = 2048, 16
_LOG2_E = math.log2(math.e)


class Neighbours(NamedTuple):
    """What a look at all pairs saw.

    Attributes
    ----------
    pairs, squares, rates
        Near pairs ``(p, 2)`` that may merge, their squared distances and contraction rates (per internal
        time).
    fastest
        The fastest contraction of any near pair.
    unit_shift
        The shift that would make the nearest pair's rate one.
    widest
        Squared distance of the farthest pair if all pairs are near and none is moving apart, whatever their
        labels; else inf.
    groups
        Where pairs are too many to look at: groups of tokens to merge, see
        :func:`usaav.flow.cells.group_close`.
    """

    pairs: Index
    squares: Array
    rates: Array
    fastest: float
    unit_shift: float
    widest: float = math.inf
    groups: Index | None = None


@dataclass
class Interaction:
    """The data of a right-hand side: profile, normalisation, and the labels of the clusters that are left.

    Attributes
    ----------
    kernel
        Only its weight and profile count here: tokens are in gauge coordinates.
    labels : (m,) or None
        Labels of the clusters, None where the weight is constant.
    softmax
        Divide by the sum of the exponentials (SA) instead of by n.
    """

    kernel: Kernel
    labels: Array | None
    softmax: bool

    @property
    def beta(self) -> float:
        """Inverse temperature, 0 for the linear profile."""
        return self.kernel.beta

    @property
    def energy_unit(self) -> float:
        """Factor taken out of pair sums: ``exp(beta)/beta`` for the exponential profile."""
        if isinstance(self.kernel.profile, Exponential):
            return math.exp(self.beta) / self.beta
        return 1.0

    def keep(self, rows: Index) -> None:
        """Go on with these clusters only."""
        if self.labels is not None:
            self.labels = self.labels[rows]

    def alike(self, pairs: Index) -> NDArray[np.bool_]:
        """Which of `pairs` ``(p, 2)`` have labels that couple alike: all for w = 1, else equal labels."""
        if self.labels is None:
            return np.ones(len(pairs), dtype=bool)
        return np.asarray(self.labels[pairs[:, 0]] == self.labels[pairs[:, 1]])


class System(Protocol):
    """What the adaptive control and the layers ask of a right-hand side."""

    shift: float

    @property
    def beta(self) -> float:
        """Inverse temperature."""
        ...

    @property
    def rate(self) -> float:
        """Internal time per tau."""
        ...

    def keep(self, rows: Index) -> None:
        """Go on with these rows only (after a merge)."""
        ...

    def review(self, clusters: int) -> bool:
        """Told the number of clusters, change the field if another suits it better.

        True if it has changed.
        """
        ...

    def set_shift(self, shift: float) -> None:
        """Multiply all velocities by ``exp(shift - old shift)``, and time accordingly."""
        ...

    def velocity(self, tokens: Array, masses: Array) -> Array:
        """Tangent velocities ``(m, d)`` of unit rows ``(m, d)`` with masses ``(m,)``, per internal time."""
        ...

    def step(
        self, tokens: Array, masses: Array, velocity: Array, size: float, tolerance: float
    ) -> tuple[Array, Array, float]:
        """One step: new tokens, their velocity (if accepted), error as an angle."""
        ...

    def neighbours(
        self, tokens: Array, masses: Array, velocity: Array, near: float, report: float
    ) -> Neighbours:
        """Look at all pairs; `near` and `report` are squared chords, ``report <= near``."""
        ...

    def energy(self, tokens: Array, masses: Array) -> float:
        """``E = 1/2 sum_ij w_i w_j W_ij phi(<z_i, z_j>)`` of unit rows."""
        ...

    def speed(self, velocity: Array) -> float:
        """The largest length of any row of a velocity."""
        ...

    def layer(self, tokens: Array, masses: Array, size: float) -> tuple[Array, bool]:
        """Unit rows in the direction of ``tokens + size * velocity``; whether all numbers are finite."""
        ...

    def close(self) -> None:
        """The run has ended."""
        ...


class BaseSystem:
    """Shift, rate and labels, common to all engines."""

    def __init__(self, interaction: Interaction) -> None:
        self.interaction = interaction
        self.shift = 0.0

    @property
    def beta(self) -> float:
        """Inverse temperature."""
        return self.interaction.beta

    @property
    def rate(self) -> float:
        """Internal time per tau."""
        if self._unscaled:
            return 1.0
        return math.exp((0.0 if self.interaction.softmax else self.beta) - self.shift)

    @property
    def _unscaled(self) -> bool:
        return not isinstance(self.interaction.kernel.profile, Exponential)

    def set_shift(self, shift: float) -> None:
        """See :class:`System`."""
        self.shift = shift

    def review(self, _clusters: int) -> bool:
        """See :class:`System`: this field serves any number of clusters."""
        return False

    def velocity(self, tokens: Array, masses: Array) -> Array:
        """See :class:`System`."""
        raise NotImplementedError

    def speed(self, velocity: Array) -> float:
        """See :class:`System`."""
        return float(np.sqrt(np.max(np.sum(velocity**2, axis=-1))))

    def layer(self, tokens: Array, masses: Array, size: float) -> tuple[Array, bool]:
        """See :class:`System`."""
        moved = tokens + size * self.velocity(tokens, masses)
        # by the largest component first: the square of a step at beta 700 is no number
        moved /= np.max(np.abs(moved), axis=1, keepdims=True)
        moved /= np.linalg.norm(moved, axis=1, keepdims=True)
        return moved, bool(np.all(np.isfinite(moved)))

    def close(self) -> None:
        """See :class:`System`: nothing is held."""

    def _unit_shift(self, smallest: float) -> float:
        """The shift that makes the rate of the nearest pair, at this squared distance, one."""
        return self.shift if self._unscaled or not math.isfinite(smallest) else 0.5 * self.beta * smallest

    def _seen(
        self, smallest: float, fastest: float, widest: float, pairs: Index, squares: Array, rates: Array
    ) -> Neighbours:
        alike = self.interaction.alike(pairs)
        return Neighbours(
            pairs[alike], squares[alike], rates[alike], fastest, self._unit_shift(smallest), widest
        )


class CompiledSystem(BaseSystem):
    """The numba engine."""

    def __init__(self, interaction: Interaction) -> None:
        from usaav.flow import compiled

        super().__init__(interaction)
        self._engine: Any = compiled
        exponential = isinstance(interaction.kernel.profile, Exponential)
        weighted = interaction.labels is not None
        self._kind = (
            compiled.EXPONENTIAL * exponential
            + compiled.WEIGHTED * weighted
            + compiled.SOFTMAX * interaction.softmax
        )
        self._slope = -0.5 * self.beta * _LOG2_E
        self._coupling = np.zeros((1, 1))
        if interaction.labels is not None:
            self._coupling = np.ascontiguousarray(
                interaction.kernel.weights(interaction.labels, interaction.labels)
            )

    def keep(self, rows: Index) -> None:
        """Go on with these rows only."""
        self.interaction.keep(rows)
        if self.interaction.labels is not None:
            self._coupling = np.ascontiguousarray(self._coupling[np.ix_(rows, rows)])

    def velocity(self, tokens: Array, masses: Array) -> Array:
        """See :class:`System`."""
        velocity: Array = self._engine.velocity(
            tokens, masses, self._coupling, self._kind, self._slope, self.shift * _LOG2_E
        )
        return velocity

    def step(
        self, tokens: Array, masses: Array, velocity: Array, size: float, tolerance: float
    ) -> tuple[Array, Array, float]:
        """See :class:`System`."""
        stepped: tuple[Array, Array, float] = self._engine.step(
            tokens,
            velocity,
            masses,
            self._coupling,
            self._kind,
            self._slope,
            self.shift * _LOG2_E,
            size,
            tolerance,
        )
        return stepped

    def neighbours(
        self, tokens: Array, masses: Array, velocity: Array, near: float, report: float
    ) -> Neighbours:
        """See :class:`System`."""
        # labels that couple unlike must not use up the list; their matrix is as large as it can get
        most = _most_pairs(len(tokens)) if self.interaction.labels is None else len(tokens) ** 2
        return self._seen(*self._engine.neighbours(tokens, velocity, near, report, most))

    def energy(self, tokens: Array, masses: Array) -> float:
        """See :class:`System`."""
        total: float = self._engine.pair_energy(tokens, masses, self._coupling, self._kind, self._slope)
        return 0.5 * total * self.interaction.energy_unit


class ArraySystem(BaseSystem):
    """The plain engine, in tiles of rows: readable, no compiler, and any profile."""

    _TILE = 1 << 18  # entries of one tile

    def __init__(self, interaction: Interaction, xp: Any = np) -> None:
        super().__init__(interaction)
        self._xp = xp

    def keep(self, rows: Index) -> None:
        """Go on with these rows only."""
        self.interaction.keep(rows)

    def velocity(self, tokens: Array, masses: Array) -> Array:
        """See :class:`System`."""
        xp = self._xp
        velocity: Array = xp.empty_like(tokens)
        for rows, factor, _ in self._tiles(tokens, tangent=True):
            weighted = factor * masses
            total = xp.sum(weighted, axis=1)
            pull = weighted @ tokens - total[:, None] * tokens[rows]
            # tokens at the same point do not pull: what is left of the two sums is their rounding
            noise = 4.0 * np.finfo(float).eps * xp.sum(xp.abs(weighted), axis=1)[:, None]
            pull = xp.where(xp.abs(pull) <= noise, 0.0, pull)
            if self.interaction.softmax:
                pull /= (math.exp(-self.shift) * total + masses[rows])[:, None]
            tangent = pull - xp.sum(pull * tokens[rows], axis=1)[:, None] * tokens[rows]
            # a radial pull leaves only rounding, which must not act as a force (exactly antipodal tokens)
            # relative to the largest component, as the square of a pull at beta 700 is no number
            largest = xp.maximum(xp.max(xp.abs(pull), axis=1), np.finfo(float).tiny)[:, None]
            moved, pulled = (xp.sum((part / largest) ** 2, axis=1) for part in (tangent, pull))
            still = moved <= (8.0 * np.finfo(float).eps) ** 2 * pulled
            velocity[rows] = xp.where(still[:, None], 0.0, tangent)
        return velocity

    def step(
        self, tokens: Array, masses: Array, velocity: Array, size: float, tolerance: float
    ) -> tuple[Array, Array, float]:
        """See :class:`System`."""
        new, error = dormand_prince.step(lambda point: self.velocity(point, masses), tokens, velocity, size)
        accepted = error <= tolerance
        return new, self.velocity(new, masses) if accepted else velocity, error

    def neighbours(
        self, tokens: Array, masses: Array, velocity: Array, near: float, report: float
    ) -> Neighbours:
        """See :class:`System`."""
        smallest, fastest, widest, within = np.inf, 0.0, 0.0, 0
        found = [(np.empty((0, 2), dtype=np.int64), np.empty(0), np.empty(0))]
        room = _most_pairs(len(tokens))
        height = max(1, self._TILE // len(tokens))
        for start in range(0, len(tokens), height):
            rows = np.arange(start, min(start + height, len(tokens)))
            gap = tokens[None, :, :] - tokens[rows, None, :]
            square = np.sum(gap**2, axis=-1)
            square[np.arange(len(tokens))[None, :] <= rows[:, None]] = np.inf
            smallest = min(smallest, float(square.min()))
            i, j = np.nonzero(square < near)
            if len(i) > 0:
                apart = square[i, j]
                closing = -np.sum(gap[i, j] * (velocity[j] - velocity[rows[i]]), axis=-1)
                rates = np.divide(closing, apart, out=np.zeros_like(apart), where=apart > 0.0)
                fastest = max(fastest, float(rates.max()))
                meeting = (apart < report) & (rates >= 0.0)
                within += int(np.count_nonzero(meeting))
                widest = max(widest, float(apart.max(where=meeting, initial=0.0)))
                pairs = np.stack([rows[i], j], axis=1)
                told = np.flatnonzero((apart < report) & self.interaction.alike(pairs))[:room]
                room -= len(told)
                found.append((pairs[told], apart[told], rates[told]))
        everyone = 0 < within == len(tokens) * (len(tokens) - 1) // 2
        columns = (np.concatenate(column) for column in zip(*found, strict=True))
        return self._seen(smallest, fastest, widest if everyone else math.inf, *columns)

    def energy(self, tokens: Array, masses: Array) -> float:
        """See :class:`System`."""
        total = sum(
            float(masses[rows] @ (value @ masses)) for rows, _, value in self._tiles(tokens, tangent=False)
        )
        return 0.5 * total * self.interaction.energy_unit

    def _tiles(self, tokens: Array, *, tangent: bool) -> Any:
        """Rows, ``W_ij phi'(s)`` without the self terms (if `tangent`) and ``W_ij phi(s)``.

        Both divided by their unit.
        """
        xp, kernel, labels = self._xp, self.interaction.kernel, self.interaction.labels
        height = max(1, self._TILE // len(tokens))
        for start in range(0, len(tokens), height):
            rows = slice(start, start + height)
            inner = xp.clip(tokens[rows] @ tokens.T, -1.0, 1.0)
            here = xp.arange(inner.shape[0])
            if tangent:  # self terms, dropped below: with a large shift their exponential overflows
                inner[here, here + start] = -1.0
            if isinstance(kernel.profile, Exponential):
                derivative = xp.exp(self.beta * (inner - 1.0) + (self.shift if tangent else 0.0))
                value = derivative
            else:
                derivative, value = kernel.profile.derivative(inner), kernel.profile.value(inner)
            if labels is not None:
                coupling = kernel.weights(labels[rows], labels)
                derivative, value = derivative * coupling, value * coupling
            if tangent:
                derivative[here, here + start] = 0.0
            yield rows, derivative, value


def _most_pairs(clusters: int) -> int:
    """How many pairs a look lists at most."""
    return clusters * (_PAIRS_PER_TOKEN if clusters > _ALL_PAIRS else clusters)


def is_built_in(kernel: Kernel) -> bool:
    """Whether the compiled engine knows this kernel's profile."""
    return isinstance(kernel.profile, Exponential | Linear)
