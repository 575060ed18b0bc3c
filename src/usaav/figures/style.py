"""How every figure looks: widths, fonts, colours, line styles and markers.

Colours are those of Okabe and Ito (colour universal design) for kinds of things, and go from dark blue to
orange, ever lighter, for ordered series; each comes with its own line style and marker, so that nothing
depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from numpy.typing import NDArray

#: widths in inches of one column and of a page
COLUMN, PAGE = 3.4, 7.0
DOTS_PER_INCH = 200

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY = "#AA4499", "#E69F00", "#56B4E9"
BLACK, GREY, PALE = "#000000", "#6E6E6E", "#C9C9C9"

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "mathtext.fontset": "dejavusans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "patch.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "figure.dpi": DOTS_PER_INCH,
    "savefig.dpi": DOTS_PER_INCH,
    "pdf.fonttype": 42,  # text stays text, in embedded TrueType fonts
    "svg.fonttype": "none",
    "svg.hashsalt": "usaav",
    "path.simplify": True,
}

_P = ParamSpec("_P")
_R = TypeVar("_R")


@contextmanager
def applied() -> Iterator[None]:
    """The style, and none of what a user's own matplotlibrc says."""
    with mpl.rc_context():
        settings: dict[str, Any] = {key: mpl.rcParamsDefault[key] for key in _TAKEN_BACK}
        for key, value in (settings | _SETTINGS).items():
            mpl.rcParams[key] = value  # type: ignore[index]
        yield


# the choice of a backend is none of the look, and setting it may open a window
_TAKEN_BACK = [key for key in mpl.rcParamsDefault if "backend" not in key and key != "toolbar"]


def styled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Run `function` under :func:`applied`."""

    @wraps(function)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with applied():
            return function(*args, **kwargs)

    return wrapped


@dataclass(frozen=True)
class Look:
    """Colour, line style and marker of a series."""

    color: str
    line: str | tuple[float, tuple[float, ...]]
    marker: str


_LINES: tuple[str | tuple[float, tuple[float, ...]], ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1.2, 1.2)),
    (0, (5, 1.2, 1.2, 1.2)),
    (0, (8, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)
_MARKERS = "osD^vP*X<>ph"
_KINDS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, BLACK)


_DARK_TO_LIGHT = LinearSegmentedColormap.from_list("dark_to_light", ["#10203F", "#1F6FA8", "#D0812A"])
_ROUND = LinearSegmentedColormap.from_list("round", [BLUE, "#222222", VERMILION, "#B3A18D", BLUE])


def kinds(count: int) -> list[Look]:
    """Looks of `count` different things that have no order (experiments, prompts)."""
    return [
        Look(_KINDS[index % len(_KINDS)], _LINES[index % len(_LINES)], _MARKERS[index % len(_MARKERS)])
        for index in range(count)
    ]


def ordered(count: int) -> list[Look]:
    """Looks of `count` members of an ordered series (n, beta): from dark to light."""
    shades = np.linspace(0.0, 1.0, count) if count > 1 else np.zeros(1)
    colors = [to_hex(color) for color in _DARK_TO_LIGHT(shades)]
    return [
        Look(color, _LINES[index % len(_LINES)], _MARKERS[index % len(_MARKERS)])
        for index, color in enumerate(colors)
    ]


def around_circle(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Colours ``(n, 3)`` of angles in radians, the same after a full turn."""
    return np.asarray(_ROUND(np.mod(angles, 2.0 * np.pi) / (2.0 * np.pi)))[..., :3]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that keeps its parts from overlapping."""
    return Figure(figsize=(width, height), layout="constrained")


def letter_panels(panels: Sequence[Axes]) -> None:
    """Put (a), (b), ... before the titles of the panels (or alone, where there is none)."""
    for index, axes in enumerate(panels):
        title = axes.get_title(loc="center")
        axes.set_title("")
        axes.set_title(f"({chr(ord('a') + index)})  {title}".rstrip(), loc="left")


def number(value: float) -> str:
    """A number as a reader writes it: 9 for 9.0, 0.5, 1e-3."""
    return f"{value:.12g}"
