"""Staircases of metastability: number of clusters and energy against the logarithm of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter, NullLocator

from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.style import PAGE, Look, letter_panels, new_figure, number, ordered
from usaav.figures.titles import case_title


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Figure:
    """One column for each variant and dimension, one line for each beta; clusters above, energy below.

    Parameters
    ----------
    sources
        Tables with the columns ``energy`` and ``energy_maximum``, and tables of merges.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing.
    """
    columns = _columns(sources, select)
    betas = sorted({facts(stored.case)["beta"] for cases in columns for stored in cases})
    looks = dict(zip(betas, ordered(len(betas)), strict=True))
    figure = new_figure(PAGE, 4.2)
    grid = figure.subplots(2, len(columns), sharex=True, sharey="row", squeeze=False)
    for (above, below), cases in zip(grid.T, columns, strict=True):
        for stored in cases:
            look = looks[facts(stored.case)["beta"]]
            chosen = stored.case.seeds[0] if seed is None else stored.case.seeds[stored.run(seed)]
            _draw_counts(above, sources, stored, chosen, look)
            _draw_energy(below, sources, stored, chosen, look)
        above.set_title(case_title(cases[0].case, "dim"))
        below.set_xlabel(r"time $\tau$")
        below.axhline(1.0, color="black", linewidth=0.5, zorder=0)
    _dress(grid[0, 0], grid[1, 0])
    letter_panels(list(grid[0]))
    handles = [
        Line2D([], [], color=look.color, linestyle=look.line, label=rf"$\beta = {number(beta)}$")
        for beta, look in looks.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(7, len(handles)))
    return figure


def _columns(sources: Sources, select: Mapping[str, Any] | None) -> list[list[StoredCase]]:
    """Cases that differ in beta alone, column by column."""
    columns: dict[tuple[Any, ...], list[StoredCase]] = {}
    for experiment in sources.experiments:
        for stored in sources.cases(experiment, select):
            known = facts(stored.case)
            key = (experiment, known.get("variant"), known["dim"], known["n_tokens"])
            columns.setdefault(key, []).append(stored)
    return list(columns.values())


def _draw_counts(axes: Axes, sources: Sources, stored: StoredCase, seed: int, look: Look) -> None:
    events = sources.merges(stored)
    merges = events[events["seed"] == seed]
    start, end = _span(stored)
    before = merges[merges["time"] <= start]
    first = stored.case.settings.n_tokens if before.empty else before["clusters_left"].iloc[-1]
    after = merges[(merges["time"] > start) & (merges["time"] <= end)]
    counts = [first, *after["clusters_left"]]
    axes.plot(
        [start, *after["time"], end],
        [*counts, counts[-1]],
        drawstyle="steps-post",
        color=look.color,
        linestyle=look.line,
        linewidth=1.0,
    )


def _draw_energy(axes: Axes, sources: Sources, stored: StoredCase, seed: int, look: Look) -> None:
    table = sources.rows(stored, ["energy", "energy_maximum"])
    rows = table[(table["seed"] == seed) & (table["time"] > 0.0)].sort_values("time")
    relative = rows["energy"] / rows["energy_maximum"]
    axes.plot(rows["time"], relative, color=look.color, linestyle=look.line, linewidth=1.0)


def _span(stored: StoredCase) -> tuple[float, float]:
    """The first and the last time that a logarithmic axis can show."""
    times = [time for time in stored.case.settings.times if time > 0.0]
    return times[0], times[-1]


def _dress(counts: Axes, energies: Axes) -> None:
    counts.set_xscale("log")
    counts.margins(x=0.0)
    energies.margins(x=0.0)
    counts.xaxis.set_major_locator(LogLocator(numticks=5))
    counts.xaxis.set_minor_locator(NullLocator())
    counts.set_yscale("log", base=2)
    counts.yaxis.set_major_formatter(FormatStrFormatter("%d"))
    counts.yaxis.set_minor_formatter(NullFormatter())
    counts.set_ylabel("number of clusters")
    energies.set_ylabel(r"$E / E_{\max}$")
    energies.set_ylim(0.0, 1.05)
