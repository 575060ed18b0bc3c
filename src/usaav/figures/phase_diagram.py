"""Phase diagram of a sweep: how far from one point, and in how many clusters, the tokens end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from usaav.errors import DataError
from usaav.figures.sources import SYMBOLS, Sources
from usaav.figures.style import PAGE, PALE, letter_panels, new_figure, number

#: columns of a table that are no settings
_MEASURED = (
    "experiment",
    "case",
    "seed",
    "time",
    "dirac_distance",
    "geodesic_dirac_distance",
    "order_parameter",
    "energy",
    "energy_maximum",
    "conditional_dirac_distance",
    "cluster_count",
    "gauge_cluster_count",
)
_BETA = ("beta", "kernel.beta")
_MOST_COLUMNS = 6
_MOST_TICKS = 9
_SHOWN = ("dirac_distance", "cluster_count")


def draw(
    sources: Sources, *, across: str = "beta", up: str | None = None, select: Mapping[str, Any] | None = None
) -> Figure:
    """Above the terminal Dirac distance, below the terminal number of clusters.

    There is a column for each combination of other settings. Cells are medians over the seeds (the lower one
    of two, so that numbers of clusters stay whole). Both settings are drawn by rank, so that values of any
    spacing have cells of one size.

    Parameters
    ----------
    sources
        Tables of the experiments; nothing else is read, so sweeps serve as well as other experiments.
    across, up
        Columns of the tables: the settings along the axes. The one upwards is, if not given, the first that
        varies besides `across`, a kernel's before others.
    select
        Column -> value or list of values; rows with others are left out.

    Raises
    ------
    DataError
        A column is missing, nothing is selected, or more settings vary than there is room for.
    """
    last = pd.concat([_terminal(sources.tables[name], name, select) for name in sources.experiments])
    varied = [name for name in last.columns if name not in _MEASURED and last[name].nunique(dropna=False) > 1]
    up = _upwards(varied, across, sources) if up is None else up
    for name in (across, up):
        if name not in last:
            raise DataError(
                f"phase diagram of {', '.join(sources.experiments)}: no column {name!r} in the tables"
            )
    others = _others(varied, {across, up})
    panels = list(_panels(last, others))
    if len(panels) > _MOST_COLUMNS:
        raise DataError(
            f"phase diagram of {', '.join(sources.experiments)}: {len(panels)} combinations of "
            f"{', '.join(others)} besides {across} and {up}, and room for {_MOST_COLUMNS}; "
            "choose some by the option `select`"
        )
    return _drawn(panels, across, up)


def _terminal(table: pd.DataFrame, experiment: str, select: Mapping[str, Any] | None) -> pd.DataFrame:
    """The rows at the last time of each case and seed."""
    missing = [name for name in ("case", "seed", "time", *_SHOWN) if name not in table]
    if missing:
        raise DataError(f"table of experiment {experiment}: no column {', '.join(missing)}; make it anew")
    for name, wanted in (select or {}).items():
        if name in table:
            table = table[table[name].isin(wanted if isinstance(wanted, (list, tuple)) else [wanted])]
    if table.empty:
        raise DataError(f"table of experiment {experiment}: no rows with {dict(select or {})}")
    return table.loc[table.groupby(["case", "seed"], sort=False)["time"].idxmax()]


def _upwards(varied: Sequence[str], across: str, sources: Sources) -> str:
    free = [name for name in varied if name not in {across, *_BETA}]
    kernels = [name for name in free if name.startswith("kernel.")]
    for name in (*kernels, *(name for name in free if name not in ("n_tokens", "dim")), *free):
        return name
    raise DataError(
        f"phase diagram of {', '.join(sources.experiments)}: nothing varies besides {across}; add a sweep"
    )


def _others(varied: Sequence[str], drawn: set[str]) -> list[str]:
    """The settings that are on no axis; beta, where it is swept, stands in two columns and counts once."""
    hidden = drawn | (set(_BETA) if drawn & set(_BETA) else {"kernel.beta"})
    return [name for name in varied if name not in hidden]


def _panels(table: pd.DataFrame, others: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Title and rows of each combination of the settings `others`."""
    if not others:
        yield "", table
        return
    for values, rows in table.groupby(list(others), dropna=False):
        words = [_written(name, value) for name, value in zip(others, values, strict=True)]
        yield ", ".join(words), rows


def _written(name: str, value: Any) -> str:
    shown = (
        number(float(value)) if isinstance(value, (int, float, np.number)) else str(value).replace("_", " ")
    )
    if name in SYMBOLS:
        return SYMBOLS[name].format(shown)
    return shown if name == "variant" else f"{_label(name)} = {shown}"


def _label(name: str) -> str:
    """A setting as an axis names it: the last word of its path, with the place in a list."""
    if name in _BETA:
        return r"$\beta$"
    words = [word for word in name.split(".") if word != "kernel"]
    if len(words) > 1 and words[-1].isdigit():
        words[-2:] = [
            f"{words[-2].removesuffix('ies')}{'y' if words[-2].endswith('ies') else ''} {int(words[-1]) + 1}"
        ]
    return words[-1].replace("_", " ")


def _drawn(panels: Sequence[tuple[str, pd.DataFrame]], across: str, up: str) -> Figure:
    figure = new_figure(PAGE, 4.6)
    axes = np.asarray(figure.subplots(2, len(panels), squeeze=False, sharex="col", sharey=True))
    most = max(float(rows["cluster_count"].max()) for _, rows in panels)
    scales = (Normalize(0.0, np.sqrt(2.0)), LogNorm(1.0, max(2.0, most)))
    labels = ("terminal Dirac distance", "terminal number of clusters")
    for row, (value, scale, label) in enumerate(zip(_SHOWN, scales, labels, strict=True)):
        for column, (title, rows) in enumerate(panels):
            image = _cells(axes[row, column], rows, (across, up, value), scale, len(panels))
            axes[row, column].set_title(title if row == 0 else "")
        bar = figure.colorbar(image, ax=list(axes[row]), label=label)
        if row == 1:
            ticks = [
                count for count in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000) if count <= max(2.0, most)
            ]
            bar.set_ticks(ticks, labels=[str(count) for count in ticks])
            bar.minorticks_off()
    for axis in axes[1]:
        axis.set_xlabel(_label(across))
    for axis in axes[:, 0]:
        axis.set_ylabel(_label(up))
    letter_panels(list(axes.flat))
    return figure


def _cells(
    axes: Axes, rows: pd.DataFrame, names: tuple[str, str, str], scale: Normalize, panels: int
) -> Collection:
    import seaborn as sns  # takes a second to import, and no other figure needs it

    across, up, value = names
    table = rows.pivot_table(
        index=up, columns=across, values=value, aggfunc=lambda all_seeds: all_seeds.quantile(0.5, "lower")
    ).sort_index()
    axes.set_facecolor(PALE)  # combinations that the sweep does not have
    # the panels share the width of the page
    room = min(_MOST_TICKS, max(2, 2 * _MOST_TICKS // panels))
    sns.heatmap(
        table.astype(np.float64).rename(index=_tick, columns=_tick),
        ax=axes,
        norm=scale,
        cmap="cividis",
        cbar=False,
        rasterized=True,
        xticklabels=-(-len(table.columns) // room),
        yticklabels=-(-len(table.index) // _MOST_TICKS),
    )
    axes.set(xlabel="", ylabel="", ylim=(0, len(table.index)))
    axes.tick_params(axis="both", labelrotation=0.0)
    return axes.collections[0]


def _tick(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (int, float, np.number)) else str(value).replace("_", " ")
