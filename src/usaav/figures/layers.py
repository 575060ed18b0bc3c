"""The looped network beside the flow: how far its layers are from it, and that they end the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.bands import draw_ranges, legend_line, log_axis
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.style import BLACK, PAGE, Look, kinds, letter_panels, new_figure, number, ordered
from usaav.figures.titles import kernel_name, kernel_order
from usaav.metrics.flow_distance import flow_distance

Array = NDArray[np.float64]

_FLOW = Look(BLACK, "-", "o")


@dataclass(frozen=True)
class Family:
    """The flow, and looped networks with the same settings in the order of decreasing steps."""

    flow: StoredCase
    looped: tuple[StoredCase, ...]


def draw(sources: Sources, *, floor: float = 1e-8, select: Mapping[str, Any] | None = None) -> Figure:
    """Left the distance to the flow against the step eta; then, for each kernel, Dirac distance against tau.

    The distance is the largest, over the times at which tokens are stored, of the root mean square distance
    between a token and the same token of the flow.

    Parameters
    ----------
    sources
        Stored tokens, and tables with the column ``dirac_distance``: for each kernel one case with method
        adaptive and some with method layers.
    floor
        Lower end of the logarithmic axis of the Dirac distances; smaller ones are drawn there.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).

    Raises
    ------
    DataError
        Data are missing, or there are layers without a flow.
    """
    families = _families(sources, select)
    steps = sorted({_step(stored) for family in families for stored in family.looped}, reverse=True)
    by_step = dict(zip(steps, ordered(len(steps)), strict=True))
    figure = new_figure(PAGE, 2.7)
    panels = figure.subplots(1, 1 + len(families), width_ratios=[1.25] + [1.0] * len(families))
    for family, look in zip(families, kinds(len(families)), strict=True):
        _draw_distances(panels[0], family, look)
    _dress_distances(panels[0], steps)
    for axes, family in zip(panels[1:], families, strict=True):
        _draw_medians(axes, sources, family.flow, _FLOW, floor, 2.2)
        for stored in family.looped:
            _draw_medians(axes, sources, stored, by_step[_step(stored)], floor, 1.0)
        axes.set_title(_name(family))
        log_axis(axes, floor)
        axes.set_xlabel(r"time $\tau$")
        if axes is not panels[1]:
            axes.sharey(panels[1])
            axes.tick_params(labelleft=False)
    panels[1].set_ylabel("Dirac distance, median")
    letter_panels(list(panels))
    handles = [legend_line(_FLOW, "flow", linewidth=2.2, alpha=0.35)] + [
        legend_line(look, rf"layers, $\eta = {number(step)}$") for step, look in by_step.items()
    ]
    figure.legend(handles=handles, loc="outside lower right", ncols=len(handles))
    return figure


def flow_distances(looped: StoredCase, flow: StoredCase) -> Array:
    """Largest root mean square distance between the tokens of two cases at the stored times, ``(seeds,)``.

    Raises
    ------
    DataError
        Their tokens are stored at different times or for different seeds.
    """
    same_times = np.array_equal(looped.stored_times, flow.stored_times)
    if not same_times or looped.case.seeds != flow.case.seeds:
        raise DataError(f"{looped.where}: its times or seeds are not those of the flow, {flow.where}")
    return flow_distance(looped.dataset["tokens"].values, flow.dataset["tokens"].values)


def _families(sources: Sources, select: Mapping[str, Any] | None) -> list[Family]:
    found: dict[str, list[StoredCase]] = {}
    for experiment in sources.experiments:
        for stored in sources.cases(experiment, select):
            settings = stored.case.settings.model_dump(mode="json", exclude={"method", "step"})
            found.setdefault(json.dumps([experiment, settings], sort_keys=True), []).append(stored)
    families = []
    for members in found.values():
        flows = [stored for stored in members if stored.case.settings.method == "adaptive"]
        looped = [stored for stored in members if stored.case.settings.step is not None]
        if not flows:
            raise DataError(
                f"{members[0].where}: no case with method adaptive and the same settings beside it"
            )
        families.append(Family(flows[0], tuple(sorted(looped, key=_step, reverse=True))))
    return sorted(families, key=lambda family: kernel_order(family.flow.case.settings.kernel))


def _step(stored: StoredCase) -> float:
    return stored.case.settings.step or 0.0


def _name(family: Family) -> str:
    settings = family.flow.case.settings
    return kernel_name(settings.kernel, settings.normalization)


def _draw_distances(axes: Axes, family: Family, look: Look) -> None:
    steps = [_step(stored) for stored in family.looped]
    distances = [flow_distances(stored, family.flow) for stored in family.looped]
    draw_ranges(axes, steps, distances, look, _name(family))
    axes.plot(steps, list(map(np.median, distances)), color=look.color, linestyle=look.line, linewidth=0.8)


def _dress_distances(axes: Axes, steps: list[float]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    largest = axes.get_ylim()[1]
    ends = np.array([steps[-1], steps[0]])
    axes.plot(ends, largest * ends / ends[-1], color=BLACK, linewidth=0.7, label=r"$\propto \eta$")
    axes.set_xticks(steps, [number(step) for step in steps])
    axes.minorticks_off()
    axes.set_xlabel(r"step $\eta$")
    axes.set_ylabel("distance to the flow")
    axes.legend(loc="lower right", handlelength=1.4)


def _draw_medians(
    axes: Axes, sources: Sources, stored: StoredCase, look: Look, floor: float, width: float
) -> None:
    table = sources.rows(stored, ["dirac_distance"])
    medians = table.groupby("time")["dirac_distance"].median().clip(lower=floor)
    axes.plot(
        medians.index,
        medians,
        color=look.color,
        linestyle=look.line,
        linewidth=width,
        alpha=0.35 if look is _FLOW else 1.0,
    )
