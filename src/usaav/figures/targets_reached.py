"""Any set of points on the sphere: targets and where the tokens end, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.sphere import View, best_view, draw_points, draw_sphere, require_sphere
from usaav.figures.states import has_prompts
from usaav.figures.style import PAGE, around_circle, letter_panels, new_figure, number
from usaav.figures.titles import variant_name
from usaav.metrics import wasserstein
from usaav.theory import predicted_tokens

Array = NDArray[np.float64]

#: smaller distances are rounding
_ROUNDING = 1e-12


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Figure:
    """One column for each case (largest n): first tokens, last tokens and targets, coloured by prompt.

    Each sphere is looked at from where its targets are densest. The colour of a token is that of its target:
    it goes round with the target's longitude in that view.

    Parameters
    ----------
    sources
        Stored tokens on S^2 of prefix kernels with an anchored start.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing, not on S^2, or without prompts.
    """
    chosen = [
        stored for experiment in sources.experiments for stored in _largest(sources, experiment, select)
    ]
    figure = new_figure(PAGE, 3.0 * PAGE / len(chosen) + 0.45)
    grid = figure.subplots(3, len(chosen), squeeze=False)
    for panels, stored in zip(grid.T, chosen, strict=True):
        last, targets = stored.tokens(seed), target_points(stored, seed)
        view = best_view(targets)
        colors = around_circle(view_longitude(targets, view))
        first = stored.tokens(seed, float(stored.stored_times[0]))
        size = 4.0 if len(targets) <= 300 else 1.6
        for axes, points in zip(panels, (first, last, targets), strict=True):
            draw_sphere(axes, view)
            draw_points(axes, points, color=colors, size=size, view=view)
        panels[0].set_title(f"{variant_name(stored.case)}".lstrip(", "))
        distance = wasserstein(last, targets)
        shown = f"= {distance:.0e}" if distance > _ROUNDING else f"< {_ROUNDING:g}"
        panels[2].text(0.5, -0.02, rf"$W_2$ {shown}", **_below(panels[2]))
    letter_panels(list(grid[0]))
    start, end = chosen[0].stored_times[0], chosen[0].stored_times[-1]
    names = (rf"tokens at $\tau = {number(start)}$", rf"tokens at $\tau = {number(end)}$", "targets $T(p)$")
    for axes, name in zip(grid[:, 0], names, strict=True):
        axes.text(-0.02, 0.5, name, transform=axes.transAxes, rotation=90, ha="right", va="center")
    return figure


def target_points(stored: StoredCase, seed: int | None) -> Array:
    """The target ``(n, 3)`` of each token: where the prediction puts it when the consensus is u0 = e_3.

    Raises
    ------
    DataError
        The labels are no prompts, or the tokens are not on S^2.
    """
    if not has_prompts(stored):
        raise DataError(f"{stored.where}: the labels are no prompts; targets are those of prefix kernels")
    dim = stored.case.settings.dim
    targets = np.asarray(predicted_tokens(stored.kernel, stored.labels(seed), np.eye(dim)[-1]))
    require_sphere(targets, stored.where)
    return targets


def view_longitude(points: Array, view: View) -> Array:
    """Angle ``(n,)`` in radians of `points` around the line of sight."""
    across, up, _ = view.project(points)
    return np.arctan2(up, across)


def _largest(sources: Sources, experiment: str, select: Mapping[str, Any] | None) -> list[StoredCase]:
    """Of the cases that differ in n alone the one with the largest."""
    found: dict[tuple[Any, ...], StoredCase] = {}
    for stored in sorted(sources.cases(experiment, select), key=lambda one: one.case.settings.n_tokens):
        found[tuple(sorted(stored.case.parameters.items()))] = stored
    return list(found.values())


def _below(axes: Axes) -> dict[str, Any]:
    return {"transform": axes.transAxes, "ha": "center", "va": "top", "fontsize": 7}
