"""Tokens on the circle S^1 against the logarithm of time: clusters form, wait and merge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from usaav.errors import DataError
from usaav.figures.merge_tree import span_of_merges
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.style import BLUE, PAGE, letter_panels, new_figure
from usaav.figures.titles import case_title


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Figure:
    """One panel for each case: the angle of every token, in gauge coordinates z, against tau.

    In z a kernel with a gauge does the same as one without: points there are orbits in the tokens x.

    Parameters
    ----------
    sources
        Stored tokens with dim: 2 at times that are spaced logarithmically, and tables of merges: time is
        shown from a decade before the first merge to a little after the last, or whole where nothing merges.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing, or not on S^1.
    """
    chosen = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    columns = min(3, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    figure = new_figure(PAGE, 2.2 * rows)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for axes, stored in zip(grid.flat, chosen, strict=False):
        _draw_tokens(axes, stored, seed)
        axes.set_xlim(*_span(sources, stored, seed))
        axes.set_title(case_title(stored.case, "beta"))
        axes.set_xlabel(r"time $\tau$")
    for axes in grid.flat[len(chosen) :]:
        axes.remove()
    for row in grid:
        row[0].set_ylabel("angle of $z_i$ (rad)")
    grid[0, 0].set_ylim(-np.pi, np.pi)
    grid[0, 0].set_yticks([-np.pi, 0.0, np.pi], [r"$-\pi$", "0", r"$\pi$"])
    letter_panels(list(grid.flat[: len(chosen)]))
    return figure


def _draw_tokens(axes: Axes, stored: StoredCase, seed: int | None) -> None:
    if stored.case.settings.dim != 2:
        raise DataError(
            f"{stored.where}: dim is {stored.case.settings.dim}; a circle shows dim: 2, so select that"
        )
    gauged = stored.kernel.to_gauge(stored.trajectory(seed), stored.labels(seed))
    times, angles = stored.stored_times, np.arctan2(gauged[..., 1], gauged[..., 0])
    shown = times > 0.0
    axes.add_collection(
        LineCollection(
            _pieces(times[shown], angles[shown]), colors=BLUE, linewidths=0.5, alpha=0.5, rasterized=True
        )
    )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_minor_locator(NullLocator())


def _span(sources: Sources, stored: StoredCase, seed: int | None) -> tuple[float, float]:
    """Ends of the axis of time."""
    times = stored.stored_times[stored.stored_times > 0.0]
    events = sources.events[stored.case.experiment]
    of_run = (events["case"] == stored.case.name) & (events["seed"] == stored.case.seeds[stored.run(seed)])
    merged = events.loc[of_run, "time"].to_numpy(dtype=np.float64)
    if not (merged > 0.0).any():
        return float(times[0]), float(times[-1])
    start, end = span_of_merges(merged, float(times[-1]))
    return max(start, float(times[0])), end


def _pieces(times: np.ndarray, angles: np.ndarray) -> list[np.ndarray]:
    """Lines ``(m, 2)`` of the tokens, each broken where the angle jumps by a turn from -pi to pi."""
    pieces = []
    for path in angles.T:
        breaks = np.flatnonzero(np.abs(np.diff(path)) > np.pi) + 1
        points = np.column_stack([times, path])
        pieces += [piece for piece in np.split(points, breaks) if len(piece) > 1]
    return pieces
