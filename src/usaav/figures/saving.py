"""Saving a figure so that the same data always give the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from usaav.figures.style import DOTS_PER_INCH, applied
from usaav.whole_files import replacing

# matplotlib puts in its version and the date; both would change the bytes and say nothing about the figure
_NO_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}


def save(figure: Figure, pdf: str | Path, png: str | Path) -> None:
    """Write `figure` as PDF (text as text) and PNG (200 dots per inch), each whole or not at all.

    Raises
    ------
    DataError
        A file cannot be written.
    """
    for path, kind in ((pdf, "pdf"), (png, "png")):
        with replacing(path) as temporary, applied():
            figure.savefig(temporary, format=kind, dpi=DOTS_PER_INCH, metadata=_NO_METADATA[kind])
