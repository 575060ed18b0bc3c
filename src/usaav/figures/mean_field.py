"""Towards the mean field: the mean token against time for all n, and the time to collapse against ln n."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.bands import draw_ranges, legend_line
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.style import BLACK, GREY, PAGE, Look, kinds, letter_panels, new_figure, ordered
from usaav.figures.titles import kernel_name, kernel_order
from usaav.metrics.modes import collapse_times, mean_times, mode_amplitudes
from usaav.theory import mode_growth_rate

Array = NDArray[np.float64]


def draw(
    sources: Sources,
    *,
    collapsed: float = 0.5,
    least_slope: int = 4096,
    select: Mapping[str, Any] | None = None,
) -> Figure:
    """Left, for each kernel, the length of the mean token in gauge coordinates; right the collapse time.

    Parameters
    ----------
    sources
        Data with recorded mode amplitudes; cases of one kernel differ in n alone, also between experiments.
    collapsed
        Length of the mean token at which a run counts as collapsing.
    least_slope
        Smallest n to which the height of the predicted line is fitted, as in the claim of the slope.
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
    figure = new_figure(PAGE, 3.1)
    *curves, times = figure.subplots(1, len(families) + 1, width_ratios=[1.0] * len(families) + [1.15])
    for axes, (name, cases) in zip(curves, families.items(), strict=True):
        for stored in cases:
            _draw_amplitudes(axes, stored, by_size[stored.case.settings.n_tokens])
        _draw_slope(axes, cases[0], collapsed)
        axes.axhline(collapsed, color=GREY, linewidth=0.7, linestyle=":")
        axes.set_title(name)
        _dress(axes, sizes)
        if axes is not curves[0]:
            axes.sharey(curves[0])
            axes.tick_params(labelleft=False)
    curves[0].set_ylabel(r"length of the mean token, $|\overline{z}|$")
    for (name, cases), look in zip(families.items(), kinds(len(families)), strict=True):
        _draw_times(times, name, cases, look, collapsed, least_slope)
    times.set_xscale("log", base=2)
    times.set_xlabel("number of tokens $n$")
    times.set_ylabel(rf"time $\tau$ at which $|\overline{{z}}| = {collapsed:g}$")
    times.legend(loc="upper left", handlelength=1.6)
    letter_panels([*curves, times])
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
    times = [collapse_times(stored.dataset, collapsed) for stored in cases]
    width = max(map(len, times))
    padded = np.array([np.pad(row, (0, width - len(row)), constant_values=np.nan) for row in times])
    means = mean_times(zip(sizes.astype(int).tolist(), times, strict=True), least_slope)
    # its line names the kernel, where there is one
    draw_ranges(axes, sizes, padded, look, "" if len(means.times) else name)
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
    line.set_label(rf"{name}: slope $1/(2 r_1) = {slope:.3f}$ in $\ln n$")
