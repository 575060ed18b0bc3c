"""Tidy tables of an experiment: one row per case, seed and time, and one per merge of two clusters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from usaav.datasets import open_
from usaav.kernels import Exponential, Kernel
from usaav.metrics.clusters import cluster_count
from usaav.metrics.columns import describe
from usaav.metrics.dirac import dirac_distance
from usaav.metrics.energies import dataset_kernel
from usaav.metrics.merges import Events, run_events
from usaav.metrics.token_data import token_count
from usaav.theory import energy_bound, two_cluster_time
from usaav.whole_files import write_text

Array = NDArray[np.float64]

#: columns of a table of merges without any rows
EVENT_COLUMNS = ("experiment", "case", "seed", "merge", "clusters_left", "time")
#: predictions for merges are given while at most so many clusters are left
_FEW_CLUSTERS = 16


def write_tables(
    datasets: Iterable[Path | str],
    cluster_angle: float,
    table: Path | str,
    events: Path | str,
    columns: Path | str,
) -> None:
    """Measure the data files of one experiment and write its three tables, each whole or not at all.

    Parameters
    ----------
    datasets
        Files ``<experiment>/<case>.nc`` of :func:`usaav.datasets.save`; rows keep their order.
    cluster_angle
        Radians, see :func:`usaav.metrics.cluster_count`.
    table, events, columns
        CSV files to write: :func:`time_table`, :func:`event_table`, and what each column is with its unit.
        Equal data give equal bytes. Missing values are empty fields.

    Raises
    ------
    DataError
        A data file can't be used, or a table can't be written.
    """
    loaded = [open_(Path(path), in_place=True) for path in datasets]
    times, merges = time_table(loaded, cluster_angle), event_table(loaded)
    _write(times, table)
    _write(merges, events)
    _write(describe([("time", times), ("event", merges)], cluster_angle), columns)


def time_table(datasets: Iterable[xr.Dataset], cluster_angle: float = 0.1) -> pd.DataFrame:
    """One row per case, seed and output time.

    Parameters
    ----------
    datasets
        Datasets with the attributes experiment, case and settings (JSON of a case), as the workflow writes
        them; without them, columns that need them are left out or empty.
    cluster_angle
        Radians, see :func:`usaav.metrics.cluster_count`.

    Returns
    -------
    pandas.DataFrame
        Columns: see :data:`usaav.metrics.columns.COLUMNS`. What is measured on tokens is missing where tokens
        were not stored.
    """
    return _concatenated([_times_of(dataset, cluster_angle) for dataset in datasets])


def event_table(datasets: Iterable[xr.Dataset]) -> pd.DataFrame:
    """One row per case, seed and merge, in the order of time; no rows for methods that record no merges.

    Parameters and columns as in :func:`time_table`.
    """
    merges = _concatenated([_events_of(dataset) for dataset in datasets])
    return merges if len(merges.columns) else pd.DataFrame(columns=list(EVENT_COLUMNS))


def case_columns(dataset: xr.Dataset) -> dict[str, Any]:
    """What is the same in all rows of a case: its names, size, beta and what distinguishes it."""
    case = json.loads(dataset.attrs.get("settings", "{}"))
    return {
        "experiment": dataset.attrs.get("experiment", ""),
        "case": dataset.attrs.get("case", ""),
        "n_tokens": token_count(dataset),
        "dim": dataset.sizes["component"],
        "beta": dataset_kernel(dataset).beta,
        **{key: _plain(value) for key, value in case.get("parameters", {}).items() if key != "dim"},
    }


def _plain(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value


def _times_of(dataset: xr.Dataset, cluster_angle: float) -> pd.DataFrame:
    runs, times = dataset.sizes["run"], dataset["time"].values
    count = len(times)
    return pd.DataFrame(
        {
            **case_columns(dataset),
            "seed": np.repeat(dataset["seed"].values, count),
            "time": np.tile(times, runs),
            "dirac_distance": _flat(dataset["dirac_distance"]),
            "geodesic_dirac_distance": _on_snapshots(dataset, _geodesic_at_the_ends),
            "order_parameter": np.linalg.norm(
                dataset["mean_token"].transpose("run", "time", "component"), axis=-1
            ).reshape(-1),
            "energy": _flat(dataset["energy"]),
            "energy_maximum": np.repeat(_energy_maxima(dataset), count),
            "conditional_dirac_distance": _flat(dataset["conditional_dirac_distance"])
            if "conditional_dirac_distance" in dataset
            else np.nan,
            "cluster_count": _whole(
                _on_snapshots(dataset, lambda stored: cluster_count(stored, cluster_angle).values)
            ),
            "gauge_cluster_count": _whole(_clusters_left(dataset, times)),
        }
    )


def _flat(values: xr.DataArray) -> Array:
    return np.asarray(values.transpose("run", "time").values, dtype=np.float64).reshape(-1)


def _whole(values: Array) -> pd.Series:
    """Whole numbers with missing values where there is NaN."""
    return pd.Series(values).astype("Int64")


def _on_snapshots(dataset: xr.Dataset, measure: Callable[[xr.Dataset], Array]) -> Array:
    """`measure` of the stored tokens, laid out over all runs and times, NaN where no tokens are stored."""
    times = dataset["time"].values
    stored = dataset["snapshot_time"].values if "snapshot_time" in dataset else times
    laid = np.full((dataset.sizes["run"], len(times)), np.nan)
    laid[:, np.searchsorted(times, stored)] = measure(dataset)
    return laid.reshape(-1)


def _geodesic_at_the_ends(dataset: xr.Dataset) -> Array:
    """Geodesic Dirac distance of the first and the last stored tokens; it takes long, hence NaN between."""
    tokens = dataset["tokens"].transpose("run", ..., "token", "component")
    values = np.full(tokens.shape[:2], np.nan)
    ends = sorted({0, tokens.shape[1] - 1})
    values[:, ends] = dirac_distance(tokens.values[:, ends], geodesic=True)
    return values


def _clusters_left(dataset: xr.Dataset, times: Array) -> Array:
    """Number of clusters of the integrator at each time; NaN for methods that do not merge."""
    if dataset.attrs.get("method") != "adaptive":
        return np.full(dataset.sizes["run"] * len(times), np.nan)
    return np.concatenate([events.count(times) for events in run_events(dataset)])


def _energy_maxima(dataset: xr.Dataset) -> Array:
    """Energy maximum of each run, NaN where it is not known."""
    kernel, runs, dim = dataset_kernel(dataset), dataset.sizes["run"], dataset.sizes["component"]
    if kernel.weight.is_constant:
        return np.full(runs, energy_bound(kernel).value)
    labels = dataset["label"].transpose("run", "token").values
    if np.all(labels == labels[0]):
        return np.full(runs, _known(kernel, labels[0], dim))
    return np.array([_known(kernel, row, dim) for row in labels])


def _known(kernel: Kernel, labels: Array, dim: int) -> float:
    bound = energy_bound(kernel, labels, dim)
    return bound.value if bound.attained else np.nan


def _events_of(dataset: xr.Dataset) -> pd.DataFrame:
    runs = run_events(dataset) if dataset.attrs.get("method") == "adaptive" else []
    common = case_columns(dataset)
    frames = [
        pd.DataFrame({**common, "seed": int(seed), **columns})
        for seed, columns in zip(dataset["seed"].values, _merge_columns(dataset, runs), strict=False)
    ]
    return _concatenated(frames)


def _merge_columns(dataset: xr.Dataset, runs: Sequence[Events]) -> Iterator[dict[str, Any]]:
    names = ("mass_first", "mass_second", "duration", "angle_before")
    for run, events in enumerate(runs):
        count = len(events.times)
        if count == 0:
            columns = {name: np.zeros(0) for name in names}
        else:
            columns = {name: dataset[f"merge_{name}"].values[run, :count] for name in names}
        yield {
            "merge": np.arange(count),
            "clusters_left": events.left,
            "time": events.times,
            "first": events.first,
            "second": events.second,
            **columns,
            "predicted_duration": _predictions(dataset, columns, events.left),
        }


def _predictions(dataset: xr.Dataset, columns: Mapping[str, Array], left: NDArray[np.int64]) -> Array:
    """Two-cluster time to the merge angle over the pair's mass; NaN where that is no prediction."""
    predicted = np.full(len(left), np.nan)
    kernel = dataset_kernel(dataset)
    unweighted = kernel.weight.is_constant and dataset.attrs.get("normalization") == "none"
    if not unweighted or not isinstance(kernel.profile, Exponential):
        return predicted
    end = float(dataset.attrs["merge_angle"])
    masses = columns["mass_first"] + columns["mass_second"]
    angles = columns["angle_before"]
    for row in np.flatnonzero((left < _FEW_CLUSTERS) & (angles > end) & (angles < np.pi)):
        predicted[row] = two_cluster_time(angles[row], end, kernel.beta) / masses[row]
    return predicted


def _concatenated(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    if not filled:
        return frames[0] if frames else pd.DataFrame()
    return pd.concat(filled, ignore_index=True)


def _write(frame: pd.DataFrame, path: Path | str) -> None:
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))
