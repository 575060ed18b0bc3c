"""The control of the adaptive integration: step sizes, merges, output times. Written once for every engine.

Steps are Dormand-Prince 8(5,3) with the error measured as the largest angle of any token. Beyond the
textbook:

* the proposed step is multiplied by ``min(1, max|f_old| / max|f_new|)``: leaving a plateau, the speed rises
  like a blow-up;
* after a merge the step is kept but raised to the scale of the new plateau;
* close pairs cap the step below the method's limit of stability, so that they contract cleanly down to the
  merge tolerance although their distance is long below the error tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usaav.errors import SimulationError
from usaav.flow.cells import PART
from usaav.flow.clock import Clock
from usaav.flow.clusters import Clusters
from usaav.flow.dormand_prince import ORDER
from usaav.flow.systems import Neighbours, System

Array = NDArray[np.float64]

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 8.0
# |R(-x)| of the order-8 step stays below exp(-2.5) up to here; its limit of stability is near 6
_STABLE = 4.0
# pairs nearer than this chord report their contraction rate
_NEAR = 1e-3
# the crossing of the reported angle is watched for while there are this few clusters (later merges are the
# ones whose times matter)
_FEW = 32
# crossings are located to this part of an e-fold of the distance, in so many trials (three are usual)
_CROSSED = 1e-12
_MOST_TRIALS = 12
# a step that moves no token by this angle and is still too large for the tolerance can't be resolved in
# float64
_SMALLEST_MOVE = 1e-15
# rates are rescaled once the nearest pair's has drifted by this power of e
_DRIFT = 30.0


@dataclass(frozen=True)
class Options:
    """Tolerances of one integration (angles in radians).

    Attributes
    ----------
    rtol
        Largest local error of a step.
    merge_tolerance
        Pairs closer than this and approaching become one, if that moves no token by nearly as much.
    merge_angle
        The angle whose crossing is reported as the time of a merge.
    max_steps
        Guard against endless runs.
    """

    rtol: float = 1e-9
    merge_tolerance: float = 1e-9
    merge_angle: float = 1e-3
    max_steps: int = 5_000_000


Observer = Callable[[int, Clusters], None]


def integrate(
    system: System, tokens: Array, times: Array, options: Options, observe: Observer
) -> tuple[Clusters, int]:
    """Integrate one run and call ``observe(k, clusters)`` at each of `times`, landed on exactly.

    Parameters
    ----------
    system
        The right-hand side of this run.
    tokens : (n, d)
        Unit rows in gauge coordinates at tau = 0.
    times
        Increasing, first >= 0.

    Returns
    -------
    clusters, steps
        The last state with the record of its merges, and the number of accepted and rejected steps.

    Raises
    ------
    SimulationError
        Non-finite state, step underflow, or too many steps; the message names tau and beta.
    """
    run = _Run(system, Clusters(tokens, options.merge_angle), options)
    for index, time in enumerate(times):
        run.advance_to(float(time))
        observe(index, run.clusters)
    return run.clusters, run.steps


class _Step(NamedTuple):
    """An accepted step: where it began, and its size in internal time."""

    clock: Clock
    tokens: Array
    velocity: Array
    size: float


class _Run:
    def __init__(self, system: System, clusters: Clusters, options: Options) -> None:
        self.system, self.clusters, self.options = system, clusters, options
        self.clock = Clock()
        self.steps = 0
        self.velocity = system.velocity(clusters.tokens, clusters.masses)
        self.speed = system.speed(self.velocity)
        self.size = 0.0
        self.cap = math.inf
        self.until_look = 0
        self.last: _Step | None = None
        self._look()
        self.size = self._natural_size()

    def advance_to(self, time: float) -> None:
        while True:
            remaining = self.clock.until(time)
            if remaining <= 0.0:
                return
            if self.speed == 0.0:  # at rest: nothing will ever move again
                self.clock.set(time)
                return
            self._step(time, remaining * self.system.rate)

    def _step(self, time: float, remaining: float) -> None:
        proposed = min(self.size, self.cap)
        size = min(proposed, remaining)
        clusters, tolerance = self.clusters, self.options.rtol
        tokens, velocity, error = self.system.step(
            clusters.tokens, clusters.masses, self.velocity, size, tolerance
        )
        self.steps += 1
        self._check(error, size)
        factor = (
            min(_GROW, max(_SHRINK, _SAFETY * (error / tolerance) ** (-1.0 / ORDER)))
            if error > 0.0
            else _GROW
        )
        if error > tolerance:
            self.size = size * min(factor, _SAFETY)
            return
        self.last = _Step(self.clock.copy(), clusters.tokens, self.velocity, size)
        if size == remaining:
            self.clock.set(time)
        else:
            self.clock.advance(size / self.system.rate)
        clusters.tokens, self.velocity = tokens, velocity
        speed = self.system.speed(velocity)
        slowdown = min(1.0, self.speed / speed) if speed > 0.0 else 1.0
        # a step cut short by an output time says little about the next
        self.size = max(proposed if size < proposed else 0.0, size * factor) * slowdown
        self.speed = speed
        self.until_look -= 1
        if self.until_look <= 0:
            self._look()

    def _look(self) -> None:
        """Merge what has met, cap the step by the fastest contraction, keep rates in range."""
        before = len(self.clusters)
        seen = self._see()
        while self._merge(seen):
            self._refresh()
            self.last = None  # its rows are others
            seen = self._see()
        if seen.widest < self.options.merge_tolerance**2 and len(seen.pairs) == 0:
            self._rest()  # none of them may merge
            return
        self.cap = _STABLE / seen.fastest if seen.fastest > 0.0 else math.inf
        drift = seen.unit_shift - self.system.shift
        if abs(drift) > _DRIFT:
            self.system.set_shift(seen.unit_shift)
            self._refresh()
            factor = math.exp(min(700.0, -drift))
            self.size *= factor
            if seen.fastest > 0.0:  # inf times a factor of 0 is no number
                self.cap *= factor
        m = len(self.clusters)
        if m < before:
            self.size = max(self.size, self._natural_size())
        self.until_look = 1 if m <= 64 else 4 if m <= 2048 else 16

    def _see(self) -> Neighbours:
        clusters, options = self.clusters, self.options
        few = len(clusters) <= _FEW
        report = clusters.wanted if few else options.merge_tolerance**2
        seen = self.system.neighbours(
            clusters.tokens, clusters.masses, self.velocity, max(_NEAR**2, report), report
        )
        if few:
            rates = seen.rates * self.system.rate
            clusters.note_crossings(seen.pairs, seen.squares, rates, self.clock, self._locate)
        return seen

    def _locate(self, i: int, j: int) -> Clock | None:
        """When rows i and j crossed the reported angle, if that was within the last step.

        Newton's method on the logarithm of the distance, for the size of the step that would end there.
        """
        clusters, last = self.clusters, self.last
        if last is None or _approach(last.tokens, last.velocity, i, j)[0] <= clusters.wanted:
            return None
        size, tokens, velocity = last.size, clusters.tokens, self.velocity
        for _ in range(_MOST_TRIALS):
            square, rate = _approach(tokens, velocity, i, j)
            if rate <= 0.0:
                return None
            change = 0.5 * math.log(square / clusters.wanted) / rate
            size = min(max(size + change, 0.0), last.size)
            if abs(change) * rate < _CROSSED:
                break
            tokens, velocity, _ = self.system.step(
                last.tokens, clusters.masses, last.velocity, size, math.inf
            )
            self.steps += 1
        crossing = last.clock.copy()
        crossing.advance(size / self.system.rate)
        return crossing

    def _merge(self, seen: Neighbours) -> bool:
        """Merge what was seen to meet; whether anything has changed.

        So that velocities are to be computed anew.
        """
        clusters, options = self.clusters, self.options
        if seen.groups is not None:
            clusters.tokens = np.asarray(clusters.tokens)
            self.system.keep(clusters.condense(seen.groups))
            self._review()
            return True
        meeting = (seen.squares < options.merge_tolerance**2) & (seen.rates >= 0.0)
        if meeting.any():
            clusters.tokens = np.array(clusters.tokens)  # merges are made on the host, in place
            velocity = np.asarray(self.velocity)
            before = len(clusters)
            reach = PART * options.merge_tolerance
            kept = clusters.merge(seen.pairs[meeting], velocity, self.clock, self.system.rate, reach)
            if len(kept) < before:
                self.system.keep(kept)
                return True
        return self._review()

    def _review(self) -> bool:
        """Let the system change its field, and note when it does."""
        changed = self.system.review(len(self.clusters))
        if changed:
            self.clusters.handover_time = self.clock.time
        return changed

    def _rest(self) -> None:
        """Stop: a consensus has no dynamics left, though labels that couple differently may not merge."""
        tokens = np.asarray(self.clusters.tokens)
        mean = tokens[0] + self.clusters.masses @ (tokens - tokens[0])
        self.clusters.tokens = np.tile(mean / np.linalg.norm(mean), (len(tokens), 1))
        self.velocity, self.speed = np.zeros_like(tokens), 0.0

    def _refresh(self) -> None:
        self.velocity = self.system.velocity(self.clusters.tokens, self.clusters.masses)
        self.speed = self.system.speed(self.velocity)

    def _natural_size(self) -> float:
        """A step on the scale of the present motion: 0.02 of the angle over which the field changes."""
        return 0.02 / (max(1.0, self.system.beta) * self.speed) if self.speed > 0.0 else self.size

    def _check(self, error: float, size: float) -> None:
        where = f"at tau = {self.clock.time:.6g}, beta = {self.system.beta:g}, {len(self.clusters)} clusters"
        if not math.isfinite(error):
            raise SimulationError(
                f"non-finite state {where}: the tokens or labels given are out of range, or this is a bug"
            )
        if error > self.options.rtol and size * self.speed < _SMALLEST_MOVE:
            raise SimulationError(
                f"step underflow {where}: rtol = {self.options.rtol:g} can't be met in float64; "
                "try a larger rtol"
            )
        if self.steps > self.options.max_steps:
            raise SimulationError(
                f"more than {self.options.max_steps} steps {where}: raise rtol or shorten the run"
            )


def _approach(tokens: Array, velocity: Array, i: int, j: int) -> tuple[float, float]:
    """Squared distance of two rows and the rate ``-d log(distance)/ds`` at which they come closer."""
    gap = tokens[j] - tokens[i]
    square = float(gap @ gap)
    return square, -float(gap @ (velocity[j] - velocity[i])) / square if square > 0.0 else 0.0
