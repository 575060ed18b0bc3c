"""The spectral dichotomy: Dirac mass or great circle, by the share of the oscillating part of the weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.bands import count_seeds, draw_ranges
from usaav.figures.great_circles import coefficients
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.style import BLUE, GREY, PAGE, VERMILION, Look, letter_panels, new_figure
from usaav.theory import dichotomy_threshold, mode_eigenvalue, toeplitz_dirac_distance, toeplitz_energy

Array = NDArray[np.float64]
Coefficients = dict[int, float]

_MEASURED = Look(BLUE, "-", "o")


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None) -> Figure:
    """Last Dirac distance (left) and energy (right) against the share a, with the predicted branch.

    The weight is ``(1 - a) + a v`` with one oscillating part v for all cases.

    Parameters
    ----------
    sources
        Tables with the columns ``dirac_distance`` and ``energy``, of Toeplitz weights with linear profile.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing, or the weights are no such family.
    """
    chosen = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    chosen.sort(key=share)
    oscillating = _oscillating(chosen)
    threshold = dichotomy_threshold(oscillating)
    figure = new_figure(PAGE, 2.8)
    panels = figure.subplots(1, 2)
    shares = [share(stored) for stored in chosen]
    for axes, column in zip(panels, ("dirac_distance", "energy"), strict=True):
        values = [_last(sources, stored, column) for stored in chosen]
        draw_ranges(axes, shares, values, _MEASURED, f"median of {count_seeds(values)}, bar: all of them")
        axes.axvline(threshold, color=GREY, linestyle=":", linewidth=1.0)
        axes.set_xlabel("share $a$ of the oscillating part")
        axes.set_xlim(-0.02, 1.02)
    _draw_distances(panels[0], oscillating, threshold)
    _draw_energies(panels[1], oscillating)
    panels[0].set_ylabel(rf"Dirac distance at $\tau = {chosen[0].stored_times[-1]:g}$")
    panels[1].set_ylabel(rf"energy $E$ at $\tau = {chosen[0].stored_times[-1]:g}$")
    panels[0].annotate(
        rf"$a = {threshold:.4f}$",
        (threshold, 0.45),
        xytext=(-4.0, 0.0),
        textcoords="offset points",
        ha="right",
        color=GREY,
    )
    letter_panels(list(panels))
    handles, names = panels[1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return figure


def share(stored: StoredCase) -> float:
    """The share a of the oscillating part in the weight ``(1 - a) + a v``, whose coefficients sum to 1."""
    weight = coefficients(stored)
    return 1.0 - weight.get(0, 0.0) / sum(weight.values())


def weight_at(oscillating: Coefficients, a: float) -> Coefficients:
    """Coefficients of ``(1 - a) + a v``."""
    return {0: 1.0 - a, **{m: a * value for m, value in oscillating.items()}}


def _oscillating(chosen: list[StoredCase]) -> Coefficients:
    """The coefficients of v, the same for all cases."""
    found: list[tuple[StoredCase, Coefficients]] = []
    for stored in chosen:
        parts = {m: value for m, value in coefficients(stored).items() if m > 0 and value != 0.0}
        total = sum(parts.values())
        if parts:
            found.append((stored, {m: value / total for m, value in parts.items()}))
    if not found:
        raise DataError(f"{chosen[0].where}: no case has an oscillating part in its weight")
    reference = found[-1][1]
    for stored, parts in found:
        same = parts.keys() == reference.keys() and all(
            abs(parts[m] - value) < 1e-9 for m, value in reference.items()
        )
        if not same:
            raise DataError(
                f"{stored.where}: its oscillating part {parts} is not {reference}, "
                f"that of {found[-1][0].where}"
            )
    return reference


def _last(sources: Sources, stored: StoredCase, column: str) -> Array:
    """Values ``(seeds,)`` at the last time."""
    table = sources.rows(stored, [column])
    rows = table[table["time"] == table["time"].max()].sort_values("seed", kind="stable")
    return np.asarray(rows[column], dtype=np.float64)


def _draw_distances(axes: Axes, oscillating: Coefficients, threshold: float) -> None:
    for ends in ((0.0, threshold), (threshold, 1.0)):
        level = toeplitz_dirac_distance(weight_at(oscillating, 0.5 * sum(ends)))
        axes.plot(ends, (level, level), color="black", linewidth=1.0, zorder=2)


def _draw_energies(axes: Axes, oscillating: Coefficients) -> None:
    shares = np.linspace(0.0, 1.0, 301)
    weights = [weight_at(oscillating, float(a)) for a in shares]
    highest = [toeplitz_energy(weight) for weight in weights]
    axes.plot(shares, highest, color="black", linewidth=1.0, zorder=2, label="predicted")
    modes = sorted({0, *oscillating})
    for m in modes:
        axes.plot(
            shares,
            [0.5 * mode_eigenvalue(weight, m) for weight in weights],
            color=VERMILION,
            linewidth=0.7,
            linestyle=(0, (4, 2)),
            zorder=1,
            label="each mode alone" if m == modes[0] else None,
        )
