"""Dirac distance against tau, one line for each number of tokens: what collapses, and what does not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from usaav.figures.bands import draw_band, explain_bands, log_axis
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.style import PAGE, letter_panels, new_figure, number, ordered
from usaav.figures.titles import case_title

#: Dirac distance below which all tokens of a run are in one point
_ONE_POINT = 1e-3


def draw(sources: Sources, *, floor: float = 1e-8, select: Mapping[str, Any] | None = None) -> Figure:
    """One panel for each experiment, variant and beta; one line for each n.

    Where only some seeds have become one point at the last time, the panel says how many.

    Parameters
    ----------
    sources
        Tables with the column ``dirac_distance``.
    floor
        Lower end of the logarithmic axis; smaller distances are drawn there.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing.
    """
    panels = _panels(sources, select)
    sizes = sorted({stored.case.settings.n_tokens for panel in panels for stored in panel})
    looks = dict(zip(sizes, ordered(len(sizes)), strict=True))
    columns = min(4, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = new_figure(PAGE, 2.2 * rows + 0.4)
    grid = figure.subplots(rows, columns, sharex="row", sharey=True, squeeze=False)
    lines = {}
    for axes, panel in zip(grid.flat, panels, strict=False):
        for stored in panel:
            size = stored.case.settings.n_tokens
            table = sources.rows(stored, ["dirac_distance"])
            lines[size] = draw_band(axes, table, "dirac_distance", looks[size], floor)
        _count_collapsed(axes, sources, panel)
        axes.set_title(case_title(panel[0].case, "beta"))
        log_axis(axes, floor)
        axes.set_xlabel(r"time $\tau$")
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for row in grid:
        row[0].set_ylabel("Dirac distance")
    letter_panels(list(grid.flat[: len(panels)]))
    seeds = max(len(stored.case.seeds) for panel in panels for stored in panel)
    for size in sizes:
        lines[size].set_label(f"$n = {number(size)}$")
    handles = [*(lines[size] for size in sizes), *explain_bands(seeds)]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _count_collapsed(axes: Axes, sources: Sources, panel: list[StoredCase]) -> None:
    """Write how many seeds of each n are one point at the last time, where some are and some are not."""
    counts = []
    for stored in panel:
        table = sources.rows(stored, ["dirac_distance"])
        last = table.loc[table["time"] == table["time"].max(), "dirac_distance"]
        counts.append((int((last < _ONE_POINT).sum()), len(last)))
    if all(count in (0, seeds) for count, seeds in counts):
        return
    words = [
        rf"$n = {number(stored.case.settings.n_tokens)}$: {count} of {seeds}"
        for stored, (count, seeds) in zip(panel, counts, strict=True)
    ]
    text = "\n".join(["seeds in one point at the end", *words])
    paper = {"facecolor": "white", "alpha": 0.8, "linewidth": 0.0, "pad": 1.5}
    axes.text(0.04, 0.06, text, transform=axes.transAxes, fontsize=7, va="bottom", bbox=paper)


def _panels(sources: Sources, select: Mapping[str, Any] | None) -> list[list[StoredCase]]:
    """Cases that differ in n alone, panel by panel."""
    panels: dict[tuple[Any, ...], list[StoredCase]] = {}
    for experiment in sources.experiments:
        cases = sources.cases(experiment, select)
        for stored in sorted(cases, key=lambda stored: stored.case.settings.n_tokens):
            key = (experiment, *sorted(stored.case.parameters.items()))
            panels.setdefault(key, []).append(stored)
    return list(panels.values())
