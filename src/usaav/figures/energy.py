"""Every run's energy over its own maximum: it never falls, and the gap to the maximum closes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.bands import log_axis
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.style import PAGE, letter_panels, new_figure, number, ordered

Array = NDArray[np.float64]


def draw(sources: Sources, *, floor: float = 1e-12, select: Mapping[str, Any] | None = None) -> Figure:
    """One column for each experiment: above the energy over its maximum, below what is missing to one.

    Every run is a thin line; its look says beta.

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
        Data are missing, or the energy maximum of a case is not known.
    """
    by_experiment = {name: sources.cases(name, select) for name in sources.experiments}
    betas = sorted({facts(stored.case)["beta"] for cases in by_experiment.values() for stored in cases})
    looks = dict(zip(betas, ordered(len(betas)), strict=True))
    figure = new_figure(PAGE, 3.9)
    grid = figure.subplots(2, len(by_experiment), sharex="col", sharey="row", squeeze=False)
    for (above, below), (name, cases) in zip(grid.T, by_experiment.items(), strict=True):
        runs = 0
        for stored in cases:
            look = looks[facts(stored.case)["beta"]]
            thin = {"color": look.color, "linestyle": look.line, "linewidth": 0.5, "alpha": 0.6}
            for times, relative in _relative_energies(sources, stored):
                above.plot(times, relative, **thin)
                below.plot(times, np.maximum(1.0 - relative, floor), **thin)
                runs += 1
        above.set_title(f"{name.replace('_', ' ')} ({runs} runs)")
        above.margins(x=0.0)
        above.axhline(1.0, color="black", linewidth=0.5, zorder=0)
        log_axis(below, floor, 1.5)
        below.set_xlabel(r"time $\tau$")
    grid[0, 0].set_ylabel(r"$E / E_{\max}$")
    grid[1, 0].set_ylabel(r"$1 - E / E_{\max}$")
    letter_panels(list(grid[0]))
    handles = [
        Line2D([], [], color=look.color, linestyle=look.line, label=rf"$\beta = {number(beta)}$")
        for beta, look in looks.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _relative_energies(sources: Sources, stored: StoredCase) -> Iterator[tuple[Array, Array]]:
    """Times and ``E / E_max`` of each run of a case."""
    table = sources.rows(stored, ["energy", "energy_maximum"]).sort_values(["seed", "time"], kind="stable")
    if table["energy_maximum"].isna().any():
        raise DataError(f"{stored.where}: the energy maximum is not known; leave the case out by `select:`")
    for seed in stored.case.seeds:
        rows = table[table["seed"] == seed].astype({"time": np.float64, "energy": np.float64})
        yield rows["time"].to_numpy(), (rows["energy"] / rows["energy_maximum"]).to_numpy()
