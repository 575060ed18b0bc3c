"""Dirac distance against tau, one line for each number of tokens: what collapses, and what does not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from usaav.figures.bands import draw_band, explain_bands, log_axis
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.style import PAGE, letter_panels, new_figure, number, ordered
from usaav.figures.titles import case_title


def draw(sources: Sources, *, floor: float = 1e-8, select: Mapping[str, Any] | None = None) -> Figure:
    """One panel for each experiment, variant and beta; one line for each n.

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


def _panels(sources: Sources, select: Mapping[str, Any] | None) -> list[list[StoredCase]]:
    """Cases that differ in n alone, panel by panel."""
    panels: dict[tuple[Any, ...], list[StoredCase]] = {}
    for experiment in sources.experiments:
        cases = sources.cases(experiment, select)
        for stored in sorted(cases, key=lambda stored: stored.case.settings.n_tokens):
            key = (experiment, *sorted(stored.case.parameters.items()))
            panels.setdefault(key, []).append(stored)
    return list(panels.values())
