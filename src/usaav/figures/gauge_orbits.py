"""Orbits of generalised rotations: curves on the sphere, and on the torus in dimension 4."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.sphere import best_view
from usaav.figures.states import (
    draw_prediction,
    draw_state,
    explain_states,
    predicted_curve,
    predicted_places,
)
from usaav.figures.style import PAGE, around_circle, letter_panels, new_figure
from usaav.figures.titles import variant_name
from usaav.kernels import PlaneRotations

Array = NDArray[np.float64]

SEEDS = 2
#: points of a predicted curve on the torus, which may wind round many times
_FINE = 20001


def draw(
    sources: Sources, *, seeds: Sequence[int] | None = None, select: Mapping[str, Any] | None = None
) -> Figure:
    """One column for each case, one row for each seed: last tokens on their predicted orbit.

    Tokens on S^2 are drawn on the sphere, seen from above their middle; those in dimension 4 by their angles
    in the two planes of rotation. Colours go round with the label.

    Parameters
    ----------
    sources
        Stored tokens of kernels with plane rotations, in dimension 3, or in dimension 4 with two planes that
        share no axis.
    seeds
        Which runs; the first two for None.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing, or of another dimension or gauge.
    """
    chosen = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    rows = min(SEEDS, len(chosen[0].case.seeds)) if seeds is None else len(seeds)
    figure = new_figure(PAGE, rows * (PAGE / len(chosen) + 0.2) + 0.35)
    grid = figure.subplots(rows, len(chosen), squeeze=False)
    for panels, stored in zip(grid.T, chosen, strict=True):
        shown = stored.case.seeds[:rows] if seeds is None else seeds
        for axes, seed in zip(panels, shown, strict=True):
            if stored.case.settings.dim == 4:
                _draw_torus(axes, stored, seed)
            else:
                view = best_view(stored.tokens(seed))
                draw_state(axes, stored, stored.tokens(seed), stored.labels(seed), size=7.0, view=view)
                draw_prediction(axes, stored, seed, view=view)
            deviation = np.linalg.norm(stored.tokens(seed) - predicted_places(stored, seed), axis=-1).max()
            name = f"{variant_name(stored.case)}, seed {seed}".lstrip(", ")
            axes.set_title(f"{name}\nlargest deviation {deviation:.0e} rad")
    letter_panels(list(grid.flat))
    explain_states(figure, chosen)
    return figure


def plane_angles(stored: StoredCase, points: Array) -> Array:
    """Angles ``(..., 2)`` of `points` ``(..., 4)`` in the two planes in which the gauge turns them, radians.

    Raises
    ------
    DataError
        The gauge has no two planes of rotation that share no axis.
    """
    gauge = stored.kernel.gauge
    planes = [rotation.plane for rotation in gauge.rotations] if isinstance(gauge, PlaneRotations) else []
    if len(planes) != 2 or len({*planes[0], *planes[1]}) != 4:
        raise DataError(
            f"{stored.where}: gauge_orbits shows dim: 4 by the angles in two planes that share no axis"
        )
    pairs = [np.arctan2(points[..., second], points[..., first]) for first, second in planes]
    return np.stack(pairs, axis=-1)


def _draw_torus(axes: Axes, stored: StoredCase, seed: int) -> None:
    curve = plane_angles(stored, predicted_curve(stored, seed, _FINE))
    # not over the edge of the square
    jumps = np.any(np.abs(np.diff(curve, axis=0)) > np.pi, axis=1)
    curve[1:][jumps] = np.nan
    axes.plot(curve[:, 0], curve[:, 1], color="black", linewidth=0.4, alpha=0.8)
    places = plane_angles(stored, stored.tokens(seed))
    labels = stored.labels(seed)
    turns = np.zeros(len(places)) if labels is None else labels * (2.0 * math.pi / max(labels.max(), 1e-300))
    # the labels run over many turns, so the colours go from the first to the last of them once
    axes.scatter(
        places[:, 0], places[:, 1], s=9.0, c=around_circle(turns), edgecolors="white", linewidths=0.3
    )
    axes.set_aspect("equal")
    for axis, name in ((axes.xaxis, "first"), (axes.yaxis, "second")):
        axis.set_ticks([-np.pi, 0.0, np.pi], [r"$-\pi$", "0", r"$\pi$"])
        axis.set_label_text(f"angle in the {name} plane")
        axis.labelpad = 1.0
    axes.set_xlim(-np.pi, np.pi)
    axes.set_ylim(-np.pi, np.pi)
