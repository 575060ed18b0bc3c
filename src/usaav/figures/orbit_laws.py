"""Any law on the orbit: where tokens end against the law of their labels, and how that improves with n."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.bands import draw_ranges
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.style import BLUE, PAGE, Look, kinds, letter_panels, new_figure
from usaav.figures.titles import variant_name
from usaav.laws.quantiles import quantiles
from usaav.metrics import circle_wasserstein
from usaav.metrics.realised import orbit_angles, orbit_frequency

Array = NDArray[np.float64]
TURN = 2.0 * np.pi

#: points that stand for a law of labels: their distance to it is far below that of any sample
_POINTS = 2**17


def draw(
    sources: Sources, *, bins: int = 60, select: Mapping[str, Any] | None = None, seed: int | None = None
) -> Figure:
    """One histogram for each law (largest n) with the shares of the law itself, then W1 to it against n.

    Parameters
    ----------
    sources
        Stored tokens of RoPE with one plane, with labels of real numbers; one line of W1 for each variant.
    bins
        Of the histograms, over one turn.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run the histograms show; the first for None.

    Raises
    ------
    DataError
        Data are missing, or of another kernel.
    """
    series = _series(sources, select)
    columns = min(3, len(series) + 1)
    rows = math.ceil((len(series) + 1) / columns)
    figure = new_figure(PAGE, 1.9 * rows + 0.35)
    grid = figure.subplots(rows, columns, squeeze=False)
    panels = list(grid.flat)
    *histograms, decay = panels[: len(series) + 1]
    looks = kinds(len(series))
    for axes, cases, look in zip(histograms, series, looks, strict=True):
        largest = cases[-1]
        _draw_histogram(axes, largest, seed, bins)
        axes.set_title(f"{variant_name(largest.case)}, $n = {largest.case.settings.n_tokens}$".lstrip(", "))
        _draw_decay(decay, cases, look)
    for axes in grid[:, 0]:
        axes.set_ylabel("share of tokens")
    _dress_decay(decay, series)
    for axes in panels[len(series) + 1 :]:
        axes.remove()
    letter_panels([*histograms, decay])
    figure.legend(
        handles=[
            Patch(facecolor=BLUE, alpha=0.45, label="realised"),
            Line2D([], [], color="black", linewidth=0.8, label="law of the labels"),
        ],
        loc="outside lower left",
        ncols=2,
    )
    handles, names = decay.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower right", ncols=len(names), handlelength=1.2, columnspacing=1.0
    )
    return figure


def law_angles(stored: StoredCase, count: int = _POINTS) -> Array:
    """Angles ``(count,)`` on the orbit that stand for the law of the labels, in ``[0, 2 pi)``.

    Raises
    ------
    DataError
        The labels are no numbers, or the kernel is not RoPE with one plane.
    """
    return np.mod(orbit_frequency(stored.kernel) * quantiles(stored.case.settings.labels, count), TURN)


def distances_to_law(stored: StoredCase) -> Array:
    """W1 on the circle, in radians, between the realised angles of each run and the law, ``(runs,)``."""
    law = law_angles(stored)
    return np.array([circle_wasserstein(_realised(stored, seed), law) for seed in stored.case.seeds])


def _realised(stored: StoredCase, seed: int | None) -> Array:
    labels = stored.labels(seed)
    if labels is None:
        raise DataError(f"{stored.where}: no labels; orbit_laws shows the law of labels on an orbit")
    return orbit_angles(stored.kernel, stored.tokens(seed), labels)


def _series(sources: Sources, select: Mapping[str, Any] | None) -> list[list[StoredCase]]:
    """Cases that differ in n alone, in increasing order of it."""
    series: dict[tuple[Any, ...], list[StoredCase]] = {}
    for experiment in sources.experiments:
        for stored in sources.cases(experiment, select):
            series.setdefault((experiment, *sorted(stored.case.parameters.items())), []).append(stored)
    return [sorted(cases, key=lambda stored: stored.case.settings.n_tokens) for cases in series.values()]


def _draw_histogram(axes: Axes, stored: StoredCase, seed: int | None, bins: int) -> None:
    # 0 is in the middle of a bin: rounding may put an atom there just below 2 pi
    half = 0.5 * TURN / bins
    edges = np.linspace(0.0, TURN, bins + 1) - half
    realised, law = (
        np.histogram(np.mod(angles + half, TURN) - half, edges)[0] / len(angles)
        for angles in (_realised(stored, seed), law_angles(stored))
    )
    axes.stairs(realised, edges, fill=True, color=BLUE, alpha=0.45)
    axes.stairs(law, edges, color="black", linewidth=0.8)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xticks([0.0, np.pi, TURN], ["0", r"$\pi$", r"$2\pi$"])
    axes.set_xlabel("angle on the orbit (rad)", labelpad=1.0)


def _draw_decay(axes: Axes, cases: list[StoredCase], look: Look) -> None:
    sizes = [stored.case.settings.n_tokens for stored in cases]
    distances = [distances_to_law(stored) for stored in cases]
    draw_ranges(axes, sizes, distances, look, variant_name(cases[0].case))
    axes.plot(sizes, list(map(np.median, distances)), color=look.color, linestyle=look.line, linewidth=0.8)


def _dress_decay(axes: Axes, series: list[list[StoredCase]]) -> None:
    sizes = np.array(sorted({stored.case.settings.n_tokens for cases in series for stored in cases}))
    axes.set_xscale("log", base=4)
    axes.set_yscale("log")
    top = axes.get_ylim()[1]
    if len(sizes) > 1:
        _draw_guide(axes, sizes, top)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("number of tokens $n$", labelpad=1.0)
    axes.set_ylabel("$W_1$ to the law (rad)")
    axes.set_title("distance to the law")


def _draw_guide(axes: Axes, sizes: NDArray[np.int64], top: float) -> None:
    """A line that falls like n^(-1/2), above all points."""
    axes.plot(sizes, top * np.sqrt(sizes[0] / sizes), color="black", linewidth=0.7)
    middle = sizes[len(sizes) // 2]
    axes.text(middle, 1.25 * top * np.sqrt(sizes[0] / middle), r"$\propto n^{-1/2}$", ha="left", va="bottom")
