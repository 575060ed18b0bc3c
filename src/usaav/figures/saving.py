"""Saving a figure so that the same data always give the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

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
    with applied():
        _fix_layout(figure)
    for path, kind in ((pdf, "pdf"), (png, "png")):
        with replacing(path) as temporary, applied():
            figure.savefig(temporary, format=kind, dpi=DOTS_PER_INCH, metadata=_NO_METADATA[kind])


def _fix_layout(figure: Figure) -> None:
    """Lay the figure out once and round the places of its axes to a thousandth of a dot.

    The last digits of the layout differ from time to time, which moves a marker that lies between two dots.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        place = axes.get_position(original=True)
        axes.set_position(Bbox(np.round(place.get_points(), 6)))
