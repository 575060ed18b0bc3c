"""What the exact merge events of a run tell: the merge tree, plateaus of the cluster count, and their ends.

Clusters are those of the integrator, in gauge coordinates: tokens that have come to one point and move alike
for ever. With a gauge each is a whole orbit of content.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.metrics.token_data import token_count

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Events:
    """The merges of one run, in the order of time.

    Attributes
    ----------
    times : (m,)
        tau of each.
    first, second : (m,)
        The two clusters, each named by its smallest token.
    before
        Number of clusters before the first of these merges.
    unrecorded
        Number of earlier merges that were made in bulk, among very many tokens, at times that are not known.
    """

    times: Array
    first: Index
    second: Index
    before: int
    unrecorded: int

    @property
    def left(self) -> Index:
        """Number of clusters after each merge, ``(m,)``."""
        return self.before - 1 - np.arange(len(self.times))

    def count(self, times: Array) -> Array:
        """Number of clusters at `times`; NaN before the first merge where earlier ones were not recorded."""
        done = np.searchsorted(self.times, times, side="right")
        known = (done > 0) | (self.unrecorded == 0)
        return np.where(known, self.before - done, np.nan)


def run_events(dataset: xr.Dataset) -> list[Events]:
    """Merges of each run of `dataset`; empty where nothing has merged.

    Raises
    ------
    DataError
        The run could not record merges: it is not one of method adaptive.
    """
    runs = dataset.sizes.get("run", 1)
    if dataset.attrs.get("method") != "adaptive":
        raise DataError("merge events: the data hold none; only runs with method adaptive record them")
    bulk = np.zeros(runs, dtype=np.int64)
    if "unrecorded_merges" in dataset:
        bulk = bulk + dataset["unrecorded_merges"].values
    before = token_count(dataset) - bulk
    if "merge_time" not in dataset:
        nothing = np.zeros(0, dtype=np.int64)
        return [
            Events(np.zeros(0), nothing, nothing, int(before[run]), int(bulk[run])) for run in range(runs)
        ]
    times, first, second = (
        dataset[name].transpose(..., "merge").values.reshape(runs, -1)
        for name in ("merge_time", "merge_first", "merge_second")
    )
    found = np.isfinite(times)
    return [
        Events(times[run][there], first[run][there], second[run][there], int(before[run]), int(bulk[run]))
        for run, there in enumerate(found)
    ]


def merge_tree(dataset: xr.Dataset) -> xr.DataArray:
    """The merges of each run as a linkage table of :mod:`scipy.cluster.hierarchy`.

    Row k of a run that ends with one cluster is that of ``scipy``: the two clusters (below n: a token; n + j:
    the union of row j), tau in place of the distance, and the number of tokens of the union. ``dendrogram``
    takes ``merge_tree(ds).isel(run=0).values``.

    Parameters
    ----------
    dataset
        Result of :func:`usaav.simulate`.

    Returns
    -------
    xarray.DataArray ``(run, merge, column)``
        Columns first, second, time, size; NaN at the end of runs with fewer merges than others.

    Raises
    ------
    DataError
        `dataset` records no merges, or not all of them, being of very many tokens.
    """
    events = run_events(dataset)
    n = token_count(dataset)
    if any(event.unrecorded for event in events):
        raise DataError("merge_tree: the first merges among these many tokens were not recorded one by one")
    most = max((len(event.times) for event in events), default=0)
    table = np.full((len(events), most, 4), np.nan)
    for run, event in enumerate(events):
        table[run, : len(event.times)] = _linkage(event, n)
    names = ["first", "second", "time", "size"]
    return _per_run(
        dataset, table, ("merge", "column"), {"column": names}, "merge_tree", "merges as a linkage"
    )


def _linkage(events: Events, n: int) -> Array:
    parent = np.arange(n)
    number, size = np.arange(n), np.ones(n)
    rows = np.empty((len(events.times), 4))
    for k, (time, one, other) in enumerate(zip(events.times, events.first, events.second, strict=True)):
        i, j = _root(parent, int(one)), _root(parent, int(other))
        parent[j] = i
        rows[k] = (*sorted((number[i], number[j])), time, size[i] + size[j])
        number[i], size[i] = n + k, size[i] + size[j]
    return rows


def _root(parent: Index, token: int) -> int:
    while parent[token] != token:
        parent[token] = parent[parent[token]]
        token = int(parent[token])
    return token


def plateaus(dataset: xr.Dataset) -> xr.DataArray:
    """Stretches of constant cluster count of each run, in the order of time.

    Parameters
    ----------
    dataset
        Result of :func:`usaav.simulate`.

    Returns
    -------
    xarray.DataArray ``(run, plateau, column)``
        Columns start, end (tau) and count. The first plateau starts at 0, or at NaN where earlier merges
        among very many tokens were not recorded. The end of the last is NaN: the run ended before the plateau
        did, so its end is not known. All three are NaN where a run has fewer plateaus than others.

    Raises
    ------
    DataError
        `dataset` records no merges.
    """
    rows = [_stretches(event) for event in run_events(dataset)]
    most = max(len(row) for row in rows)
    table = np.stack([np.pad(row, ((0, most - len(row)), (0, 0)), constant_values=np.nan) for row in rows])
    names = ["start", "end", "count"]
    long_name = "stretches of constant cluster count"
    return _per_run(dataset, table, ("plateau", "column"), {"column": names}, "plateaus", long_name)


def _stretches(events: Events) -> Array:
    """Rows (start, end, count); merges at the same time leave no stretch between them."""
    changes = np.unique(events.times[events.times > 0.0])
    starts = np.concatenate([[0.0], changes])
    counts = events.before - np.searchsorted(events.times, starts, side="right")
    starts[0] = np.nan if events.unrecorded else 0.0
    return np.column_stack([starts, np.append(changes, np.nan), counts])


def metastability_times(dataset: xr.Dataset, count: int = 1) -> xr.DataArray:
    """Time tau at which a run first has `count` clusters or fewer; for 1: when the last plateau ends.

    Parameters
    ----------
    dataset
        Result of :func:`usaav.simulate`.
    count
        Number of clusters, at least 1.

    Returns
    -------
    xarray.DataArray ``(run,)``
        NaN where the run ended first: the time is not known, only that it is later. Also where that moment
        was among the unrecorded merges of very many tokens.

    Raises
    ------
    DataError
        `dataset` records no merges, or `count` is below 1.
    """
    if count < 1:
        raise DataError(f"count = {count!r}: expected a number of clusters, at least 1")
    times = [_reached(event, count) for event in run_events(dataset)]
    long_name = f"tau at which {count} cluster(s) are left; NaN: not before the run ended"
    return _per_run(dataset, np.array(times), (), {}, "metastability_times", long_name)


def _reached(events: Events, count: int) -> float:
    needed = events.before - count
    if needed <= 0:
        return np.nan if events.unrecorded else 0.0
    return float(events.times[needed - 1]) if len(events.times) >= needed else np.nan


def _per_run(
    dataset: xr.Dataset,
    values: Array,
    dims: tuple[str, ...],
    coords: dict[str, list[str]],
    name: str,
    long_name: str,
) -> xr.DataArray:
    kept = {"seed": dataset["seed"]} if "seed" in dataset.coords else {}
    if "run" not in dataset.dims:
        values = values[0]
    else:
        dims = ("run", *dims)
    return xr.DataArray(
        values, dims=dims, coords={**kept, **coords}, name=name, attrs={"long_name": long_name, "units": "1"}
    )
