"""Tokens on the sphere at a few times, one row for each case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from usaav.figures.sources import Sources, StoredCase
from usaav.figures.sphere import count_if_one
from usaav.figures.states import draw_prediction, draw_state
from usaav.figures.style import PAGE, new_figure, number
from usaav.figures.titles import case_title

COLUMNS = 5


def draw(
    sources: Sources,
    *,
    select: Mapping[str, Any] | None = None,
    seed: int | None = None,
    times: Sequence[float] | None = None,
) -> Figure:
    """Rows are cases, columns times; the predicted orbit is drawn in at the last time.

    Parameters
    ----------
    sources
        Stored tokens on S^2.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.
    times
        Times tau at which tokens were stored; for None five of them, from the first to the last.

    Raises
    ------
    DataError
        Data are missing, or not on S^2; no tokens were stored at one of `times`.
    """
    rows = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    columns = COLUMNS if times is None else len(times)
    figure = new_figure(PAGE, len(rows) * (PAGE / columns) + 0.25)
    grid = figure.subplots(len(rows), columns, squeeze=False)
    for stored, panels in zip(rows, grid, strict=True):
        shown = _spread(stored) if times is None else [float(time) for time in times]
        for axes, time in zip(panels, shown, strict=True):
            tokens = stored.tokens(seed, time)
            draw_state(axes, stored, tokens, stored.labels(seed), size=5.0)
            axes.set_title(rf"$\tau = {number(time)}$")
            if time == stored.stored_times[-1]:
                count_if_one(axes, tokens)
                draw_prediction(axes, stored, seed)
        panels[0].text(
            -0.04,
            0.5,
            case_title(stored.case, "beta"),
            transform=panels[0].transAxes,
            rotation=90,
            ha="right",
            va="center",
        )
    return figure


def _spread(stored: StoredCase) -> list[float]:
    """Five stored times, closer together at the start, where most happens."""
    times = stored.stored_times
    wanted = times[-1] * np.array([0.0, 0.1, 0.2, 0.4, 1.0])
    return [float(times[int(np.argmin(np.abs(times - time)))]) for time in wanted]
