"""The last plateau: how long two clusters last, measured and from the quadrature of two clusters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from usaav.errors import DataError
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.style import PAGE, Look, kinds, letter_panels, new_figure, number
from usaav.figures.titles import case_title

#: smaller relative deviations are drawn here: they are rounding
_ROUNDING = 1e-16


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None) -> Figure:
    """Left the measured against the predicted time on logarithmic axes, right their relative deviation.

    Parameters
    ----------
    sources
        Tables of merges with the columns ``duration`` and ``predicted_duration``; runs that did not end with
        one cluster are left out.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing, or no run ended with one cluster.
    """
    series = _series(sources, select)
    figure = new_figure(PAGE, 2.9)
    against, deviation = figure.subplots(1, 2)
    # of equal beta, the families stand beside one another
    betas = np.unique(np.concatenate([table["beta"] for table in series.values()]))
    apart = 0.16 * float(np.diff(betas).min(initial=5.0))
    offsets = apart * (np.arange(len(series)) - 0.5 * (len(series) - 1))
    for (name, table), look, offset in zip(series.items(), kinds(len(series)), offsets, strict=True):
        _scatter(against, table["predicted_duration"], table["duration"], look, name)
        relative = np.maximum(np.abs(table["duration"] / table["predicted_duration"] - 1.0), _ROUNDING)
        _scatter(deviation, table["beta"] + offset, relative, look, name)
    everything = pd.concat(series.values())
    ends = [everything["predicted_duration"].min() / 5.0, everything["predicted_duration"].max() * 5.0]
    against.plot(ends, ends, color="black", linewidth=0.7, zorder=0, label="slope 1")
    slope = np.polyfit(np.log(everything["predicted_duration"]), np.log(everything["duration"]), 1)[0]
    against.text(0.05, 0.92, f"fitted slope {slope:.6f}", transform=against.transAxes)
    against.set_xscale("log")
    against.set_yscale("log")
    against.set_xlabel(r"predicted duration of the last plateau, $\tau$")
    against.set_ylabel(r"measured duration, $\tau$")
    deviation.set_yscale("log")
    low = 10.0 ** math.floor(math.log10(deviation.get_ylim()[0]))
    deviation.set_ylim(low, 10.0 ** math.ceil(math.log10(deviation.get_ylim()[1])))
    for axis in (against.xaxis, against.yaxis, deviation.yaxis):
        axis.set_major_locator(LogLocator(numticks=7))
        axis.set_minor_locator(NullLocator())
    deviation.set_xticks(betas, [number(beta) for beta in betas])
    deviation.set_xlabel(r"$\beta$")
    deviation.set_ylabel("relative deviation")
    letter_panels([against, deviation])
    handles, names = against.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure


def last_plateaus(sources: Sources, stored: StoredCase) -> pd.DataFrame:
    """One row for each run that ended with one cluster: columns beta, duration, predicted_duration."""
    merges = sources.merges(stored, ["duration", "predicted_duration"])
    last = merges[merges["clusters_left"] == 1].dropna(subset=["duration", "predicted_duration"])
    return last[["duration", "predicted_duration"]].assign(beta=facts(stored.case)["beta"])


def _series(sources: Sources, select: Mapping[str, Any] | None) -> dict[str, pd.DataFrame]:
    """Tables of :func:`last_plateaus` by variant and dimension."""
    parts: dict[str, list[pd.DataFrame]] = {}
    for experiment in sources.experiments:
        for stored in sources.cases(experiment, select):
            table = last_plateaus(sources, stored)
            if len(table):
                parts.setdefault(case_title(stored.case, "dim"), []).append(table)
    if not parts:
        raise DataError(
            f"exit times of {', '.join(sources.experiments)}: no run ended with one cluster; let them run on"
        )
    return {name: pd.concat(tables) for name, tables in parts.items()}


def _scatter(axes: Axes, across: Any, up: Any, look: Look, name: str) -> None:
    axes.scatter(
        across,
        up,
        s=16.0,
        marker=look.marker,
        facecolors="none",
        edgecolors=look.color,
        linewidths=0.8,
        label=name,
    )
