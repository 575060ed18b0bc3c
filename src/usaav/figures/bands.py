"""Many seeds as one line: median, quartiles and the largest value against time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from usaav.errors import DataError
from usaav.figures.style import GREY, Look


def draw_band(axes: Axes, table: pd.DataFrame, column: str, look: Look, floor: float = 0.0) -> Line2D:
    """Median over seeds with quartile band, and the largest value of all seeds as a thin line.

    Parameters
    ----------
    table
        Rows of one case, with columns time, seed and `column`.
    floor
        Smaller values are drawn at `floor`: a logarithmic axis has no zero.

    Returns
    -------
    Line2D
        The line of the median, for a legend.

    Raises
    ------
    DataError
        Values are missing.
    """
    wide = table.pivot(index="time", columns="seed", values=column).sort_index()
    values = wide.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise DataError(f"column {column}: values are missing at some times or seeds; measure the runs again")
    times = wide.index.to_numpy(dtype=np.float64)
    # the floor is for the drawing alone: quartiles are those of the values
    low, middle, high = np.maximum(np.quantile(values, [0.25, 0.5, 0.75], axis=1), floor)
    axes.fill_between(times, low, high, color=look.color, alpha=0.22, linewidth=0.0)
    largest = np.maximum(values.max(axis=1), floor)
    axes.plot(times, largest, color=look.color, linewidth=0.6, linestyle=look.line, alpha=0.9)
    (line,) = axes.plot(times, middle, color=look.color, linestyle=look.line)
    return line


def explain_bands(n_seeds: int) -> list[Any]:
    """Legend entries that say what band and thin line are."""
    return [
        Patch(facecolor=GREY, alpha=0.3, linewidth=0.0, label="quartiles"),
        Line2D([], [], color=GREY, linewidth=0.6, label=f"largest of {n_seeds} seeds"),
    ]


def legend_line(look: Look, label: str, **more: Any) -> Line2D:
    """A legend entry that is a line of this look."""
    style: Any = look.line
    return Line2D([], [], color=look.color, linestyle=style, label=label, **more)


def log_axis(axes: Axes, floor: float, top: float = 3.0) -> None:
    """Logarithmic vertical axis from `floor` to `top`, with ticks at powers of ten alone."""
    axes.set_yscale("log")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylim(floor, top)
    axes.margins(x=0.0)


def draw_ranges(axes: Axes, across: Any, values: Sequence[Any], look: Look, label: str = "") -> None:
    """Medians over seeds as markers, with bars from the least to the largest value.

    Parameters
    ----------
    across : (m,)
        Places on the horizontal axis.
    values
        For each place the values of its seeds, of which there may be more at one place than at another.
        NaN: not known for that seed; left out.
    """
    known = [row[np.isfinite(row)] for row in (np.asarray(row, dtype=np.float64) for row in values)]
    shown = [index for index, row in enumerate(known) if len(row)]
    places = np.asarray(across, dtype=np.float64)[shown]
    least, middle, largest = (
        np.array([function(known[index]) for index in shown]) for function in (np.min, np.median, np.max)
    )
    ends = np.stack([middle - least, largest - middle])
    axes.errorbar(
        places,
        middle,
        yerr=ends,
        linestyle="none",
        marker=look.marker,
        markersize=3.6,
        markerfacecolor="white",
        markeredgewidth=0.9,
        color=look.color,
        elinewidth=0.8,
        label=label or None,
        zorder=4,
    )


def count_seeds(values: Sequence[Any]) -> str:
    """How many seeds there are at each place, in words: ``20 seeds`` or ``10 to 20 seeds``."""
    counts = sorted(map(len, values))
    return f"{counts[0]} seeds" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]} seeds"
