"""What a check reads: the cases of its experiments, with their data files and their rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from usaav import datasets, tables
from usaav.config.cases import Case
from usaav.errors import DataError
from usaav.kernels import Kernel, kernel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Final:
    """Tokens of all runs of a case at the last time.

    Attributes
    ----------
    tokens : (runs, n, d)
    labels : (runs, n) or None
        None if the kernel needs none.
    """

    tokens: Array
    labels: Array | None


@dataclass(frozen=True)
class Evidence:
    """One case.

    Attributes
    ----------
    case
        Settings, name, seeds and parameters.
    path
        Its data file.
    rows, events
        Its rows of the experiment's two tables.
    """

    case: Case
    path: Path
    rows: pd.DataFrame
    events: pd.DataFrame

    @property
    def where(self) -> str:
        """Experiment and case."""
        return f"{self.case.experiment}/{self.case.name}"

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return kernel(self.case.settings.kernel)

    @property
    def seeds(self) -> int:
        """Number of runs."""
        return len(self.case.seeds)

    @property
    def facts(self) -> dict[str, Any]:
        """What cases are selected by: ``n_tokens``, ``dim``, ``beta`` (0: linear profile), parameters."""
        settings = self.case.settings
        common = {"n_tokens": settings.n_tokens, "dim": settings.dim, "beta": self.kernel.beta}
        return {**self.case.parameters, **common}

    def dataset(self) -> xr.Dataset:
        """The whole data file, read anew."""
        return datasets.open_(self.path, experiment=self.case.experiment, case=self.case.name)

    def final(self) -> Final:
        """Tokens at the last time (always stored), and labels."""
        dataset = self.dataset()
        axis = "snapshot" if "snapshot" in dataset["tokens"].dims else "time"
        tokens = dataset["tokens"].isel({axis: -1}).transpose("run", "token", "component").values
        labels = dataset["label"].transpose("run", "token").values if self.kernel.needs_labels else None
        return Final(tokens, labels)

    def at(self, column: str, time: float | None = None) -> Array:
        """Values ``(runs,)`` of `column` at the last time, or the last one not after `time`.

        Raises
        ------
        DataError
            There is no such time or column.
        """
        rows = self.rows
        if column not in rows:
            raise DataError(
                f"{self.where}: its table has no column {column}; there are {', '.join(map(str, rows))}"
            )
        if time is not None:
            rows = rows[rows["time"] <= time * (1.0 + 1e-9)]
        last = rows[rows["time"] == rows["time"].max()]
        if len(last) != self.seeds:
            raise DataError(
                f"{self.where}: its table has {len(last)} rows at the last time for {self.seeds} runs"
            )
        return np.asarray(last.sort_values("seed", kind="stable")[column], dtype=np.float64)


def read(
    paths: Iterable[str | Path], time_tables: Iterable[str | Path], event_tables: Iterable[str | Path]
) -> list[Evidence]:
    """The cases in the data files `paths`, in their order, with their rows of the tables.

    Raises
    ------
    DataError
        A file can't be used, or a table lacks a case.
    """
    rows = _concatenated(time_tables)
    merges = _concatenated(event_tables)
    found = []
    for path in map(Path, paths):
        case = datasets.case_of(path)
        mine = _rows_of(rows, case)
        tables.require_all_rows(mine, case, f"table of experiment {case.experiment}")
        found.append(Evidence(case, path, mine, _rows_of(merges, case)))
    return found


def selected(cases: Sequence[Evidence], select: Mapping[str, Any] | None) -> list[Evidence]:
    """The cases that match `select`: fact -> wanted value or list of values.

    Raises
    ------
    DataError
        None does; the message lists what there is.
    """
    chosen = [case for case in cases if matches(case, select)]
    if not chosen:
        present = ", ".join(case.case.name for case in cases)
        raise DataError(f"no case with {dict(select or {})}; there are {present}")
    return chosen


def matches(case: Evidence, select: Mapping[str, Any] | None) -> bool:
    """Whether a case has the wanted facts; one that it does not have at all is no match."""
    facts = case.facts
    return all(facts.get(key) in _listed(wanted) for key, wanted in (select or {}).items())


def _listed(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, (list, tuple)) else [wanted]


def _concatenated(paths: Iterable[str | Path]) -> pd.DataFrame:
    # an experiment without a single merge has a table of merges without rows
    frames = [frame for frame in map(tables.read, paths) if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _rows_of(table: pd.DataFrame, case: Case) -> pd.DataFrame:
    if table.empty:
        return table
    return table[(table["experiment"] == case.experiment) & (table["case"] == case.name)]
