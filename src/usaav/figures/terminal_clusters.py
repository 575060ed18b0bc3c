"""Where tokens with prompts end: one cluster for each prompt, at its predicted place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from usaav.errors import DataError
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.states import draw_prediction, draw_state, has_prompts, predicted_places
from usaav.figures.style import PAGE, letter_panels, new_figure
from usaav.figures.titles import variant_name


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Figure:
    """One sphere for each case: last tokens in colour and marker of their prompt, rings at the predictions.

    Parameters
    ----------
    sources
        Stored tokens on S^2 of kernels with prompts.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing, not on S^2, or without prompts.
    """
    chosen = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    chosen.sort(key=lambda stored: _prompts(stored, seed))
    columns = min(4, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    figure = new_figure(PAGE, rows * (PAGE / columns + 0.15) + 0.35)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, stored in zip(grid.flat, chosen, strict=False):
        last, labels = stored.tokens(seed), stored.labels(seed)
        draw_state(axes, stored, last, labels, size=11.0)
        draw_prediction(axes, stored, seed)
        deviation = float(np.max(np.linalg.norm(last - predicted_places(stored, seed), axis=-1)))
        axes.set_title(f"$K = {_prompts(stored, seed)}$, {variant_name(stored.case)}".rstrip(", "))
        axes.text(
            0.5,
            -0.02,
            f"largest deviation {deviation:.0e} rad",
            transform=axes.transAxes,
            ha="center",
            va="top",
            fontsize=7,
        )
    for axes in grid.flat[len(chosen) :]:
        axes.remove()
    letter_panels(list(grid.flat[: len(chosen)]))
    figure.legend(
        handles=[
            _entry(r"predicted centre $G_p^{T} u$", 7.0, "black", "none"),
            _entry("tokens of a prompt, near side", 4.0, "grey", "grey"),
            _entry("far side", 4.0, "grey", "white"),
        ],
        loc="outside lower center",
        ncols=3,
    )
    return figure


def _prompts(stored: StoredCase, seed: int | None) -> int:
    """The number of prompts of a run."""
    labels = stored.labels(seed)
    if labels is None or not has_prompts(stored):
        raise DataError(f"{stored.where}: the labels are no prompts; terminal_clusters shows prefix kernels")
    return len(np.unique(labels))


def _entry(label: str, size: float, edge: str, face: str) -> Line2D:
    """A legend entry that is one marker."""
    marker = Line2D([], [], linestyle="none", marker="o", markersize=size, label=label)
    marker.set(markeredgecolor=edge, markerfacecolor=face)
    return marker
