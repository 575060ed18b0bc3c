"""Every run's energy over its own maximum: it never falls, and the gap to the maximum closes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.bands import legend_line, log_axis
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.style import PAGE, Look, letter_panels, new_figure, number, ordered

Array = NDArray[np.float64]

#: experiments side by side; further ones go below
_COLUMNS = 4
#: runs of an experiment above which its lines are drawn as an image, which keeps the PDF small
_MANY = 100
#: ratio of the last time to the first above which time has a logarithmic axis
_DECADES = 1e3


def draw(sources: Sources, *, floor: float = 1e-12, select: Mapping[str, Any] | None = None) -> Figure:
    """One pair of panels for each experiment: the energy over its maximum, below it what is missing to one.

    Every run is a thin line; its look says beta. Cases whose maximum is not known are left out and counted.

    Parameters
    ----------
    sources
        Tables with the columns ``energy`` and ``energy_maximum``.
    floor
        Lower end of the logarithmic axis; smaller gaps are drawn there.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing, or the energy maximum is known for no case at all.
    """
    chosen = {name: sources.cases(name, select) for name in sources.experiments}
    known = {
        name: [stored for stored in cases if _is_known(sources, stored)] for name, cases in chosen.items()
    }
    betas = sorted({facts(stored.case)["beta"] for cases in known.values() for stored in cases})
    if not betas:
        raise DataError(
            f"energy of {', '.join(chosen)}: the energy maximum is not known for any case; "
            "name other experiments"
        )
    looks = dict(zip(betas, ordered(len(betas)), strict=True))
    columns = min(_COLUMNS, len(chosen))
    blocks = math.ceil(len(chosen) / columns)
    figure = new_figure(PAGE, 3.9 if blocks == 1 else 0.6 + 2.4 * blocks)
    grid = figure.subplots(2 * blocks, columns, sharey="row", squeeze=False)
    pairs = [
        (grid[2 * block, column], grid[2 * block + 1, column])
        for block, column in np.ndindex(blocks, columns)
    ]
    for pair, (name, cases) in zip(pairs, known.items(), strict=False):
        _draw_experiment(*pair, sources, cases, looks, floor)
        runs = f"{sum(len(stored.case.seeds) for stored in cases)} runs"
        pair[0].set_title(f"{name.replace('_', ' ')}\n{runs}{_left_out(len(chosen[name]) - len(cases))}")
    _finish(pairs, len(known), columns)
    letter_panels([above for above, _ in pairs[: len(known)]])
    handles = [
        legend_line(look, rf"$\beta = {number(beta)}$" if beta else "linear profile")
        for beta, look in looks.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)))
    return figure


def _left_out(cases: int) -> str:
    return f", {cases} case{'s' if cases > 1 else ''} out" if cases else ""


def _is_known(sources: Sources, stored: StoredCase) -> bool:
    return not sources.rows(stored, ["energy", "energy_maximum"])["energy_maximum"].isna().any()


def _draw_experiment(
    above: Axes,
    below: Axes,
    sources: Sources,
    cases: Sequence[StoredCase],
    looks: Mapping[float, Look],
    floor: float,
) -> None:
    below.sharex(above)
    many = sum(len(stored.case.seeds) for stored in cases) > _MANY
    for stored in cases:
        look = looks[facts(stored.case)["beta"]]
        thin: dict[str, Any] = {
            "color": look.color,
            "linestyle": look.line,
            "linewidth": 0.5,
            "alpha": 0.6,
            "rasterized": many,
        }
        for times, relative in _relative_energies(sources, stored):
            above.plot(times, relative, **thin)
            below.plot(times, np.maximum(1.0 - relative, floor), **thin)
    above.axhline(1.0, color="black", linewidth=0.5, zorder=0)
    positive = [time for stored in cases for time in stored.case.settings.times if time > 0.0]
    if positive and max(positive) > _DECADES * min(positive):
        above.set_xscale("log")
    above.tick_params(labelbottom=False)
    log_axis(below, floor, 1.5)
    below.yaxis.set_major_locator(LogLocator(numticks=5))
    above.margins(x=0.0)


def _finish(pairs: Sequence[tuple[Axes, Axes]], used: int, columns: int) -> None:
    """Label the outer axes, and remove the panels that are left over."""
    for index, (above, below) in enumerate(pairs):
        if index >= used:
            above.remove()
            below.remove()
            continue
        if index % columns == 0:
            above.set_ylabel(r"$E / E_{\max}$")
            below.set_ylabel(r"$1 - E / E_{\max}$")
        if index + columns >= used:
            below.set_xlabel(r"time $\tau$")


def _relative_energies(sources: Sources, stored: StoredCase) -> Iterator[tuple[Array, Array]]:
    """Times and ``E / E_max`` of each run of a case."""
    table = sources.rows(stored, ["energy", "energy_maximum"]).sort_values(["seed", "time"], kind="stable")
    for seed in stored.case.seeds:
        rows = table[table["seed"] == seed].astype({"time": np.float64, "energy": np.float64})
        yield rows["time"].to_numpy(), (rows["energy"] / rows["energy_maximum"]).to_numpy()
