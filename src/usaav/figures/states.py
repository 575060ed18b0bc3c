"""Tokens of one run on the sphere, coloured and marked by their labels, and what theory predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from usaav.config.part_models import PrefixFields
from usaav.figures.sources import StoredCase
from usaav.figures.sphere import VIEW, View, draw_curve, draw_points, draw_sphere, mark_points, require_sphere
from usaav.figures.style import BLUE, around_circle, kinds
from usaav.theory import consensus, predicted_tokens

Array = NDArray[np.float64]

#: more prompts than this are not told apart
MANY_PROMPTS = 12


def has_prompts(stored: StoredCase) -> bool:
    """Whether the labels are numbers of prompts."""
    return isinstance(stored.case.settings.kernel.gauge, PrefixFields)


def draw_state(
    axes: Axes,
    stored: StoredCase,
    tokens: Array,
    labels: Array | None,
    *,
    size: float = 9.0,
    view: View = VIEW,
) -> None:
    """The sphere with `tokens` ``(n, 3)``: one look for each prompt, or colours that go round with the label.

    Raises
    ------
    DataError
        The tokens are not on S^2.
    """
    require_sphere(tokens, stored.where)
    draw_sphere(axes, view)
    draw_tokens(axes, stored, tokens, labels, size=size, view=view)


def draw_tokens(
    axes: Axes,
    stored: StoredCase,
    tokens: Array,
    labels: Array | None,
    *,
    size: float = 9.0,
    view: View = VIEW,
) -> None:
    """The tokens of :func:`draw_state`, without the sphere."""
    if labels is None:
        draw_points(axes, tokens, color=BLUE, size=size, view=view)
    elif has_prompts(stored):
        draw_by_prompt(axes, tokens, labels, size=size, view=view)
    else:
        draw_points(axes, tokens, color=around_circle(labels), size=size, view=view)


def draw_by_prompt(axes: Axes, tokens: Array, labels: Array, *, size: float = 9.0, view: View = VIEW) -> None:
    """Tokens in colour and marker of their prompt; in one look where the prompts are many."""
    prompts = np.unique(labels)
    if len(prompts) > MANY_PROMPTS:
        draw_points(axes, tokens, color=BLUE, size=size, view=view)
        return
    for prompt, look in zip(prompts, kinds(len(prompts)), strict=True):
        chosen = tokens[labels == prompt]
        draw_points(axes, chosen, color=look.color, marker=look.marker, size=1.6 * size, view=view)


def predicted_curve(stored: StoredCase, seed: int | None, count: int = 1441) -> Array:
    """The predicted orbit ``(count, d)``: ``G_xi^T u`` for xi over the range of the labels.

    u is the consensus of the run's last tokens; the range is that of the label law, or one turn where the
    law has none.
    """
    law = stored.case.settings.labels
    start, stop = float(getattr(law, "start", 0.0)), float(getattr(law, "stop", 2.0 * np.pi))
    return predicted_tokens(stored.kernel, np.linspace(start, stop, count), final_consensus(stored, seed))


def final_consensus(stored: StoredCase, seed: int | None) -> Array:
    """The consensus u ``(d,)`` of the last tokens of a run."""
    return np.asarray(consensus(stored.kernel, stored.tokens(seed), stored.labels(seed)))


def predicted_places(stored: StoredCase, seed: int | None) -> Array:
    """The predicted token ``(n, d)`` of each token: ``G_xi^T u``."""
    return np.asarray(predicted_tokens(stored.kernel, stored.labels(seed), final_consensus(stored, seed)))


def draw_prediction(
    axes: Axes, stored: StoredCase, seed: int | None, *, view: View = VIEW, label: str = ""
) -> None:
    """The predicted orbit as a curve, or rings at the centres predicted for prompts; none without labels."""
    labels = stored.labels(seed)
    if labels is None:
        return
    if has_prompts(stored):
        _, first = np.unique(labels, return_index=True)
        if len(first) <= MANY_PROMPTS:
            mark_points(axes, predicted_places(stored, seed)[first], view=view, label=label)
    else:
        draw_curve(axes, predicted_curve(stored, seed), view=view, label=label)


def explain_states(figure: Figure, shown: Sequence[StoredCase]) -> None:
    """A legend below the figure for what labels do in the states `shown`; none where no case has labels."""
    angles = [0.5 * np.pi * quarter for quarter in range(4)]
    orbits = any(stored.case.settings.labels is not None and not has_prompts(stored) for stored in shown)
    prompts = any(has_prompts(stored) for stored in shown)
    dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0.0}
    entries: list[tuple[Any, str]] = []
    if orbits:
        dots = tuple(Line2D([], [], color=color, **dot) for color in around_circle(np.array(angles)))
        entries.append((dots, "tokens, coloured by label"))
        entries.append((Line2D([], [], color="black", linewidth=1.1), r"predicted orbit $G_\xi^{T} u$"))
    if prompts:
        marks = tuple(
            Line2D([], [], color=look.color, **(dot | {"marker": look.marker})) for look in kinds(3)
        )
        ring = {
            "markerfacecolor": "none",
            "markeredgecolor": "black",
            "markersize": 7.0,
            "markeredgewidth": 0.9,
        }
        entries.append((marks, "tokens, marked by prompt"))
        entries.append((Line2D([], [], **(dot | ring)), "predicted cluster"))
    if not entries:
        return
    handles, names = zip(*entries, strict=True)
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=len(names),
        columnspacing=1.4,
        handlelength=2.0,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.2)},
    )
