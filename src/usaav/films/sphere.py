"""A sphere to turn: one HTML page with the tokens of many runs, which needs nothing but a browser."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from usaav.config.part_models import DistanceBiasFields, ToeplitzFields
from usaav.errors import DataError
from usaav.figures.great_circles import toeplitz_frame
from usaav.figures.sources import Sources, StoredCase, facts
from usaav.figures.sphere import best_view, require_sphere
from usaav.figures.states import MANY_PROMPTS, final_consensus, has_prompts, predicted_curve, predicted_places
from usaav.figures.style import BLUE, around_circle, kinds, number
from usaav.figures.titles import kernel_name, names_kernel, variant_name
from usaav.kernels import Toeplitz
from usaav.metrics import dirac_distance
from usaav.theory import toeplitz_maximiser, top_mode

Array = NDArray[np.float64]

#: size that a page keeps below, so that it opens at once and can be mailed
LARGEST = 3_000_000
#: frames of a run, at most; the first and the last stored time are among them
FRAMES = 64
#: between two stored times no coordinate of a run that stands still changes by more
_STILL = 1e-3
#: points of a predicted orbit
_CURVE = 361
#: a run whose tokens are this close together at the end has come to its one predicted place
_COLLAPSED = 0.1
_QUARTERS = ("first", "second", "third", "fourth")
_PLACE = "/*RUNS*/"


def page(sources: Sources, *, select: Mapping[str, Any] | None = None, seed: int | None = None) -> str:
    """The text of the page: every matching case of every experiment is a run to choose.

    Tokens are stored as 16-bit fractions, that is to 1.5e-5.

    Parameters
    ----------
    sources
        Stored tokens on S^2.
    select
        Which cases (see :meth:`usaav.figures.sources.Sources.cases`).
    seed
        Which run of each case; the first for None.

    Raises
    ------
    DataError
        Data are missing or not on S^2, or the page would be larger than 3 MB.
    """
    chosen = [
        stored
        for experiment in sources.experiments
        for stored in sorted(sources.one_each(experiment, select), key=_order)
    ]
    template = resources.files("usaav.films").joinpath("sphere.html").read_text(encoding="utf-8")
    runs = json.dumps([_run(stored, seed) for stored in chosen], separators=(",", ":"), ensure_ascii=False)
    # nothing in the data may end the element that holds them
    text = template.replace(_PLACE, runs.replace("<", "\\u003c"))
    if len(text.encode()) > LARGEST:
        raise DataError(
            f"sphere page of {', '.join(sources.experiments)}: {len(text.encode()) / 1e6:.1f} MB, more than "
            f"{LARGEST / 1e6:.0f} MB; name fewer experiments, or fewer cases by `select:`"
        )
    return text


def _order(stored: StoredCase) -> tuple[float, int]:
    return float(facts(stored.case)["beta"]), len(_prompt_looks(stored, None))


def _run(stored: StoredCase, seed: int | None) -> dict[str, Any]:
    """What the page knows of one run."""
    trajectory, labels = stored.trajectory(seed), stored.labels(seed)
    require_sphere(trajectory, stored.where)
    frames = _frames(trajectory)
    shown = trajectory[frames]
    colors, shapes, legend = _marks(stored, seed, labels)
    curve, rings = _prediction(stored, seed, labels)
    view = best_view(shown[-1])
    return {
        "id": stored.where,
        "group": stored.case.experiment.replace("_", " "),
        "title": _title(stored),
        "n": shown.shape[1],
        "times": [float(f"{time:.6g}") for time in stored.stored_times[frames]],
        "distance": [round(float(value), 6) for value in dirac_distance(shown)],
        "tokens": _packed(shown),
        "colors": _text(np.rint(255.0 * colors).astype(np.uint8)),
        "shapes": _text(shapes.astype(np.uint8)),
        "curve": _packed(curve),
        "rings": _packed(rings),
        "legend": legend,
        "view": [round(view.azimuth, 3), round(view.elevation, 3)],
    }


def _frames(trajectory: Array) -> NDArray[np.int64]:
    """Which of the stored times ``(frames,)`` of tokens ``(times, n, d)`` are shown, at most :data:`FRAMES`.

    Where not all can be, they are the first, the last, and those from the first motion to the last: on
    logarithmic time clusters wait for most of the run before they form, and at its end.
    """
    count = len(trajectory)
    if count <= FRAMES:
        return np.arange(count)
    moving = np.flatnonzero(np.abs(np.diff(trajectory, axis=0)).max(axis=(1, 2)) > _STILL)
    first, last = (moving[0], moving[-1] + 1) if len(moving) else (0, count - 1)
    kept = FRAMES - int(first > 0) - int(last < count - 1)
    span = np.linspace(first, last, kept).round().astype(np.int64)
    return np.unique([0, *span, count - 1])


def _title(stored: StoredCase) -> str:
    """Kernel, variant, beta and n in plain letters."""
    settings = stored.case.settings
    beta = facts(stored.case)["beta"]
    parts = [kernel_name(settings.kernel, settings.normalization), _variant(stored)]
    parts += [f"β = {number(beta)}" if beta > 0.0 else "linear profile", f"n = {settings.n_tokens}"]
    return ", ".join(part for part in parts if part)


def _variant(stored: StoredCase) -> str:
    """The weight in plain letters where there is one, else the name of the variant."""
    weight = stored.case.settings.kernel.weight
    if isinstance(weight, DistanceBiasFields):
        alibi = weight.profile == "alibi"
        return f"{'ALiBi' if alibi else weight.profile} {'m' if alibi else 'l'} = {number(weight.scale)}"
    if isinstance(weight, ToeplitzFields) and len(weight.coefficients) == 1:
        return f"mode {next(iter(weight.coefficients))}"
    return "" if names_kernel(stored.case) else variant_name(stored.case)


def _marks(
    stored: StoredCase, seed: int | None, labels: Array | None
) -> tuple[Array, NDArray[np.int64], Any]:
    """Colour ``(n, 3)`` and shape ``(n,)`` of each token, and the legend."""
    count = stored.case.settings.n_tokens if labels is None else len(labels)
    if labels is None:
        blue = np.array(to_rgb(BLUE))
        return (
            np.tile(blue, (count, 1)),
            np.zeros(count, dtype=np.int64),
            [_entry(0, blue, "tokens, no label")],
        )
    looks = _prompt_looks(stored, seed)
    if looks:
        which = np.unique(labels, return_inverse=True)[1]
        palette = np.array([to_rgb(look) for look in looks])
        legend = [_entry(index, color, f"prompt {index + 1}") for index, color in enumerate(palette)]
        return palette[which], which, legend
    turns = _turns(stored, seed, labels)
    quarter = np.minimum((4.0 * turns).astype(np.int64), 3)
    what = "of the way round the targets" if has_prompts(stored) else "of the labels"
    legend = [
        _entry(index, around_circle(np.array(2.0 * np.pi * (index + 0.5) / 4.0)), f"{name} quarter {what}")
        for index, name in enumerate(_QUARTERS)
    ]
    return around_circle(2.0 * np.pi * turns), quarter, legend


def _prompt_looks(stored: StoredCase, seed: int | None) -> list[str]:
    """Colours of the prompts, where there are few enough to be told apart."""
    labels = stored.labels(seed) if has_prompts(stored) else None
    count = 0 if labels is None else len(np.unique(labels))
    return [look.color for look in kinds(count)] if count <= MANY_PROMPTS else []


def _turns(stored: StoredCase, seed: int | None, labels: Array) -> Array:
    """Where each label is on its range, or its target in longitude: from 0 to 1, once round the colours."""
    if has_prompts(stored):
        places = predicted_places(stored, seed)
        return np.asarray(np.mod(np.arctan2(places[:, 1], places[:, 0]) / (2.0 * np.pi), 1.0))
    law = stored.case.settings.labels
    start, stop = float(getattr(law, "start", 0.0)), float(getattr(law, "stop", 2.0 * np.pi))
    return np.asarray(np.mod((labels - start) / (stop - start), 1.0))


def _prediction(stored: StoredCase, seed: int | None, labels: Array | None) -> tuple[Array, Array]:
    """Predicted orbit ``(m, 3)`` and predicted places ``(k, 3)``; either may be empty."""
    none = np.zeros((0, 3))
    if isinstance(stored.kernel.weight, Toeplitz):
        return _circle(stored, seed, labels), none
    if not stored.kernel.gauge.is_identity:
        if not has_prompts(stored):
            return predicted_curve(stored, seed, _CURVE), none
        if labels is None or not _prompt_looks(stored, seed):
            return none, none
        first = np.unique(labels, return_index=True)[1]
        return none, predicted_places(stored, seed)[first]
    collapsed = float(dirac_distance(stored.tokens(seed))) < _COLLAPSED
    return none, final_consensus(stored, seed)[None, :] if collapsed else none


def _circle(stored: StoredCase, seed: int | None, labels: Array | None) -> Array:
    """The great circle nearest to the last tokens, where the strongest mode of the weight has one."""
    weight = stored.kernel.weight
    assert isinstance(weight, Toeplitz)
    coefficients = dict(weight.coefficients)
    m = top_mode(coefficients)
    if labels is None or m == 0:
        return np.zeros((0, 3))
    places = toeplitz_maximiser(coefficients, labels, stored.tokens(seed))
    first, second = toeplitz_frame(places, labels, m)
    turn = np.linspace(0.0, 2.0 * np.pi, _CURVE)[:, None]
    return np.asarray(np.cos(turn) * first + np.sin(turn) * second)


def _entry(shape: int, color: Array, text: str) -> dict[str, Any]:
    return {"shape": shape, "color": [int(part) for part in np.rint(255.0 * color)], "text": text}


def _packed(points: Array) -> str:
    """Coordinates between -1 and 1 as 16-bit fractions, little-endian, in base 64."""
    return _text(np.rint(np.clip(points, -1.0, 1.0) * 32767.0).astype("<i2"))


def _text(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
