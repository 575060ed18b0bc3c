"""Slice-wise and marginal Dirac distance on one axis: slices of equal label collapse, the whole does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from usaav.figures.bands import draw_band, explain_bands, log_axis
from usaav.figures.sources import Sources
from usaav.figures.style import PAGE, kinds, letter_panels, new_figure
from usaav.figures.titles import case_title


def draw(sources: Sources, *, floor: float = 1e-8, select: Mapping[str, Any] | None = None) -> Figure:
    """One panel for each case (the largest n of each variant): all tokens, and the worst slice.

    Parameters
    ----------
    sources
        Tables with the columns ``dirac_distance`` and ``conditional_dirac_distance``.
    floor
        Lower end of the logarithmic axis; smaller distances are drawn there.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing.
    """
    chosen = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    figure = new_figure(PAGE * min(1.0, 0.4 * len(chosen)), 2.7)
    panels = figure.subplots(1, len(chosen), sharey=True, squeeze=False)[0]
    marginal, sliced = kinds(2)
    for axes, stored in zip(panels, chosen, strict=True):
        table = sources.rows(stored, ["dirac_distance", "conditional_dirac_distance"])
        whole = draw_band(axes, table, "dirac_distance", marginal, floor)
        worst = draw_band(axes, table, "conditional_dirac_distance", sliced, floor)
        axes.set_title(case_title(stored.case, "n_tokens"))
        log_axis(axes, floor)
        axes.set_xlabel(r"time $\tau$")
    panels[0].set_ylabel("Dirac distance")
    letter_panels(list(panels))
    whole.set_label("all tokens (marginal)")
    worst.set_label("widest slice of equal label")
    handles = [whole, worst, *explain_bands(max(len(stored.case.seeds) for stored in chosen))]
    figure.legend(handles=handles, loc="outside lower center", ncols=2 if len(chosen) < 2 else 4)
    return figure
