"""Films: from stored tokens to GIF and MP4.

One module per film, with a function ``scene(sources, **options)``; :mod:`usaav.films.names` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usaav.errors import ConfigError
from usaav.films.names import FILM_OPTIONS

if TYPE_CHECKING:
    from usaav.figures.sources import Sources

__all__ = ["write_film"]


def write_film(
    draw: str,
    sources: Sources,
    options: Mapping[str, Any] | None,
    gif: str | Path,
    mp4: str | Path,
    progress: Callable[[int, float], None] | None = None,
) -> None:
    """Draw a film and write it twice, each file whole or not at all; equal data give equal bytes.

    Parameters
    ----------
    draw
        Name of the film function, one of :data:`usaav.films.names.FILM_NAMES`.
    sources
        What it may show.
    options
        Options of the film function, as under ``options:`` in a configuration file.
    gif, mp4
        The files to write.
    progress
        Called as ``progress(0, fraction)`` after each frame.

    Raises
    ------
    ConfigError
        No film function of that name, or an option that it does not take.
    DataError
        Data that it needs are missing, or a file can't be written.
    """
    if draw not in FILM_OPTIONS:
        raise ConfigError(f"no film function {draw!r}; there are {', '.join(FILM_OPTIONS)}")
    unknown = sorted(set(options or {}) - set(FILM_OPTIONS[draw]))
    if unknown:
        raise ConfigError(
            f"film drawn by {draw}: unknown option {unknown[0]!r}; it takes {', '.join(FILM_OPTIONS[draw])}"
        )
    from usaav.figures.style import applied
    from usaav.films.writing import write_gif, write_mp4

    module = import_module(f"usaav.films.{draw}")
    with applied():
        pictures = []
        scene = module.scene(sources, **(options or {}))
        for index in range(scene.length):
            pictures.append(scene.picture(index))
            if progress is not None:
                progress(0, (index + 1) / scene.length)
    write_gif(pictures, gif)
    write_mp4(pictures, mp4)
