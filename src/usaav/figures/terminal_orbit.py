"""Where the tokens end, with the predicted orbit drawn in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from usaav.figures.sources import Sources
from usaav.figures.states import draw_prediction, draw_state, explain_states, predicted_places
from usaav.figures.style import PAGE, letter_panels, new_figure
from usaav.figures.titles import case_title

SEEDS = 3


def draw(
    sources: Sources, *, seeds: Sequence[int] | None = None, select: Mapping[str, Any] | None = None
) -> Figure:
    """One row for each case, one sphere for each seed: last tokens, predicted orbit, largest deviation.

    Parameters
    ----------
    sources
        Stored tokens on S^2 of kernels with labels.
    seeds
        Which runs; the first three for None.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing, or not on S^2.
    """
    rows = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    columns = SEEDS if seeds is None else len(seeds)
    figure = new_figure(PAGE, len(rows) * (PAGE / columns) + 0.3)
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for stored, panels in zip(rows, grid, strict=True):
        shown = stored.case.seeds[:SEEDS] if seeds is None else seeds
        for axes, seed in zip(panels, shown, strict=False):
            last = stored.tokens(seed)
            draw_state(axes, stored, last, stored.labels(seed))
            draw_prediction(axes, stored, seed)
            deviation = float(np.max(np.linalg.norm(last - predicted_places(stored, seed), axis=-1)))
            axes.set_title(f"{case_title(stored.case, 'n_tokens')}, seed {seed}")
            axes.text(
                0.5,
                -0.02,
                f"largest deviation {deviation:.0e} rad",
                transform=axes.transAxes,
                ha="center",
                va="top",
                fontsize=7,
            )
        for axes in panels[len(shown) :]:
            axes.set_axis_off()
    letter_panels([axes for axes in grid.flat if axes.axison or axes.get_title()])
    explain_states(figure, rows)
    return figure
