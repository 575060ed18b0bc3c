"""Films and pages: from stored tokens to GIF and MP4, and to HTML.

One module per film, with a function ``scene(sources, **options)``, or per page, with a function
``page(sources, **options)``; :mod:`usaav.films.names` lists them. A page fills a template of its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usaav.errors import ConfigError
from usaav.films.names import FILM_OPTIONS, PAGE_OPTIONS

if TYPE_CHECKING:
    from usaav.figures.sources import Sources

__all__ = ["template_digest", "write_film", "write_page"]


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
    _check("film", draw, options, FILM_OPTIONS)
    from usaav.figures.style import applied
    from usaav.films import writing

    module = import_module(f"usaav.films.{draw}")
    with applied():
        pictures = []
        scene = module.scene(sources, **(options or {}))
        for index in range(scene.length):
            pictures.append(scene.picture(index))
            if progress is not None:
                progress(0, (index + 1) / scene.length)
    for path in (gif, mp4):
        writing.write_film(pictures, path)


def write_page(draw: str, sources: Sources, options: Mapping[str, Any] | None, path: str | Path) -> None:
    """Write an HTML page that needs no other file, whole or not at all; equal data give equal bytes.

    Parameters
    ----------
    draw
        Name of the page function, one of :data:`usaav.films.names.PAGE_NAMES`.
    sources
        What it may show.
    options
        Options of the page function, as under ``options:`` in a configuration file.
    path
        The file to write.

    Raises
    ------
    ConfigError
        No page function of that name, or an option that it does not take.
    DataError
        Data that it needs are missing, or the file can't be written.
    """
    _check("page", draw, options, PAGE_OPTIONS)
    from usaav.whole_files import write_text

    write_text(path, import_module(f"usaav.films.{draw}").page(sources, **(options or {})))


def template_digest(draw: str) -> str:
    """Sixteen hexadecimal digits that change with the template of a page."""
    template = resources.files("usaav.films").joinpath(f"{draw}.html")
    return hashlib.sha256(template.read_bytes()).hexdigest()[:16]


def _check(
    kind: str, draw: str, options: Mapping[str, Any] | None, known: Mapping[str, tuple[str, ...]]
) -> None:
    if draw not in known:
        raise ConfigError(f"no {kind} function {draw!r}; there are {', '.join(known)}")
    unknown = sorted(set(options or {}) - set(known[draw]))
    if unknown:
        raise ConfigError(
            f"{kind} drawn by {draw}: unknown option {unknown[0]!r}; it takes {', '.join(known[draw])}"
        )
