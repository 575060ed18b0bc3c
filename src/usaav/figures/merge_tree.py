"""The merge tree: which clusters join, and when, on logarithmic time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.sources import Sources, StoredCase
from usaav.figures.style import BLUE, PAGE, letter_panels, new_figure
from usaav.figures.titles import case_title

#: lines are this wide in points for a cluster that holds all tokens
_WIDEST = 3.0
_THINNEST = 0.3


def draw(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> Figure:
    """One tree for each case; lines are the wider the more tokens a cluster holds.

    Parameters
    ----------
    sources
        Tables of merges.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run; the first for None.

    Raises
    ------
    DataError
        Data are missing, or nothing has merged.
    """
    chosen = [stored for experiment in sources.experiments for stored in sources.one_each(experiment, select)]
    columns = min(3, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    figure = new_figure(PAGE, 2.5 * rows)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, stored in zip(grid.flat, chosen, strict=False):
        _draw_tree(axes, sources, stored, stored.case.seeds[stored.run(seed)])
        axes.set_title(case_title(stored.case, "dim", "beta"))
        axes.set_xlabel("tokens")
        axes.set_xticks([])
    for axes in grid.flat[len(chosen) :]:
        axes.remove()
    for row in grid:
        row[0].set_ylabel(r"time $\tau$")
    letter_panels(list(grid.flat[: len(chosen)]))
    return figure


@dataclass(frozen=True)
class Branch:
    """A cluster of the tree: from `start` to `end` at the horizontal `place`, with its `mass`.

    The horizontal line at its end, where it joins another, goes to `target`; None if it lives to the end.
    """

    place: float
    start: float
    end: float
    mass: float
    target: float | None


def branches(merges: pd.DataFrame, n_tokens: int, start: float, end: float) -> list[Branch]:
    """Lay out the tree of the merges of one run, which are in the order of time.

    Clusters are found by their tokens and not by their names, as the times at which nested pairs become
    close need not be in the order in which the clusters were joined.
    """
    order = leaf_order(merges, n_tokens)
    place = {token: float(rank) for rank, token in enumerate(order)}
    since, size = dict.fromkeys(place, start), dict.fromkeys(place, 1)
    parent = list(range(n_tokens))
    laid: list[Branch] = []
    for first, second, time in _pairs(merges):
        pair = _root(parent, first), _root(parent, second)
        total = size[pair[0]] + size[pair[1]]
        middle = sum(size[one] * place[one] for one in pair) / total
        laid += [Branch(place[one], since[one], time, size[one] / n_tokens, middle) for one in pair]
        parent[pair[1]] = pair[0]
        place[pair[0]], since[pair[0]], size[pair[0]] = middle, time, total
    last = {_root(parent, token) for token in range(n_tokens)}
    return laid + [Branch(place[one], since[one], end, size[one] / n_tokens, None) for one in sorted(last)]


def leaf_order(merges: pd.DataFrame, n_tokens: int) -> list[int]:
    """Tokens in an order in which every cluster stands together, so that no branches cross."""
    members = {token: [token] for token in range(n_tokens)}
    parent = list(range(n_tokens))
    for first, second, _ in _pairs(merges):
        pair = _root(parent, first), _root(parent, second)
        members[pair[0]] += members.pop(pair[1])
        parent[pair[1]] = pair[0]
    return [token for cluster in members.values() for token in cluster]


def span_of_merges(times: NDArray[np.float64], end: float) -> tuple[float, float]:
    """Ends of a logarithmic axis of time, at most `end`, for merges at `times` ``(m,)``, of which one is > 0.

    It begins a decade before the first merge. After the last nothing happens any more: a tenth of the axis
    shows that.
    """
    start, last = float(times[times > 0.0].min()) / 10.0, float(times.max())
    return start, min(end, last * (last / start) ** 0.1)


def _pairs(merges: pd.DataFrame) -> Iterator[tuple[int, int, float]]:
    columns = (merges[name].to_list() for name in ("first", "second", "time"))
    return ((int(first), int(second), float(time)) for first, second, time in zip(*columns, strict=True))


def _root(parent: list[int], token: int) -> int:
    while parent[token] != token:
        parent[token] = token = parent[parent[token]]
    return token


def _draw_tree(axes: Axes, sources: Sources, stored: StoredCase, seed: int) -> None:
    events = sources.merges(stored)
    merges = events[events["seed"] == seed]
    if not (merges["time"] > 0.0).any():
        raise DataError(f"{stored.where}: nothing has merged in the run of seed {seed}; there is no tree")
    n_tokens = stored.case.settings.n_tokens
    start, end = span_of_merges(merges["time"].to_numpy(dtype=np.float64), stored.case.settings.times[-1])
    # tokens that are close from the beginning merge at tau = 0, which a logarithmic axis does not have
    merges = merges.assign(time=merges["time"].clip(lower=start))
    lines: list[list[tuple[float, float]]] = []
    widths = []
    for branch in branches(merges, n_tokens, start, end):
        path = [(branch.place, branch.start), (branch.place, branch.end)]
        lines.append(path if branch.target is None else [*path, (branch.target, branch.end)])
        widths.append(branch.mass)
    axes.add_collection(
        LineCollection(
            lines, colors=BLUE, linewidths=_THINNEST + _WIDEST * np.asarray(widths), joinstyle="miter"
        )
    )
    axes.set_xlim(-1.0, float(n_tokens))
    axes.set_yscale("log")
    axes.set_ylim(start, end)
    axes.yaxis.set_major_locator(LogLocator(numticks=6))
    axes.yaxis.set_minor_locator(NullLocator())
