"""From a claim of the configuration to its rows, and from the rows of all claims to one table and page."""

from __future__ import annotations

import csv
import io
import logging
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from usaav.claims.evidence import Evidence, read
from usaav.claims.names import CHECK_OPTIONS, COMMON_OPTIONS
from usaav.claims.page import decisive, page
from usaav.claims.verdict import COLUMNS, Verdict
from usaav.errors import ConfigError, DataError, UsaavError
from usaav.whole_files import write_text

Row = Mapping[str, str]
_LOG = logging.getLogger(__name__)
_HOW_TO_MEND = "delete it and run the same snakemake command again"


def write_verdict(
    name: str,
    claim: Mapping[str, Any],
    datasets: Iterable[str | Path],
    tables: Iterable[str | Path],
    events: Iterable[str | Path],
    output: str | Path,
) -> None:
    """Check one claim and write its rows of the table of claims.

    Parameters
    ----------
    name
        Its name in the configuration, the first part of the id of its rows.
    claim
        Its settings: check, tolerance, options.
    datasets
        Data files of all cases of its experiments.
    tables, events
        Tables of its experiments (see :func:`usaav.metrics.tables.write_tables`).
    output
        CSV file with the columns of :data:`usaav.claims.verdict.COLUMNS`; missing numbers are empty fields.

    Raises
    ------
    ConfigError
        An unknown check or option.
    DataError
        Data are missing or damaged, or the file can't be written.
    """
    options = dict(claim.get("options", {}))
    figure = str(options.pop("figure", name))
    verdicts = run_check(str(claim["check"]), read(datasets, tables, events), claim["tolerance"], options)
    write_text(output, _csv([verdict.row(name, figure) for verdict in verdicts]))


def run_check(
    check: str, cases: Sequence[Evidence], tolerance: float, options: Mapping[str, Any]
) -> list[Verdict]:
    """The verdicts of the check of that name.

    Raises
    ------
    ConfigError
        No such check, or an option that it does not take.
    """
    if check not in CHECK_OPTIONS:
        raise ConfigError(f"no check {check!r}; there are {', '.join(CHECK_OPTIONS)}")
    known = [option for option in CHECK_OPTIONS[check] if option not in COMMON_OPTIONS]
    unknown = sorted(set(options) - set(known))
    if unknown:
        allowed = ", ".join(known) or "none"
        raise ConfigError(f"check {check}: unknown option {unknown[0]!r}; it takes {allowed}")
    verdicts: list[Verdict] = import_module(f"usaav.claims.{check}").check(cases, float(tolerance), **options)
    return verdicts


def collect_verdicts(verdicts: Iterable[str | Path], csv_path: str | Path, html_path: str | Path) -> None:
    """Put the rows of all claims into one table, as CSV and as a page, and say loudly which do not hold.

    Parameters
    ----------
    verdicts
        Files of :func:`write_verdict`, in the order of the table.
    csv_path, html_path
        Files to write, each whole or not at all. The page needs nothing else, its links to figures lead to
        ``figures/`` beside it.

    Raises
    ------
    DataError
        A file can't be read or written.
    """
    rows = [row for path in verdicts for row in _verdict(path)]
    write_text(csv_path, _csv(rows))
    write_text(html_path, page(rows))
    failing = _failing(rows)
    if failing:
        message = "\n".join(
            [f"{len(failing)} of {len(rows)} claims that were checked DO NOT HOLD:", *failing]
        )
        _LOG.warning("%s", message)
        # a job's own streams lead to its log file; this is for the person at the terminal
        if sys.__stderr__ is not None:
            sys.__stderr__.write(f"{message}\n")


def require_all(csv_path: str | Path) -> None:
    """Raise an error if a claim in the table of :func:`collect_verdicts` does not hold.

    Raises
    ------
    UsaavError
        At least one row fails; the message names each.
    DataError
        The table can't be read.
    """
    rows = _read(csv_path)
    failing = _failing(rows)
    if failing:
        raise UsaavError(
            "\n".join([f"{len(failing)} of {len(rows)} rows of {csv_path} do not hold:", *failing])
        )


def _failing(rows: Iterable[Row]) -> list[str]:
    return [
        f"  {row['id']} ({row['case']}): measured {decisive(row) or 'nothing'}, expected {row['relation']} "
        f"{row['predicted'] or 'a number'}, tolerance {row['tolerance']}"
        for row in rows
        if row["holds"] != "True"
    ]


def _csv(rows: Iterable[Mapping[str, object]]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows([[_field(row[column]) for column in COLUMNS] for row in rows])
    return text.getvalue()


def _field(value: object) -> str:
    """The shortest exact spelling; what is missing is empty."""
    return "" if isinstance(value, float) and math.isnan(value) else str(value)


def _verdict(path: str | Path) -> list[dict[str, str]]:
    rows = _read(path)
    if not rows:
        raise DataError(f"{path}: no verdict on the claim; {_HOW_TO_MEND}")
    return rows


def _read(path: str | Path) -> list[dict[str, str]]:
    try:
        text = Path(path).read_bytes().decode("utf-8")
        table = csv.DictReader(io.StringIO(text, newline=""))
        rows = list(table)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: can't read the table of claims ({error}); {_HOW_TO_MEND}") from error
    if tuple(table.fieldnames or ()) != COLUMNS:
        raise DataError(f"{path}: its columns are not those of a table of claims; {_HOW_TO_MEND}")
    if not text.endswith("\n") or any(None in row or None in row.values() for row in rows):
        raise DataError(f"{path}: the table of claims is cut off or has a row too short; {_HOW_TO_MEND}")
    wrong = [row["holds"] for row in rows if row["holds"] not in ("True", "False")]
    if wrong:
        raise DataError(f"{path}: expected True or False under `holds`, not {wrong[0]!r}; {_HOW_TO_MEND}")
    return rows
