"""Weights that fall off with the distance of labels: Dirac distance against the logarithm of time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from usaav.config.part_models import DistanceBiasFields
from usaav.errors import DataError
from usaav.figures.bands import draw_band, explain_bands, log_axis
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.style import GREY, PAGE, Look, letter_panels, new_figure, number, ordered


def draw(sources: Sources, *, floor: float = 1e-8, select: Mapping[str, Any] | None = None) -> Figure:
    """One panel for each weight, one line for each beta; dotted, the median distance at the start.

    Parameters
    ----------
    sources
        Tables with the column ``dirac_distance``, of kernels with a distance bias.
    floor
        Lower end of the logarithmic axis; smaller distances are drawn there.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing, or of another kernel.
    """
    panels = _panels(sources, select)
    betas = sorted({facts(stored.case)["beta"] for panel in panels for stored in panel})
    looks = dict(zip(betas, ordered(len(betas)), strict=True))
    columns = min(4, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = new_figure(PAGE, 2.3 * rows + 0.4)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        for stored in panel:
            _draw_case(axes, sources, stored, looks[facts(stored.case)["beta"]], floor)
        axes.set_title(weight_name(panel[0]))
        _dress(axes, floor)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for row in grid:
        row[0].set_ylabel("Dirac distance")
    letter_panels(list(grid.flat[: len(panels)]))
    handles = [
        Line2D([], [], color=look.color, linestyle=look.line, label=rf"$\beta = {number(beta)}$")
        for beta, look in looks.items()
    ]
    start = Line2D([], [], color=GREY, linestyle=":", linewidth=0.9, label="at the start")
    bands = explain_bands(max(len(stored.case.seeds) for panel in panels for stored in panel))
    handles = [*handles, start, *bands]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def weight_name(stored: StoredCase) -> str:
    """The weight in mathematical notation.

    Raises
    ------
    DataError
        It is no distance bias.
    """
    weight = stored.case.settings.kernel.weight
    if not isinstance(weight, DistanceBiasFields):
        raise DataError(f"{stored.where}: the weight is no distance bias")
    symbol = "m" if weight.profile == "alibi" else r"\ell"
    name = "ALiBi" if weight.profile == "alibi" else weight.profile
    return rf"{name}, ${symbol} = {number(weight.scale)}$"


def _draw_case(axes: Axes, sources: Sources, stored: StoredCase, look: Look, floor: float) -> None:
    table = sources.rows(stored, ["dirac_distance"])
    started = table[table["time"] == table["time"].min()]["dirac_distance"].median()
    axes.axhline(float(started), color=GREY, linewidth=0.9, linestyle=":", zorder=0)
    # a logarithmic axis has no place for the start
    draw_band(axes, table[table["time"] > 0.0], "dirac_distance", look, floor)


def _dress(axes: Axes, floor: float) -> None:
    log_axis(axes, floor)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=3))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(r"time $\tau$")


def _panels(sources: Sources, select: Mapping[str, Any] | None) -> list[list[StoredCase]]:
    """Cases that differ in beta alone, those with the smallest n."""
    panels: dict[tuple[Any, ...], list[StoredCase]] = {}
    for experiment in sources.experiments:
        cases = sources.cases(experiment, select)
        size = min(stored.case.settings.n_tokens for stored in cases)
        for stored in cases:
            if stored.case.settings.n_tokens == size:
                panels.setdefault((experiment, weight_name(stored)), []).append(stored)
    return [sorted(cases, key=lambda one: float(facts(one.case)["beta"])) for cases in panels.values()]
