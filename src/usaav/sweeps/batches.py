"""One batch of a sweep: cases that one job simulates, one after the other, and their rows of the table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import netCDF4

from usaav.config.cases import Case
from usaav.errors import DataError, UsaavError
from usaav.flow.case import run_case
from usaav.flow.simulation import Progress
from usaav.metrics.tables import time_table
from usaav.sweeps import stacks
from usaav.whole_files import replacing

__all__ = ["measure_batch", "simulate_batch"]


def simulate_batch(
    cases: Sequence[str], output: Path | str, threads: int, progress: Progress | None = None
) -> None:
    """Simulate cases and write them to one file, all or nothing (see :mod:`usaav.sweeps.stacks`).

    Parameters
    ----------
    cases
        Texts of :meth:`usaav.config.cases.Case.to_json`.
    output
        The netCDF file.
    threads
        Cores that this job may use.
    progress
        Called as ``progress(case, fraction)``, with the case counted from 0.

    Raises
    ------
    ConfigError, DataError, BackendError, SimulationError
        The first case that fails, by name.
    """
    datasets = []
    for place, text in enumerate(cases):
        case = Case.from_json(text)
        try:
            datasets.append(run_case(case, threads).assign_attrs(settings=text))
        except UsaavError as error:
            raise type(error)(f"case {case.name}: {error}") from error
        if progress is not None:
            progress(place, 1.0)
    with replacing(output) as temporary, netCDF4.Dataset(temporary, "w") as file:
        for stack in stacks.stacked(datasets):
            stacks.append(file, stack)
        file.cases = json.dumps([dataset.attrs["case"] for dataset in datasets])


def measure_batch(batch: Path | str, cluster_angle: float, table: Path | str) -> None:
    """Measure the cases of a batch: one row per case, seed and output time, as a Parquet file.

    Parameters
    ----------
    batch
        File of :func:`simulate_batch`.
    cluster_angle
        Radians, see :func:`usaav.metrics.cluster_count`.
    table
        The file to write; columns and order of rows as in :func:`usaav.metrics.tables.time_table`.

    Raises
    ------
    DataError
        The batch can't be read or the table can't be written.
    """
    found = {
        dataset.attrs["case"]: dataset
        for stack in stacks.read(Path(batch))
        for dataset in stacks.cases(stack)
    }
    rows = time_table([found[case] for case in _order(Path(batch), set(found))], cluster_angle)
    with replacing(table) as temporary:
        rows.to_parquet(temporary, engine="pyarrow", index=False)


def _order(batch: Path, present: set[str]) -> list[str]:
    """The names of the cases in the order of the batch; in the file they lie by shape."""
    with netCDF4.Dataset(batch) as file:
        names = json.loads(getattr(file, "cases", "[]"))
    if set(names) != present:
        raise DataError(
            f"{batch}: holds {len(present)} cases, but lists {len(names)}; delete the file and run the same "
            "snakemake command again"
        )
    return list(names)
