"""Clusters that form, wait and merge: tokens on circle and sphere while the logarithm of time goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.sphere import count_if_one, draw_sphere
from usaav.figures.states import draw_tokens
from usaav.figures.style import BLACK, BLUE, GREY, around_circle
from usaav.figures.titles import case_title, kernel_order
from usaav.films.scenes import Scene, common_times

Array = NDArray[np.float64]

#: time before the first merge and after the last one that is shown, as a factor
_BEFORE, _AFTER = 10.0, 30.0


def scene(
    sources: Sources, *, frames: int = 60, select: Mapping[str, Any] | None = None, seed: int | None = None
) -> Scene:
    """One column for each case: the tokens, and below the number of clusters with the time of the frame.

    Frames go evenly in the logarithm of time, from shortly before the first merge to shortly after the last;
    each shows the tokens as last stored. Kernels with a gauge are left out on the circle: there it hides the
    clusters, which are orbits.

    Parameters
    ----------
    sources
        Stored tokens in dimension 2 or 3 at the same times in all cases, and tables of merges.
    frames
        Number of frames.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing, of another dimension, stored at different times, or nothing has merged.
    """
    chosen = [
        stored
        for experiment in sources.experiments
        for stored in sources.one_each(experiment, select)
        if stored.case.settings.dim > 2 or stored.kernel.gauge.is_identity
    ]
    chosen.sort(key=lambda one: (kernel_order(one.case.settings.kernel), one.case.settings.dim))
    steps = [_cluster_steps(sources, stored, seed) for stored in chosen]
    span = _span(steps)
    times = np.geomspace(*span, frames)
    stored_rows = np.searchsorted(common_times(chosen), times, side="right") - 1
    figure = Figure(figsize=(2.4 * len(chosen), 3.9))
    figure.subplots_adjust(left=0.09, right=0.98, bottom=0.13, top=0.92, wspace=0.12, hspace=0.08)
    above, below = figure.subplots(2, len(chosen), squeeze=False, height_ratios=[2.2, 1.0])
    for axes, counts, stored, (when, left) in zip(above, below, chosen, steps, strict=True):
        _draw_empty(axes, stored)
        axes.set_title(case_title(stored.case, "dim", "beta"))
        counts.plot(when, left, drawstyle="steps-post", color=BLUE, linewidth=1.2)
        _dress(counts, span)
        counts.sharey(below[0])
        counts.tick_params(labelleft=counts is below[0])
    below[0].set_ylabel("clusters")
    runs = [(stored, stored.trajectory(seed), stored.labels(seed)) for stored in chosen]

    def move(index: int) -> None:
        for axes, counts, (stored, trajectory, labels) in zip(above, below, runs, strict=True):
            tokens = trajectory[stored_rows[index]]
            if stored.case.settings.dim == 2:
                _draw_on_circle(axes, tokens, trajectory[0])
            else:
                draw_tokens(axes, stored, tokens, labels, size=12.0)
                count_if_one(axes, tokens)
            counts.axvline(times[index], color=BLACK, linewidth=0.9)

    return Scene(figure, frames, move)


def _cluster_steps(sources: Sources, stored: StoredCase, seed: int | None) -> tuple[Array, Array]:
    """Times of the merges of a run with the number of clusters from then on; the start comes first.

    Raises
    ------
    DataError
        Nothing has merged.
    """
    merges = sources.merges(stored)
    merges = merges[merges["seed"] == stored.case.seeds[stored.run(seed)]]
    if merges.empty:
        raise DataError(f"{stored.where}: nothing has merged in this run; let it run on")
    times = np.asarray(merges["time"], dtype=np.float64)
    # tokens that start as one have merged at 0, which a logarithmic axis can't show
    first = float(times[times > 0.0].min(initial=np.inf))
    if not np.isfinite(first):
        raise DataError(f"{stored.where}: nothing has merged after the start of this run; let it run on")
    times = np.maximum(times, first)
    when = np.array([first / 1e3, *times, 1e3 * float(times[-1])])
    left = np.asarray(merges["clusters_left"], dtype=np.float64)
    return when, np.array([stored.case.settings.n_tokens, *left, left[-1]])


def _span(steps: list[tuple[Array, Array]]) -> tuple[float, float]:
    """From shortly before the first merge of all cases to shortly after the last."""
    return (
        min(float(when[1]) for when, _ in steps) / _BEFORE,
        max(float(when[-2]) for when, _ in steps) * _AFTER,
    )


def _draw_empty(axes: Axes, stored: StoredCase) -> None:
    dim = stored.case.settings.dim
    if dim == 3:
        draw_sphere(axes)
    elif dim == 2:
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_xlim(-1.15, 1.15)
        axes.set_ylim(-1.15, 1.15)
        axes.add_patch(Circle((0.0, 0.0), 1.0, fill=False, edgecolor=GREY, linewidth=0.7))
    else:
        raise DataError(f"{stored.where}: dim is {dim}; the film shows circle and sphere, so select 2 and 3")


def _draw_on_circle(axes: Axes, tokens: Array, start: Array) -> None:
    """Tokens ``(n, 2)`` in the colour of the angle at which they started."""
    colors = around_circle(np.arctan2(start[:, 1], start[:, 0]))
    axes.scatter(tokens[:, 0], tokens[:, 1], s=22.0, c=colors, edgecolors="white", linewidths=0.3, zorder=3)


def _dress(axes: Axes, span: tuple[float, float]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log", base=2)
    axes.set_xlim(*span)
    axes.xaxis.set_major_locator(LogLocator(numticks=4))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FormatStrFormatter("%d"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(r"time $\tau$", labelpad=1.0)
