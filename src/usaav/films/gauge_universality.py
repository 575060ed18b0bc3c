"""Tokens on their way to any set of targets: one sphere for each set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from usaav.figures.sources import Sources
from usaav.figures.sphere import best_view, draw_points, draw_sphere
from usaav.figures.style import around_circle
from usaav.figures.targets_reached import target_points, view_longitude
from usaav.figures.titles import variant_name
from usaav.films.scenes import Scene, common_times


def scene(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Scene:
    """One sphere for each case, one frame for each stored time; a token has the colour of its target.

    Parameters
    ----------
    sources
        Stored tokens on S^2 of prefix kernels, at the same times in all cases.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing, not on S^2, without prompts, or stored at different times.
    """
    chosen = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    times = common_times(chosen)
    figure = Figure(figsize=(8.0, 8.0 / len(chosen) + 0.5))
    figure.subplots_adjust(left=0.005, right=0.995, bottom=0.12, top=0.88, wspace=0.02)
    panels = figure.subplots(1, len(chosen), squeeze=False)[0]
    runs = []
    for axes, stored in zip(panels, chosen, strict=True):
        targets = target_points(stored, seed)
        view = best_view(targets)
        draw_sphere(axes, view)
        axes.set_title(variant_name(stored.case))
        runs.append((stored.trajectory(seed), around_circle(view_longitude(targets, view)), view))

    def move(index: int) -> None:
        for axes, (trajectory, colors, view) in zip(panels, runs, strict=True):
            draw_points(axes, trajectory[index], color=colors, size=6.0, view=view)
        figure.text(0.5, 0.03, rf"$\tau = {times[index]:.1f}$", ha="center", fontsize=9)

    return Scene(figure, len(times), move)
