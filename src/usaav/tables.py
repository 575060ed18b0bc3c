"""Tables of results: what a CSV or Parquet file must hold to be read.

A table that lost a part of itself would still be read by pandas, and a figure of it would look whole.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from usaav.config.cases import Case
from usaav.errors import DataError

__all__ = ["read", "require_all_rows"]

#: columns of every table, text and numbers
_NAMES, _NUMBERS = ("experiment", "case"), ("seed", "time")
_HOW_TO_MEND = "delete it and run the same snakemake command again"


def read(path: str | Path, experiment: str | None = None) -> pd.DataFrame:
    """A table of times or of merges, or of a sweep.

    Parameters
    ----------
    path
        CSV file (or Parquet, by its suffix) that :mod:`usaav.metrics.tables` or :mod:`usaav.sweeps` wrote.
    experiment
        If given, the experiment that all rows must be of.

    Raises
    ------
    DataError
        It is missing, cut off, no table, lacks a column, or is of another experiment; the message names it.
    """
    path = Path(path)
    try:
        if path.suffix == ".parquet":
            table = pd.read_parquet(path, engine="pyarrow")
        else:
            _require_end(path)
            table = pd.read_csv(path)
    except FileNotFoundError:
        raise DataError(f"{path}: no such table; make it with snakemake --cores all {path}") from None
    except PermissionError as error:
        raise DataError(f"{path}: may not be read ({error.strerror}); check its permissions") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: can't read the table ({error}); {_HOW_TO_MEND}") from error
    missing = [column for column in (*_NAMES, *_NUMBERS) if column not in table]
    if missing:
        raise DataError(f"{path}: no column {', '.join(missing)}, so no table of ours; {_HOW_TO_MEND}")
    wrong = [column for column in _NUMBERS if len(table) and table[column].dtype.kind not in "iuf"]
    wrong += [column for column in (*_NAMES, *_NUMBERS) if table[column].isna().any()]
    if wrong:
        raise DataError(f"{path}: column {wrong[0]} has fields that are empty or no numbers; {_HOW_TO_MEND}")
    others = sorted(set(map(str, table["experiment"])) - {experiment}) if experiment is not None else []
    if others:
        raise DataError(f"{path}: has rows of experiment {others[0]!r}, not {experiment!r}; {_HOW_TO_MEND}")
    return table


def _require_end(path: Path) -> None:
    """Raise unless the file ends where a line does, as every table of ours."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 1))
        if file.read(1) != b"\n":
            raise DataError(f"{path}: {'it is cut off' if size else 'it is empty'}; {_HOW_TO_MEND}")


def require_all_rows(rows: pd.DataFrame, case: Case, where: str) -> None:
    """Raise unless `rows` are all rows of `case` in a table of times: one for each seed and output time.

    Raises
    ------
    DataError
        Some are missing or there are too many; the message begins with `where`.
    """
    wanted = len(case.seeds) * len(case.settings.times)
    if len(rows) != wanted:
        raise DataError(
            f"{where}: {len(rows)} rows of case {case.name}, expected {wanted} (seeds x times); "
            "delete the table and run the same snakemake command again"
        )
