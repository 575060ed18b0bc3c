"""Results that their data have overtaken are set aside, so that none looks current when it is not.

What a run is to make again is moved to ``<stem>.outdated<suffix>`` before the first job. The job that makes
the new file deletes the old one; if the run is killed, stopped or fails before that, no file is left under
the name of a current result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["HOW_TO_GO_ON", "aside", "overtaken", "set_aside", "tell"]

HOW_TO_GO_ON = (
    "Not everything was made. To go on, mend what is named above, if anything, and give the same command "
    "again: finished files stay, the others are made."
)


def aside(path: Path | str) -> Path:
    """Where an outdated file is moved to, in its own folder."""
    path = Path(path)
    return path.with_name(f"{path.stem}.outdated{path.suffix}")


def overtaken(products: Mapping[Path, Sequence[Path]]) -> list[Path]:
    """Those of the products that are there and older than one of the files they are made from.

    Parameters
    ----------
    products
        Product -> the files it is made from; those that are not there do not count.
    """
    return [
        product
        for product, sources in products.items()
        if (made := _time(product)) is not None
        and any((changed := _time(source)) is not None and changed > made for source in sources)
    ]


def _time(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def set_aside(paths: Iterable[Path | str]) -> list[Path]:
    """Move those of the files that are there to :func:`aside`, over what an earlier run left.

    Data files (``.nc``, ``.parquet``) stay: nobody mistakes one for a result, and they are large. A file that
    can't be moved stays too; the run then fails when it writes there, and says why.

    Returns
    -------
    list of Path
        The new names.
    """
    moved = []
    for path in map(Path, paths):
        if path.suffix in {".nc", ".parquet"} or not path.is_file():
            continue
        with suppress(OSError):
            moved.append(path.replace(aside(path)))
    return moved


def tell(moved: Sequence[Path], message: str = "") -> None:
    """Write to the terminal which files were set aside, and `message`."""
    if moved:
        shown = ", ".join(map(str, moved[:6])) + (f" and {len(moved) - 6} more" if len(moved) > 6 else "")
        sys.stderr.write(f"Set aside until they are made again: {shown}\n")
    if message:
        sys.stderr.write(f"{message}\n")
