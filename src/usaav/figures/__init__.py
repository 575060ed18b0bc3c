"""Figures: from tidy tables and stored tokens to matplotlib figures.

One module per figure, with a function ``draw(sources, **options)``; :mod:`usaav.figures.names` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from usaav.errors import ConfigError
from usaav.figures.names import DRAW_OPTIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from usaav.figures.saving import save
    from usaav.figures.sources import Sources

__all__ = ["Sources", "draw_figure", "save"]

# Reading a configuration imports usaav.figures.names, and with it this package, whenever the workflow
# starts; so what needs matplotlib or xarray is loaded on first use.
_HOMES = {"Sources": "usaav.figures.sources", "save": "usaav.figures.saving"}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"usaav.figures has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def draw_figure(draw: str, sources: Sources, options: Mapping[str, Any] | None = None) -> Figure:
    """Draw one figure.

    Parameters
    ----------
    draw
        Name of the drawing function, one of :data:`usaav.figures.names.DRAW_NAMES`.
    sources
        What it may show; only what it needs is read.
    options
        Options of the drawing function, as under ``options:`` in a configuration file.

    Raises
    ------
    ConfigError
        No drawing function of that name, or an option that it does not take.
    DataError
        Data that it needs are missing.
    """
    if draw not in DRAW_OPTIONS:
        raise ConfigError(f"no drawing function {draw!r}; there are {', '.join(DRAW_OPTIONS)}")
    unknown = sorted(set(options or {}) - set(DRAW_OPTIONS[draw]))
    if unknown:
        raise ConfigError(
            f"figure drawn by {draw}: unknown option {unknown[0]!r}; it takes {', '.join(DRAW_OPTIONS[draw])}"
        )
    from usaav.figures.style import applied

    with applied():
        figure: Figure = import_module(f"usaav.figures.{draw}").draw(sources, **(options or {}))
    return figure
