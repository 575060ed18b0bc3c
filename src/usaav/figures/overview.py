"""The three panels of the abstract: the baseline collapses, RoPE ends on a circle, prefix in clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from usaav.figures.sources import Sources
from usaav.figures.sphere import count_if_one
from usaav.figures.states import draw_prediction, draw_state, explain_states
from usaav.figures.style import PAGE, letter_panels, new_figure, number
from usaav.figures.titles import case_title
from usaav.metrics import dirac_distance


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Figure:
    """One column for each experiment: tokens at the first time above, at the last time below.

    Parameters
    ----------
    sources
        Stored tokens on S^2; the first matching case of each experiment is shown.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing, or not on S^2.
    """
    chosen = [sources.one_each(experiment, select)[0] for experiment in sources.experiments]
    figure = new_figure(PAGE, 2.0 * PAGE / len(chosen) + 0.4)
    grid = figure.subplots(2, len(chosen), squeeze=False)
    for (above, below), stored in zip(grid.T, chosen, strict=True):
        labels = stored.labels(seed)
        times = stored.stored_times
        draw_state(above, stored, stored.tokens(seed, times[0]), labels)
        last = stored.tokens(seed)
        draw_state(below, stored, last, labels)
        draw_prediction(below, stored, seed)
        count_if_one(below, last)
        above.set_title(case_title(stored.case))
        for axes, time in ((above, times[0]), (below, times[-1])):
            axes.text(0.0, 0.03, rf"$\tau = {number(time)}$", transform=axes.transAxes, fontsize=8)
        distance = float(dirac_distance(last))
        shown = "< 0.001" if distance < 1e-3 else f"{distance:.2f}"
        below.text(0.5, -0.03, f"Dirac distance {shown}", transform=below.transAxes, ha="center", va="top")
    letter_panels(list(grid[0]))
    explain_states(figure, chosen)
    return figure
