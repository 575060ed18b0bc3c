"""Reduced tokens: clusters that have become one weighted token, and the record of how they merged.

Two tokens at the same point (in gauge coordinates, coupling alike) move alike for ever, so once a pair is
closer than a tolerance and approaching it is carried on as one token of summed mass. That removes the fast
rate inside a cluster, which is what makes exponentially long plateaus affordable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from usaav.flow.clock import Clock

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# positions at a merge are kept, for the angle at which later pairs start, only while there are this few
# clusters
_REMEMBERED = 512


@dataclass(frozen=True)
class Merge:
    """Two clusters became one.

    Attributes
    ----------
    time
        tau at which the pair crossed the reported angle (not the far smaller merge tolerance); for unions, at
        which their parts first did.
    first, second
        Names of the clusters: the smallest token index of each; `first` is the smaller and names the union.
    mass_first, mass_second
        Their masses (fractions of all tokens).
    duration
        tau since both clusters existed, known to more digits than the difference of two large times; NaN
        where that moment was not kept (merges among more than 512 clusters).
    angle_before
        Their angle (radians) at that moment; NaN likewise.
    """

    time: float
    first: int
    second: int
    mass_first: float
    mass_second: float
    duration: float
    angle_before: float


@dataclass(frozen=True)
class _Moment:
    """Where the clusters were right after a merge."""

    clock: Clock
    names: Index
    tokens: Array


def angle_between(first: Array, second: Array) -> float:
    """Angle of two unit vectors from their chord, exact also where the inner product is near 1."""
    return 2.0 * math.asin(min(1.0, 0.5 * float(np.linalg.norm(first - second))))


class Clusters:
    """The tokens of one run, reduced.

    Parameters
    ----------
    tokens : (n, d)
        Unit rows in gauge coordinates at tau = 0.
    angle
        The reported angle (radians): when a pair crosses it is the time of its merge.

    Attributes
    ----------
    tokens : (m, d)
        Unit rows, one per cluster, in gauge coordinates.
    masses : (m,)
        Their masses; they sum to 1.
    names : (m,)
        Smallest token index of each cluster.
    members : (n,)
        For each token the row of its cluster.
    merges
        The merges so far, in the order of detection.
    unrecorded
        Number of merges that :meth:`condense` made and that are not among them.
    wanted
        Squared chord of the reported angle.
    handover_time
        tau at which the direct field took over from another; -1 as long as none has.
    """

    def __init__(self, tokens: Array, angle: float) -> None:
        n = len(tokens)
        self.wanted = (2.0 * math.sin(0.5 * angle)) ** 2
        self.tokens = tokens.copy()
        self.masses = np.full(n, 1.0 / n)
        self.names: Index = np.arange(n)
        self.members: Index = np.arange(n)
        self.merges: list[Merge] = []
        self.unrecorded = 0
        self.handover_time = -1.0
        self._births: Index = np.zeros(n, dtype=np.int64)
        self._moments: list[_Moment | None] = [_Moment(Clock(), self.names, tokens.copy())]
        # by names: when a pair crossed the reported angle, and when the last merge of a cluster did
        self._crossings: dict[tuple[int, int], Clock] = {}
        self._formed: dict[int, Clock] = {}

    def __len__(self) -> int:
        """Number of clusters."""
        return len(self.tokens)

    def note_crossings(
        self,
        pairs: Index,
        squares: Array,
        rates: Array,
        clock: Clock,
        locate: Callable[[int, int], Clock | None],
    ) -> None:
        """Note when `pairs`, all that are now nearer than the reported angle, came to be so.

        Long before a pair merges its distance has fallen below the error tolerance, and with it the accuracy
        of its logarithm; at the crossing itself both are sound. A pair that has parted again is forgotten.

        Parameters
        ----------
        pairs, squares, rates
            Rows, squared chords and contraction rates per tau.
        clock
            Now.
        locate
            Tells when two rows crossed the angle, or None if that was before the last step: then the present
            rate is reckoned back.
        """
        noted = {}
        for (i, j), square, rate in zip(pairs.tolist(), squares, rates, strict=True):
            names = (int(self.names[i]), int(self.names[j]))
            noted[names] = self._crossings.get(names) or locate(i, j) or self._reckon(clock, square, rate)
        self._crossings = noted

    def merge(
        self, pairs: Index, velocities: Array, clock: Clock, rate: float, reach: float = math.inf
    ) -> Index:
        """Merge `pairs` of rows, nearest first, and record each merge.

        Parameters
        ----------
        pairs : (p, 2)
            Rows that are close and not moving apart.
        velocities : (m, d)
            Velocities per internal time; `rate` is internal time per tau.
        clock
            Now.
        reach
            How far merges may move any row. Pairs that would do more, as a light row beside a heavy one or
            the ends of a chain, stay apart for now.

        Returns
        -------
        keep : (m',)
            The rows that live on, for the caller's own per-row data.
        """
        alive = np.ones(len(self), dtype=bool)
        parent = np.arange(len(self))
        moved = np.zeros(len(self))  # at most, any part of the row's cluster
        velocities = velocities.copy()
        for pair in self._spanning(pairs):
            i, j = sorted(
                (_root(parent, int(pair[0])), _root(parent, int(pair[1]))), key=lambda row: self.names[row]
            )
            farthest = self._moved(i, j, moved)
            if i != j and farthest <= reach:
                moved[i] = farthest
                self.merges.append(self._event(i, j, velocities, clock, rate))
                self._join(i, j, velocities)
                parent[j], alive[j] = i, False
                self._births[i] = len(self._moments)
        keep = np.flatnonzero(alive)
        if len(keep) == len(self):
            return keep
        roots = np.array([_root(parent, row) for row in range(len(self))])
        new_row = np.cumsum(alive) - 1
        self.members = new_row[roots[self.members]]
        self.tokens, self.masses = self.tokens[keep], self.masses[keep]
        self.names, self._births = self.names[keep], self._births[keep]
        few = len(keep) <= _REMEMBERED
        self._moments.append(_Moment(clock.copy(), self.names.copy(), self.tokens.copy()) if few else None)
        return keep

    def _spanning(self, pairs: Index) -> Index:
        """Those of `pairs` that connect what all of them connect, nearest first: at most one less than rows.

        A cloud that meets as a whole has a pair for any two of its tokens.
        """
        gaps = np.linalg.norm(self.tokens[pairs[:, 0]] - self.tokens[pairs[:, 1]], axis=1)
        nearest = pairs[np.argsort(gaps, kind="stable")]
        if len(pairs) < len(self):
            return nearest
        # a third of a second to import, and most runs never meet a cloud
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import minimum_spanning_tree

        # ranks instead of gaps: the tree is then the one that going through the sorted list would give
        ranks = np.arange(1.0, len(pairs) + 1.0)
        graph = csr_array((ranks, (nearest[:, 0], nearest[:, 1])), shape=(len(self), len(self)))
        tree = minimum_spanning_tree(graph)
        return nearest[np.sort(tree.data).astype(np.int64) - 1]

    def condense(self, groups: Index) -> Index:
        """Merge whole groups of tokens at once, without an event for each merge: for very many tokens.

        Parameters
        ----------
        groups : (m,)
            Number of each row's group, counted in the order of first rows.

        Returns
        -------
        keep : (m',)
            The first row of each group, for the caller's own per-row data.
        """
        _, keep = np.unique(groups, return_index=True)
        masses = np.bincount(groups, self.masses)
        # differences to the first row keep all digits of a tight group
        offsets = self.masses[:, None] * (self.tokens - self.tokens[keep][groups])
        means = np.column_stack([np.bincount(groups, column) for column in offsets.T]) / masses[:, None]
        tokens = self.tokens[keep] + means
        grown = np.bincount(groups) > 1
        self.tokens = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
        self.masses, self.names = masses, self.names[keep]
        self._births = np.where(grown, len(self._moments), self._births[keep])
        self._moments.append(None)
        self.members = groups[self.members]
        self.unrecorded += len(groups) - len(keep)
        return keep

    def _moved(self, i: int, j: int, moved: Array) -> float:
        """How far the parts of two rows would have been moved, if these two were joined as well."""
        gap = float(np.linalg.norm(self.tokens[j] - self.tokens[i]))
        share = self.masses[j] / (self.masses[i] + self.masses[j])
        return float(max(moved[i] + share * gap, moved[j] + (1.0 - share) * gap))

    def _join(self, i: int, j: int, velocities: Array) -> None:
        total = self.masses[i] + self.masses[j]
        share = self.masses[j] / total
        token = self.tokens[i] + share * (self.tokens[j] - self.tokens[i])
        self.tokens[i] = token / np.linalg.norm(token)
        velocities[i] += share * (velocities[j] - velocities[i])
        self.masses[i] = total

    def _event(self, i: int, j: int, velocities: Array, clock: Clock, rate: float) -> Merge:
        names = (int(self.names[i]), int(self.names[j]))
        chord = self.tokens[j] - self.tokens[i]
        square = float(chord @ chord)
        crossing = self._crossings.get(names)
        if crossing is None:
            closing = -float(chord @ (velocities[j] - velocities[i]))
            crossing = self._reckon(clock, square, closing / square * rate if square > 0.0 else 0.0)
        # no cluster merges before it was formed
        crossing = _latest(Clock(), crossing, *(self._formed[name] for name in names if name in self._formed))
        self._formed[names[0]] = crossing
        self._inherit(*names)
        masses = float(self.masses[i]), float(self.masses[j])
        born = max(self._births[i], self._births[j])
        if born == len(self._moments):  # one of them is as old as this very look
            return Merge(crossing.time, *names, *masses, 0.0, angle_between(self.tokens[i], self.tokens[j]))
        start = self._moments[born]
        if start is None:
            return Merge(crossing.time, *names, *masses, math.nan, math.nan)
        rows = [int(np.flatnonzero(start.names == name)[0]) for name in names]
        before = angle_between(start.tokens[rows[0]], start.tokens[rows[1]])
        return Merge(crossing.time, *names, *masses, max(0.0, crossing.since(start.clock)), before)

    def _inherit(self, first: int, second: int) -> None:
        """The union, named `first`, was near another cluster as soon as one of its two parts was."""
        inherited: dict[tuple[int, int], Clock] = {}
        for pair, when in self._crossings.items():
            one, other = sorted(first if name == second else name for name in pair)
            known = inherited.get((one, other))
            if one != other and (known is None or when.since(known) < 0.0):
                inherited[one, other] = when
        self._crossings = inherited

    def _reckon(self, clock: Clock, square: float, rate: float) -> Clock:
        """When a pair now at squared chord `square`, always contracting at `rate`, crossed the angle."""
        crossing = clock.copy()
        if 0.0 < square < self.wanted and rate > 0.0:
            crossing.advance(-0.5 * math.log(self.wanted / square) / rate)
        return crossing


def _latest(first: Clock, *others: Clock) -> Clock:
    for other in others:
        first = other if other.since(first) > 0.0 else first
    return first


def _root(parent: Index, row: int) -> int:
    while parent[row] != row:
        row = int(parent[row])
    return row
