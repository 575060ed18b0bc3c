"""Weights that change their sign: the tokens spread over a great circle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from usaav.config.part_models import ToeplitzFields
from usaav.errors import DataError
from usaav.figures.bands import legend_line
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.sphere import draw_curve
from usaav.figures.states import draw_state
from usaav.figures.style import PAGE, Look, kinds, letter_panels, new_figure, number
from usaav.theory import toeplitz_maximiser, toeplitz_singular_values, top_mode

Array = NDArray[np.float64]


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Figure:
    """One column for each weight: last tokens of each profile, then the singular values of the tokens.

    Singular values are those of the token matrix ``(n, 3)`` over ``sqrt(n)``, one thin line for each run.

    Parameters
    ----------
    sources
        Stored tokens on S^2 of Toeplitz weights without a gauge.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run the spheres show; the first for None.

    Raises
    ------
    DataError
        Data are missing, not on S^2, or of another kernel.
    """
    columns = _columns(sources, select)
    profiles = sorted({profile for column in columns.values() for profile in column}, reverse=True)
    looks = dict(zip(profiles, kinds(len(profiles)), strict=True))
    width = PAGE / max(3, len(columns))
    figure = new_figure(PAGE, len(profiles) * (width + 0.15) + 2.2)
    grid = figure.subplots(
        len(profiles) + 1,
        len(columns),
        squeeze=False,
        height_ratios=[width] * len(profiles) + [0.75 * width],
    )
    for panels, column in zip(grid.T, columns.values(), strict=True):
        for axes, profile in zip(panels, profiles, strict=False):
            if profile in column:
                _draw_sphere(axes, column[profile], seed)
            else:
                axes.set_axis_off()
        for profile, stored in column.items():
            _draw_singular_values(panels[-1], stored, looks[profile])
        panels[-1].set_xlabel(r"time $\tau$")
        panels[-1].set_ylim(-0.03, 1.0)
        panels[-1].sharey(grid[-1, 0])
    grid[-1, 0].set_ylabel("singular values")
    letter_panels([axes for axes in grid.flat if axes.axison or axes.get_title()])
    figure.legend(handles=_entries(looks), loc="outside lower center", ncols=len(profiles) + 2)
    return figure


def coefficients(stored: StoredCase) -> dict[int, float]:
    """``{m: c_m}`` of the weight.

    Raises
    ------
    DataError
        It is no Toeplitz weight, or there is a gauge.
    """
    weight = stored.case.settings.kernel.weight
    if not isinstance(weight, ToeplitzFields) or not stored.kernel.gauge.is_identity:
        raise DataError(f"{stored.where}: no toeplitz kernel without a gauge, which is what is shown here")
    return dict(weight.coefficients)


def profile_name(stored: StoredCase) -> str:
    """The profile phi in words, with its beta."""
    beta = facts(stored.case)["beta"]
    return r"linear $\varphi$" if beta == 0.0 else rf"exponential $\varphi$, $\beta = {number(beta)}$"


def _columns(sources: Sources, select: Mapping[str, Any] | None) -> dict[Any, dict[str, StoredCase]]:
    """Weight -> name of the profile -> case."""
    columns: dict[Any, dict[str, StoredCase]] = {}
    for experiment in sources.experiments:
        for stored in sources.one_each(experiment, select):
            key = tuple(sorted(coefficients(stored).items()))
            columns.setdefault(key, {})[profile_name(stored)] = stored
    return dict(sorted(columns.items()))


def _draw_sphere(axes: Axes, stored: StoredCase, seed: int | None) -> None:
    weight, last, labels = coefficients(stored), stored.tokens(seed), stored.labels(seed)
    if labels is None:
        raise DataError(f"{stored.where}: no labels")
    m = top_mode(weight)
    # colours go round once with the place on the circle, not m times with the label
    draw_state(axes, stored, last, m * labels, size=10.0)
    places = toeplitz_maximiser(weight, labels, last)
    if m > 0:
        first, second = toeplitz_frame(places, labels, m)
        turn = np.linspace(0.0, 2.0 * np.pi, 361)[:, None]
        draw_curve(axes, np.cos(turn) * first + np.sin(turn) * second)
    axes.set_title(f"$m = {m}$, {profile_name(stored)}")
    deviation = float(np.max(np.linalg.norm(last - places, axis=-1)))
    text: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "va": "top", "fontsize": 7}
    axes.text(0.5, -0.01, f"largest deviation {deviation:.0e} rad", **text)


def toeplitz_frame(places: Array, labels: Array, m: int) -> tuple[Array, Array]:
    """The orthonormal a and b of places ``a cos(m xi) + b sin(m xi)``, each ``(d,)``."""
    waves = np.stack([np.cos(m * labels), np.sin(m * labels)], axis=1)
    frame = np.linalg.lstsq(waves, places, rcond=None)[0]
    return frame[0], frame[1]


def _draw_singular_values(axes: Axes, stored: StoredCase, look: Look) -> None:
    tokens = stored.dataset["tokens"].values
    values = np.linalg.svd(tokens, compute_uv=False) / np.sqrt(tokens.shape[-2])
    for run in values:
        for which in run.T:
            axes.plot(
                stored.stored_times, which, color=look.color, linestyle=look.line, linewidth=0.6, alpha=0.7
            )
    for level in np.unique(toeplitz_singular_values(coefficients(stored), tokens.shape[-1])):
        axes.axhline(level, color="black", linewidth=0.6, linestyle=(0, (6, 3)), zorder=3)
    axes.margins(x=0.0)


def _entries(looks: dict[str, Look]) -> list[Line2D]:
    return [
        *(legend_line(look, name) for name, look in looks.items()),
        Line2D([], [], color="black", label="predicted circle"),
        Line2D(
            [], [], color="black", linewidth=0.6, linestyle=(0, (6, 3)), label="predicted singular values"
        ),
    ]
