"""Towards the mean field: Dirac distance and mean token against time for all n, collapse time over ln n."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.bands import draw_ranges, legend_line, log_axis
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.style import BLACK, GREY, PAGE, Look, kinds, letter_panels, new_figure, ordered
from usaav.figures.titles import kernel_name, kernel_order
from usaav.metrics.modes import levelled_collapse_times, mean_times, mode_amplitudes
from usaav.theory import mode_growth_rate

Array = NDArray[np.float64]


def draw(
    sources: Sources,
    *,
    collapsed: float = 0.5,
    least_slope: int = 4096,
    floor: float = 1e-6,
    select: Mapping[str, Any] | None = None,
) -> Figure:
    """For each kernel the Dirac distance, below it the mean token in gauge coordinates; right collapse times.

    Parameters
    ----------
    sources
        Data with recorded mode amplitudes, and tables with the column ``dirac_distance``; cases of one kernel
        differ in n alone, also between experiments.
    collapsed
        Length of the mean token at which a run counts as collapsing.
    least_slope
        Smallest n to which the height of the predicted line is fitted, as in the claim of the slope.
    floor
        Lower end of the logarithmic axis of the Dirac distances; smaller ones are drawn there.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing.
    """
    families = _families(sources, select)
    sizes = sorted({stored.case.settings.n_tokens for cases in families.values() for stored in cases})
    by_size = dict(zip(sizes, ordered(len(sizes)), strict=True))
    figure = new_figure(PAGE, 4.6)
    rows: list[list[Any]] = [
        [*(f"{row} {name}" for name in families), "times"] for row in ("distance", "mean")
    ]
    panels = figure.subplot_mosaic(
        rows,
        width_ratios=[1.0] * len(families) + [1.15],
    )
    distances = [panels[f"distance {name}"] for name in families]
    means = [panels[f"mean {name}"] for name in families]
    times = panels["times"]
    for above, below, (name, cases) in zip(distances, means, families.items(), strict=True):
        for stored in cases:
            look = by_size[stored.case.settings.n_tokens]
            _draw_distances(above, sources, stored, look, floor)
            _draw_amplitudes(below, stored, look)
        _draw_slope(below, cases[0], collapsed)
        below.axhline(collapsed, color=GREY, linewidth=0.7, linestyle=":")
        above.set_title(name)
        log_axis(above, floor)
        above.tick_params(labelbottom=False)
        _dress(below, sizes)
        for axes, first in ((above, distances[0]), (below, means[0])):
            axes.sharex(below)
            if axes is not first:
                axes.sharey(first)
                axes.tick_params(labelleft=False)
    distances[0].set_ylabel("Dirac distance")
    means[0].set_ylabel(r"length of the mean token, $|\overline{z}|$")
    for (name, cases), look in zip(families.items(), kinds(len(families)), strict=True):
        _draw_times(times, name, cases, look, collapsed, least_slope)
    times.set_xscale("log", base=2)
    times.xaxis.set_major_locator(FixedLocator(sizes))
    times.xaxis.set_minor_locator(NullLocator())
    times.set_xlabel("number of tokens $n$")
    times.set_ylabel(rf"time $\tau$ to $|\overline{{z}}| = {collapsed:g}$, typical start")
    times.legend(loc="upper left", handlelength=1.6)
    letter_panels([*distances, *means, times])
    handles = [legend_line(look, f"$n = {size}$") for size, look in by_size.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=math.ceil(len(handles) / 2))
    return figure


def mean_length(stored: StoredCase) -> Array:
    """Length ``(seeds, times)`` of the mean token in gauge coordinates: the amplitude of degree 1.

    Raises
    ------
    DataError
        It is not recorded.
    """
    if "mode_amplitude" not in stored.dataset:
        raise DataError(f"{stored.where}: no mode amplitudes; set mode_degrees in the experiment")
    return mode_amplitudes(stored.dataset)[:, :, 0]


def _families(sources: Sources, select: Mapping[str, Any] | None) -> dict[str, list[StoredCase]]:
    """Kernel -> its cases by increasing n, of all experiments."""
    found: dict[str, list[StoredCase]] = {}
    for experiment in sources.experiments:
        for stored in sources.cases(experiment, select):
            name = kernel_name(stored.case.settings.kernel, stored.case.settings.normalization)
            found.setdefault(name, []).append(stored)
    for cases in found.values():
        cases.sort(key=lambda stored: stored.case.settings.n_tokens)
    return dict(sorted(found.items(), key=lambda item: kernel_order(item[1][0].case.settings.kernel)))


def _rate(stored: StoredCase) -> float:
    """Predicted growth rate of the mean token."""
    return mode_growth_rate(1, facts(stored.case)["beta"], stored.case.settings.dim)


def _draw_distances(axes: Axes, sources: Sources, stored: StoredCase, look: Look, floor: float) -> None:
    """Every run as a thin line."""
    table = sources.rows(stored, ["dirac_distance"])
    wide = table.pivot(index="time", columns="seed", values="dirac_distance").sort_index().clip(lower=floor)
    axes.plot(wide.index, wide, color=look.color, linestyle=look.line, linewidth=0.6, alpha=0.8)


def _draw_amplitudes(axes: Axes, stored: StoredCase, look: Look) -> None:
    times = stored.dataset["time"].values
    for length in mean_length(stored):
        axes.plot(times, length, color=look.color, linestyle=look.line, linewidth=0.6, alpha=0.8)


def _draw_slope(axes: Axes, stored: StoredCase, collapsed: float) -> None:
    """A line of the predicted growth rate, where all runs have collapsed already."""
    times = stored.dataset["time"].values
    lengths = np.array([0.01, 0.3]) * collapsed
    start = times[0] + 0.55 * (times[-1] - times[0])
    axes.plot(start + np.log(lengths / lengths[0]) / _rate(stored), lengths, color=BLACK, linewidth=1.3)
    axes.text(start, lengths[0], r"$\propto e^{r_1 \tau}$ ", ha="right", va="bottom")


def _dress(axes: Axes, sizes: list[int]) -> None:
    axes.set_yscale("log")
    axes.set_ylim(0.3 / math.sqrt(sizes[-1]), 1.3)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.margins(x=0.0)
    axes.set_xlabel(r"time $\tau$")


def _draw_times(
    axes: Axes, name: str, cases: list[StoredCase], look: Look, collapsed: float, least_slope: int
) -> None:
    sizes = np.array([stored.case.settings.n_tokens for stored in cases], dtype=np.float64)
    times = [levelled_collapse_times(stored.dataset, collapsed, _rate(stored)) for stored in cases]
    means = mean_times(zip(sizes.astype(int).tolist(), times, strict=True), least_slope)
    # its line names the kernel, where there is one
    draw_ranges(axes, sizes, times, look, "" if len(means.times) else name)
    if not len(means.times):
        return
    # only the height of the line is fitted, its slope is predicted
    slope = 1.0 / (2.0 * _rate(cases[0]))
    ends = np.array([np.exp(means.log_sizes[0]), sizes[-1]])
    (line,) = axes.plot(
        ends,
        slope * np.log(ends) + means.height(slope),
        color=look.color,
        linestyle=look.line,
        linewidth=0.9,
    )
    line.set_label(rf"{name}: slope $1/(2 r_1) = {slope:.3f}$")
