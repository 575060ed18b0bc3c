"""CSV files of numbers that users provide."""

from __future__ import annotations

import csv
import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from usaav.errors import DataError

MAX_BYTES = 100_000_000
MAX_COLUMNS = 10_000


def read_numbers(file: str | os.PathLike[str], sha256: str | None = None) -> NDArray[np.float64]:
    """The numbers of a CSV file, shape (rows, columns), at least one of each.

    Comma-separated UTF-8; empty lines and lines that begin with ``#`` are skipped; the first line may be a
    header of words.

    Parameters
    ----------
    file
        Path, relative to the working directory.
    sha256
        If given, the digest that the content must have.

    Raises
    ------
    DataError
        File missing, larger than 100 MB, changed since its digest was taken, not UTF-8, or a line that is no
        row of finite numbers as long as the first; the message names file and line.
    """
    content = _content(Path(file), sha256)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file}: not a text file in UTF-8 (byte {error.start}); save it as CSV in UTF-8"
        ) from None
    rows: list[list[float]] = []
    lines = (
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.startswith("#")
    )
    for position, (number, line) in enumerate(lines):
        cells = next(csv.reader([line]))
        if position == 0 and _is_header(cells):
            continue
        rows.append(_row(file, number, cells, len(rows[0]) if rows else None))
    if not rows:
        raise DataError(f"{file}: no numbers; expected one point a line, its numbers separated by commas")
    return np.array(rows)


def _content(path: Path, sha256: str | None) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(
                f"{path}: {path.stat().st_size / 1e6:.0f} MB; expected at most {MAX_BYTES // 10**6} MB"
            )
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); name an existing CSV file") from None
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(
            f"{path}: its content is not the one that the settings were made with; start the workflow again"
        )
    return content


def _is_header(cells: list[str]) -> bool:
    def is_number(cell: str) -> bool:
        try:
            float(cell)
        except ValueError:
            return False
        return True

    return not any(is_number(cell) for cell in cells)


def _row(file: str | os.PathLike[str], number: int, cells: list[str], columns: int | None) -> list[float]:
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        raise DataError(
            f"{file}, line {number}: {','.join(cells)[:80]!r} is no row of numbers separated by commas"
        ) from None
    if not np.all(np.isfinite(values)):
        raise DataError(f"{file}, line {number}: expected finite numbers, got {','.join(cells)[:80]!r}")
    if columns is not None and len(values) != columns:
        raise DataError(
            f"{file}, line {number}: expected {columns} numbers as in the first row, got {len(values)}"
        )
    if len(values) > MAX_COLUMNS:
        raise DataError(f"{file}, line {number}: expected at most {MAX_COLUMNS} numbers, got {len(values)}")
    return values
