"""What a figure or film is drawn from: tables and stored cases, read when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from usaav import datasets as _datasets
from usaav import tables as _tables
from usaav.config.cases import Case
from usaav.errors import DataError
from usaav.figures.style import number
from usaav.kernels import Kernel, kernel

Array = NDArray[np.float64]
#: what a row of the table of merges holds
MERGE_COLUMNS = ("seed", "time", "first", "second", "clusters_left")
#: tokens that a sphere of an inch or two shows without crowding
WELL_SHOWN = 128
#: how facts of a case are written in legends and titles
SYMBOLS = {"n_tokens": "$n = {}$", "dim": "$d = {}$", "beta": r"$\beta = {}$"}
_T = TypeVar("_T")


class OnDemand(Mapping[str, _T], Generic[_T]):
    """A mapping whose values are made when they are first asked for, and then kept.

    Parameters
    ----------
    makers
        Name -> function that makes the value.
    kind
        What the values are, for the error that a missing name raises.
    """

    def __init__(self, makers: Mapping[str, Callable[[], _T]], kind: str) -> None:
        self._makers, self._kind = dict(makers), kind
        self._made: dict[str, _T] = {}

    def __getitem__(self, name: str) -> _T:
        """The value of `name`.

        Raises
        ------
        DataError
            There is none.
        """
        if name not in self._makers:
            raise DataError(
                f"no {self._kind} of experiment {name!r} given, only of {', '.join(self._makers) or 'none'}; "
                "list the experiment under `experiments:` of the figure"
            )
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """The names, without making anything."""
        return iter(self._makers)

    def __len__(self) -> int:
        """The number of names."""
        return len(self._makers)


@dataclass(frozen=True)
class StoredCase:
    """One case: its settings, and its dataset once something asks for it.

    Attributes
    ----------
    case
        Settings, name and parameters.
    read
        Makes the dataset (dimensions run, time, snapshot, token, component).
    """

    case: Case
    read: Callable[[], xr.Dataset]

    @cached_property
    def dataset(self) -> xr.Dataset:
        """The dataset, in memory."""
        return self.read()

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel of the case."""
        return kernel(self.case.settings.kernel)

    @property
    def where(self) -> str:
        """Experiment and case, for messages."""
        return f"{self.case.experiment}/{self.case.name}"

    def run(self, seed: int | None) -> int:
        """The row of the run with this seed; of the first run for None.

        Raises
        ------
        DataError
            There is no such seed.
        """
        seeds = [int(value) for value in self.dataset["seed"].values]
        if seed is None:
            return 0
        if seed not in seeds:
            raise DataError(f"{self.where}: no seed {seed}; there are {seeds[0]} ... {seeds[-1]}")
        return seeds.index(seed)

    @property
    def stored_times(self) -> Array:
        """The times tau ``(snapshots,)`` at which there are tokens."""
        name = "snapshot_time" if "snapshot_time" in self.dataset.coords else "time"
        return np.asarray(self.dataset[name].values, dtype=np.float64)

    def tokens(self, seed: int | None, time: float | None = None) -> Array:
        """Tokens ``(n, d)`` of one run at `time`, or at the last time for None.

        Raises
        ------
        DataError
            No tokens were stored at that time, or there is no such seed.
        """
        times = self.stored_times
        row = len(times) - 1 if time is None else int(np.argmin(np.abs(times - time)))
        if time is not None and abs(times[row] - time) > 1e-9 * max(1.0, abs(time)):
            shown = ", ".join(f"{value:.6g}" for value in times[:8])
            raise DataError(
                f"{self.where}: no tokens stored at tau = {time:g}, only at {shown}"
                f"{' ...' if len(times) > 8 else ''}; add the time to `snapshots:` of the experiment"
            )
        return np.asarray(self.dataset["tokens"].values[self.run(seed), row], dtype=np.float64)

    def trajectory(self, seed: int | None) -> Array:
        """Tokens ``(snapshots, n, d)`` of one run."""
        return np.asarray(self.dataset["tokens"].values[self.run(seed)], dtype=np.float64)

    def labels(self, seed: int | None) -> Array | None:
        """Labels ``(n,)`` of one run; None if the case has none."""
        if self.case.settings.labels is None:
            return None
        return np.asarray(self.dataset["label"].values[self.run(seed)], dtype=np.float64)


class Sources:
    """Everything that a figure may be drawn from.

    Attributes
    ----------
    experiments
        Names, in the order in which the figure names them.
    tables, events
        Experiment -> tidy table: one row per case, seed and time; per case, seed and merge of two clusters.
    stored
        Experiment -> its cases, in the order of their files.
    """

    def __init__(
        self,
        experiments: Sequence[str],
        tables: Mapping[str, pd.DataFrame],
        events: Mapping[str, pd.DataFrame],
        stored: Mapping[str, Sequence[StoredCase]],
    ) -> None:
        self.experiments = tuple(experiments)
        self.tables, self.events, self.stored = tables, events, stored

    @classmethod
    def of_files(
        cls,
        experiments: Sequence[str],
        datasets: Sequence[str | Path] = (),
        tables: Sequence[str | Path] = (),
        events: Sequence[str | Path] = (),
    ) -> Sources:
        """From files that are opened only when something asks for them.

        Parameters
        ----------
        experiments
            Names of the experiments, in the order of the figure.
        datasets
            Files ``results/simulations/<experiment>/<case>.nc`` of all their cases, in any order: which is
            which, the attributes of a file say.
        tables, events
            ``results/metrics/<experiment>.csv`` (``results/sweeps/<experiment>.parquet`` of a sweep) and
            ``<experiment>.events.csv``, in the order of `experiments`; may be left out where nothing needs
            them.
        """
        return cls(
            experiments,
            OnDemand(_readers(experiments, tables), "table"),
            OnDemand(_readers(experiments, events), "events"),
            _Stored(experiments, [Path(path) for path in datasets]),
        )

    def cases(self, experiment: str, select: Mapping[str, Any] | None = None) -> list[StoredCase]:
        """The cases of an experiment that match `select`.

        Parameters
        ----------
        experiment
            Its name.
        select
            Setting -> wanted value or list of values: ``n_tokens``, ``dim``, ``beta``, ``variant``, or the
            dotted path of a swept key. A setting that the case does not have is not compared, so that one
            selection serves several experiments.

        Raises
        ------
        DataError
            No case matches; the message lists what there is.
        """
        found = [stored for stored in self.stored[experiment] if _matches(facts(stored.case), select)]
        if not found:
            present = ", ".join(stored.case.name for stored in self.stored[experiment])
            raise DataError(
                f"experiment {experiment}: no case with {dict(select or {})}; there are {present}"
            )
        return found

    def one_each(self, experiment: str, select: Mapping[str, Any] | None = None) -> list[StoredCase]:
        """Of the cases that differ in n alone, the one with the largest n that a sphere still shows well.

        That is at most 128, or else the smallest. Parameters and errors as :meth:`cases`.
        """
        chosen: dict[tuple[Any, ...], StoredCase] = {}
        for stored in self.cases(experiment, select):
            key = tuple(sorted(stored.case.parameters.items()))
            if key not in chosen or _shows_better(stored, chosen[key]):
                chosen[key] = stored
        return list(chosen.values())

    def rows(self, stored: StoredCase, columns: Sequence[str]) -> pd.DataFrame:
        """The rows of one case in its experiment's table, one per seed and time.

        Raises
        ------
        DataError
            One of `columns` (``case``, ``seed`` and ``time`` come by themselves), or a row, is missing.
        """
        table = self.tables[stored.case.experiment]
        rows = _rows_of(table, stored, ("seed", "time", *columns), "table")
        _tables.require_all_rows(rows, stored.case, f"table of experiment {stored.case.experiment}")
        return rows

    def merges(self, stored: StoredCase, columns: Sequence[str] = ()) -> pd.DataFrame:
        """The merges of one case, one row per seed and merge, in the order of seeds and times.

        They have :data:`MERGE_COLUMNS` and `columns`.

        Raises
        ------
        DataError
            A column, or every row, is missing.
        """
        wanted = (*MERGE_COLUMNS, *columns)
        events = _rows_of(self.events[stored.case.experiment], stored, wanted, "events")
        return events.sort_values(["seed", "time"], kind="stable")


class _Stored(Mapping[str, Sequence[StoredCase]]):
    """Cases by experiment; the headers of all files are read at the first question, the data later."""

    def __init__(self, experiments: Sequence[str], paths: Sequence[Path]) -> None:
        self._experiments, self._paths = tuple(experiments), paths

    @cached_property
    def _cases(self) -> OnDemand[list[StoredCase]]:
        found: dict[str, list[StoredCase]] = {name: [] for name in self._experiments}
        for path in self._paths:
            case = _datasets.case_of(path)
            found.setdefault(case.experiment, []).append(StoredCase(case, _reader(path)))
        return OnDemand({name: partial(list, cases) for name, cases in found.items() if cases}, "datasets")

    def __getitem__(self, name: str) -> Sequence[StoredCase]:
        return self._cases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cases)

    def __len__(self) -> int:
        return len(self._cases)


def facts(case: Case) -> dict[str, Any]:
    """What cases are selected by: ``n_tokens``, ``dim``, ``beta`` (0: linear profile), and the parameters."""
    settings = case.settings
    beta = 0.0 if settings.kernel.phi == "linear" else settings.kernel.beta
    return {"n_tokens": settings.n_tokens, "dim": settings.dim, "beta": beta, **case.parameters}


def name_of(case: Case, keys: Sequence[str]) -> str:
    """Facts of a case in mathematical notation, such as ``n = 64, beta = 1``, for legends and titles.

    The linear profile has no beta, and none is written.
    """
    shown = facts(case)
    kept = [key for key in keys if not (key == "beta" and shown["beta"] == 0.0)]
    return ", ".join(SYMBOLS[key].format(number(shown[key])) for key in kept)


def _reader(path: Path) -> Callable[[], xr.Dataset]:
    return lambda: _datasets.open_(path, in_place=True)


def _readers(
    experiments: Sequence[str], paths: Sequence[str | Path]
) -> dict[str, Callable[[], pd.DataFrame]]:
    if paths and len(paths) != len(experiments):
        raise DataError(f"{len(paths)} tables for {len(experiments)} experiments: give one of each, in order")
    return {name: partial(_tables.read, path, name) for name, path in zip(experiments, paths, strict=False)}


def _matches(present: Mapping[str, Any], select: Mapping[str, Any] | None) -> bool:
    return all(present[key] in _listed(wanted) for key, wanted in (select or {}).items() if key in present)


def _rows_of(table: pd.DataFrame, stored: StoredCase, columns: Sequence[str], kind: str) -> pd.DataFrame:
    missing = [column for column in ("case", *columns) if column not in table]
    if missing:
        raise DataError(
            f"{kind} of experiment {stored.case.experiment}: no column {', '.join(missing)}; "
            f"there are {', '.join(map(str, table.columns))}"
        )
    rows = table[table["case"] == stored.case.name]
    if rows.empty:
        raise DataError(
            f"{kind} of experiment {stored.case.experiment}: no rows of case {stored.case.name}; "
            "delete the table and run snakemake again"
        )
    return rows


def _shows_better(new: StoredCase, old: StoredCase) -> bool:
    first, second = new.case.settings.n_tokens, old.case.settings.n_tokens
    if (first <= WELL_SHOWN) == (second <= WELL_SHOWN):
        return first > second if first <= WELL_SHOWN else first < second
    return first <= WELL_SHOWN


def _listed(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
