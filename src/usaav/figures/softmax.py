"""The softmax-normalised flow (SA) beside the one without (USA): other speed, same ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from usaav.errors import DataError
from usaav.figures.bands import draw_band, explain_bands, log_axis
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.sphere import count_if_one
from usaav.figures.states import draw_prediction, draw_state
from usaav.figures.style import PAGE, kinds, letter_panels, new_figure, number
from usaav.figures.titles import kernel_name, kernel_order

NAMES = ("not normalised", "softmax")


def draw(
    sources: Sources,
    *,
    floor: float = 1e-8,
    select: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> Figure:
    """One column for each kernel: Dirac distance against tau with either, then the last tokens of each.

    A case with softmax stands beside one of equal kernel, labels, dimension and n without.

    Parameters
    ----------
    sources
        Stored tokens on S^2 and tables with the column ``dirac_distance``.
    floor
        Lower end of the logarithmic axis; smaller distances are drawn there.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run the spheres show; the first for None.

    Raises
    ------
    DataError
        Data are missing, or no two cases fit together.
    """
    pairs = _pairs(sources, select)
    width = PAGE / len(pairs)
    # spheres are as wide as their column without the label of the rows
    size = min(width - 0.15, 2.4)
    figure = new_figure(PAGE, 2.0 + 2.0 * size + 0.2)
    grid = figure.subplots(3, len(pairs), squeeze=False, height_ratios=[1.6, size, size])
    looks = kinds(2)
    lines = []
    for (curves, *spheres), pair in zip(grid.T, pairs, strict=True):
        lines = [
            draw_band(curves, sources.rows(stored, ["dirac_distance"]), "dirac_distance", look, floor)
            for stored, look in zip(pair, looks, strict=True)
        ]
        settings = pair[0].case.settings
        name = "no labels" if settings.labels is None else kernel_name(settings.kernel)
        curves.set_title(f"{name}, $n = {settings.n_tokens}$")
        log_axis(curves, floor)
        curves.set_xlabel(r"time $\tau$", labelpad=1.0)
        if curves is not grid[0, 0]:
            curves.sharey(grid[0, 0])
            curves.tick_params(labelleft=False)
        for axes, stored in zip(spheres, pair, strict=True):
            _draw_last(axes, stored, seed)
    grid[0, 0].set_ylabel("Dirac distance")
    for axes, name in zip(grid[1:, 0], NAMES, strict=True):
        axes.text(-0.02, 0.5, name, transform=axes.transAxes, rotation=90, ha="right", va="center")
    letter_panels(list(grid[0]))
    for line, name in zip(lines, NAMES, strict=True):
        line.set_label(name)
    handles = [*lines, *explain_bands(len(pairs[0][0].case.seeds))]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _draw_last(axes: Axes, stored: StoredCase, seed: int | None) -> None:
    last = stored.tokens(seed)
    draw_state(axes, stored, last, stored.labels(seed))
    draw_prediction(axes, stored, seed)
    count_if_one(axes, last)
    axes.text(0.0, 0.03, rf"$\tau = {number(stored.stored_times[-1])}$", transform=axes.transAxes, fontsize=7)


def _pairs(sources: Sources, select: Mapping[str, Any] | None) -> list[tuple[StoredCase, StoredCase]]:
    """Cases without and with softmax, of the same model, n shown well on a sphere."""
    chosen = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    plain = [stored for stored in chosen if stored.case.settings.normalization == "none"]
    pairs = [
        (beside, stored)
        for stored in chosen
        if stored.case.settings.normalization == "softmax"
        for beside in [one for one in plain if _model(one) == _model(stored)][:1]
    ]
    if not pairs:
        raise DataError(
            f"{', '.join(sources.experiments)}: no case with softmax has one without beside it that has "
            "equal kernel, labels, dim and n_tokens"
        )
    return sorted(pairs, key=lambda pair: kernel_order(pair[0].case.settings.kernel))


def _model(stored: StoredCase) -> tuple[Any, ...]:
    settings = stored.case.settings
    return settings.kernel, settings.labels, settings.dim, settings.n_tokens
