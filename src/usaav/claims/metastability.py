"""Metastability: several clusters stand for times exponential in beta, then merge two by two as predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usaav.claims.evidence import Evidence
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.metrics.merges import Events, run_events
from usaav.metrics.token_data import angles, token_count
from usaav.theory import two_cluster_time

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_PLACE = "(metastability)"
ONE_CLUSTER = Statement("one_cluster", f"In gauge coordinates every run ends with one cluster {_PLACE}.")
LAST_MERGE = Statement(
    "",
    "The last merge, from the moment two clusters are left, takes the time of the two-cluster quadrature, "
    f"as a fraction of it {_PLACE}.",
)
PAIRS = Statement(
    "pairs",
    "Earlier, a pair that is isolated from the other clusters merges in the quadrature's time divided by its "
    f"mass, as a fraction of it {_PLACE}.",
)
SLOPE = Statement(
    "slope",
    "Over all beta the logarithm of the last plateau's length follows the predicted one: slope of the "
    f"regression {_PLACE}.",
)
#: clusters at most, when pairs are looked at: more do not stand still
_FEW_CLUSTERS = 24
#: angles at a snapshot, in merge angles, above which the way that is left is long enough to be timed
_LONG_WAY = 10.0


class Pair(NamedTuple):
    """A pair of clusters at a stored time, which merges next.

    Attributes
    ----------
    influence
        Pull of all other clusters on the two, relative to their own.
    ratio
        Time to their merge over the predicted one.
    """

    influence: float
    ratio: float


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    pairs: float = 0.05,
    isolated: float = 0.1,
    slope: float = 0.01,
) -> list[Verdict]:
    """Every run ends with one cluster; last merge, earlier pairs and the slope over all beta as predicted.

    Parameters
    ----------
    cases
        Of weight 1, several beta, run to one cluster.
    tolerance
        Largest relative deviation of the last merge.
    pairs
        The same for earlier pairs.
    isolated
        A pair counts as isolated while the others' pull on it is less than this fraction of its own.
    slope
        Largest deviation of the slope from 1.
    """
    verdicts, lengths = [], []
    for case in cases:
        runs = case.seeds
        verdicts.append(judge(ONE_CLUSTER, case.where, case.at("gauge_cluster_count"), 1.0, 0.0))
        last = case.events[case.events["clusters_left"] == 1] if len(case.events) else case.events
        ratios = np.full(runs, np.nan)
        if len(last):
            ratios[: len(last)] = last["duration"] / last["predicted_duration"]
            lengths += list(zip(last["predicted_duration"], last["duration"], strict=True))
        found = [pair for run in all_pairs(case) for pair in run if pair.influence < isolated]
        # no row for what was not observed: it would hold without having been tested
        notes = [] if found else ["earlier merges of isolated pairs: 0 observed, so not judged"]
        verdicts.append(judge(LAST_MERGE, case.where, ratios, 1.0, tolerance, notes))
        if found:
            notes = [f"{len(found)} observations of isolated pairs"]
            verdicts.append(
                judge(PAIRS, case.where, [pair.ratio for pair in found], 1.0, pairs, notes, runs=runs)
            )
    verdicts.append(_slope(cases, lengths, slope))
    return verdicts


def _slope(cases: Sequence[Evidence], lengths: Sequence[tuple[float, float]], tolerance: float) -> Verdict:
    points = np.log(np.array(lengths, dtype=np.float64).reshape(-1, 2))
    points = points[np.isfinite(points).all(axis=1)]
    spread = len(points) > 1 and float(np.ptp(points[:, 0])) > 0.0
    measured = float(np.polyfit(points[:, 0], points[:, 1], 1)[0]) if spread else np.nan
    names = sorted({case.case.experiment for case in cases})
    betas = sorted({case.kernel.beta for case in cases})
    notes = [f"one regression, beta = {betas[0]:g} ... {betas[-1]:g}"]
    return judge(SLOPE, ", ".join(names), measured, 1.0, tolerance, notes, runs=len(points))


def all_pairs(case: Evidence) -> list[list[Pair]]:
    """For each run, the pairs that merge next as seen at the stored times, while three or more are left."""
    dataset, kernel = case.dataset(), case.kernel
    merge_angle, n = float(dataset.attrs["merge_angle"]), token_count(dataset)
    axis = "snapshot_time" if "snapshot_time" in dataset.coords else "time"
    times = dataset[axis].values
    labels = dataset["label"].values if kernel.needs_labels else [None] * case.seeds
    tokens = dataset["tokens"].transpose("run", ..., "token", "component").values
    if tokens.shape[2] < n:
        return [[] for _ in range(case.seeds)]
    found: list[list[Pair]] = []
    for run, events in enumerate(run_events(dataset)):
        found.append([])
        members, merged = np.arange(n), 0
        for row, time in enumerate(times):
            done = int(np.searchsorted(events.times, time, side="right"))
            _merge(members, events, merged, done)
            merged = done
            if done < len(events.times) and 2 < events.before - done <= _FEW_CLUSTERS:
                z = kernel.to_gauge(tokens[run, row], labels[run])
                pair = _pair(z, members, events.first[done], events.second[done], kernel.beta, merge_angle)
                if pair is not None:
                    found[-1].append(pair._replace(ratio=(events.times[done] - time) / pair.ratio))
    return found


def _pair(z: Array, members: Index, first: int, second: int, beta: float, merge_angle: float) -> Pair | None:
    """The clusters of two tokens, with the predicted time to their merge as the ratio."""
    names, rows, counts = np.unique(members, return_inverse=True, return_counts=True)
    masses = counts / len(z)
    sums = np.zeros((len(names), z.shape[1]))
    np.add.at(sums, rows.reshape(-1), z)
    centres = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    i, j = (int(rows.reshape(-1)[token]) for token in (first, second))
    gaps = angles(centres[:, None], centres[None])
    if i == j or not _LONG_WAY * merge_angle < gaps[i, j] < np.pi:
        return None
    pulls = np.sin(gaps) * np.exp(np.minimum(beta * (np.cos(gaps) - np.cos(gaps[i, j])), 600.0))
    others = np.setdiff1d(np.arange(len(names)), [i, j])
    own = (masses[i] + masses[j]) * pulls[i, j]
    influence = float(masses[others] @ (pulls[i, others] + pulls[j, others]) / own)
    return Pair(influence, two_cluster_time(gaps[i, j], merge_angle, beta) / (masses[i] + masses[j]))


def _merge(members: Index, events: Events, start: int, stop: int) -> None:
    """Bring the cluster of each token up to date, from `start` merges to `stop`.

    Events of one moment may stand in any order, so the clusters are found by a token of theirs.
    """
    for one, other in zip(events.first[start:stop], events.second[start:stop], strict=True):
        members[members == members[other]] = members[one]
