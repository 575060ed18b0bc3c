"""Which number of clusters forms first: growth of the fastest mode, and first clusters, against beta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.bands import count_seeds, draw_ranges
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.style import BLACK, PAGE, Look, kinds, letter_panels, new_figure, number
from usaav.metrics.modes import first_cluster_counts, mode_growth
from usaav.theory import fastest_mode, mode_growth_rate

Array = NDArray[np.float64]


def draw(
    sources: Sources,
    *,
    linear: float = 0.25,
    saturated: float = 0.5,
    select: Mapping[str, Any] | None = None,
) -> Figure:
    """Left the measured over the predicted growth rate, right the first cluster count on the circle.

    Parameters
    ----------
    sources
        Data with recorded mode amplitudes, in dimension 2 or 3.
    linear
        Total amplitude up to which growth counts as linear.
    saturated
        Total amplitude at which clusters are counted.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing, or modes are not recorded up to the fastest.
    """
    by_dim = _by_dim(sources, select)
    looks = dict(zip(by_dim, kinds(len(by_dim)), strict=True))
    figure = new_figure(PAGE, 2.8)
    growth, counts = figure.subplots(1, 2)
    for dim, cases in by_dim.items():
        _draw_growth(growth, dim, cases, looks[dim], linear)
    growth.axhline(1.0, color=BLACK, linewidth=0.7, zorder=0)
    growth.set_ylabel("growth rate over the predicted one")
    if 2 in by_dim:
        _draw_counts(counts, by_dim[2], looks[2], saturated)
    for dim in by_dim:
        _draw_prediction(counts, dim, looks[dim], _betas(by_dim[dim]))
    counts.set_yscale("log", base=2)
    counts.yaxis.set_major_formatter("{x:g}")
    counts.set_ylabel("first number of clusters; fastest mode")
    betas = sorted({beta for cases in by_dim.values() for beta in _betas(cases)})
    for axes in (growth, counts):
        axes.set_xscale("log")
        axes.set_xticks(betas, [number(beta) for beta in betas])
        axes.minorticks_off()
        axes.set_xlabel(r"$\beta$")
    growth.margins(y=0.25)
    growth.legend(loc="upper left", handlelength=1.2)
    counts.legend(loc="upper left")
    letter_panels([growth, counts])
    return figure


def _by_dim(sources: Sources, select: Mapping[str, Any] | None) -> dict[int, list[StoredCase]]:
    found: dict[int, list[StoredCase]] = {}
    for experiment in sources.experiments:
        for stored in sources.cases(experiment, select):
            if "mode_amplitude" not in stored.dataset:
                raise DataError(f"{stored.where}: no mode amplitudes; set mode_degrees in the experiment")
            found.setdefault(stored.case.settings.dim, []).append(stored)
    return {dim: sorted(cases, key=_beta) for dim, cases in sorted(found.items())}


def _beta(stored: StoredCase) -> float:
    return float(facts(stored.case)["beta"])


def _betas(cases: list[StoredCase]) -> list[float]:
    return sorted({_beta(stored) for stored in cases})


def _draw_growth(axes: Axes, dim: int, cases: list[StoredCase], look: Look, linear: float) -> None:
    ratios = []
    for stored in cases:
        degree = fastest_mode(_beta(stored), dim)
        measured = mode_growth(stored.dataset, degree, linear)
        ratios.append(measured / mode_growth_rate(degree, _beta(stored), dim))
    places = np.array([_beta(stored) for stored in cases])
    # a little apart, so that bars at the same beta do not hide one another
    places *= 0.97 if dim == 2 else 1.03
    draw_ranges(axes, places, ratios, look, f"$d = {dim}$, median and all {count_seeds(ratios)}")


def _draw_counts(axes: Axes, cases: list[StoredCase], look: Look, saturated: float) -> None:
    counts = [first_cluster_counts(stored.dataset, _beta(stored), saturated) for stored in cases]
    draw_ranges(axes, [_beta(stored) for stored in cases], counts, look, "first clusters, $d = 2$")


def _draw_prediction(axes: Axes, dim: int, look: Look, betas: list[float]) -> None:
    # a single beta gets a short line
    stretch = 1.0 if len(betas) > 1 else 1.2
    between = np.geomspace(betas[0] / stretch, betas[-1] * stretch, 400)
    fastest = [fastest_mode(float(beta), dim) for beta in between]
    axes.plot(
        between,
        fastest,
        color=look.color,
        linestyle=look.line,
        linewidth=1.0,
        label=f"fastest mode, $d = {dim}$",
    )
