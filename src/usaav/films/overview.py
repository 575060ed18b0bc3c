"""The overview in motion: the baseline collapses, RoPE ends on a circle, prefix in clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from usaav.figures.sources import Sources
from usaav.figures.sphere import count_if_one, draw_sphere, require_sphere
from usaav.figures.states import draw_prediction, draw_tokens
from usaav.figures.titles import case_title
from usaav.films.scenes import Scene, common_times


def scene(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Scene:
    """One sphere for each experiment, one frame for each time at which tokens were stored.

    Parameters
    ----------
    sources
        Stored tokens on S^2, at the same times in all experiments; the first matching case of each is shown.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing, not on S^2, or stored at different times.
    """
    chosen = [sources.one_each(experiment, select)[0] for experiment in sources.experiments]
    times = common_times(chosen)
    runs = [(stored, stored.trajectory(seed), stored.labels(seed)) for stored in chosen]
    count = len(chosen)
    figure = Figure(figsize=(2.2 * count, 2.65))
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.1, top=0.9, wspace=0.03)
    panels = figure.subplots(1, count, squeeze=False)[0]
    for axes, (stored, trajectory, _) in zip(panels, runs, strict=True):
        require_sphere(trajectory, stored.where)
        draw_sphere(axes)
        axes.set_title(case_title(stored.case))

    def move(index: int) -> None:
        for axes, (stored, trajectory, labels) in zip(panels, runs, strict=True):
            draw_tokens(axes, stored, trajectory[index], labels, size=9.0)
            count_if_one(axes, trajectory[index])
            if index == len(times) - 1:
                draw_prediction(axes, stored, seed)
        figure.text(0.5, 0.03, rf"$\tau = {times[index]:.1f}$", ha="center", fontsize=9)

    return Scene(figure, len(times), move)
