"""Parts of pages that are written from the code, the configuration and measured numbers at each build.

A page names such a part in a line of its own, ``<!-- generated: NAME -->``; the text that takes its place is
Markdown. So nothing that stands elsewhere is repeated by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import benchmark_tables
import configuration_tables
import experiment_facts
import figure_lists
from sphinx.application import Sphinx

PARTS: dict[str, Callable[[Path], str]] = {
    "benchmark of the field": benchmark_tables.field,
    "benchmark of a device": benchmark_tables.device,
    "benchmark of a trajectory": benchmark_tables.trajectory,
    "configuration": configuration_tables.all_tables,
    "figure table": figure_lists.table,
    "gallery": figure_lists.gallery,
}
_MARK = re.compile(r"^<!-- generated: (.+) -->$", re.MULTILINE)


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill in the parts whenever a page is read."""
    app.connect("source-read", _fill_in)
    app.connect("env-get-outdated", _always_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _fill_in(app: Sphinx, _page: str, source: list[str]) -> None:
    root = Path(app.srcdir).parent
    source[0] = _MARK.sub(lambda mark: _part(mark[1], root), source[0])


def _part(name: str, root: Path) -> str:
    experiment = name.removeprefix("facts of ")
    return (
        PARTS[name](root)
        if name in PARTS
        else experiment_facts.facts(root, experiment)
    )


def _always_read(
    app: Sphinx, _env: Any, _added: Any, _changed: Any, _removed: Any
) -> list[str]:
    """Pages with generated parts: what these are made from is not the page's own text."""
    pages = (Path(app.srcdir) / f"{page}.md" for page in sorted(app.env.found_docs))
    marked = [
        page
        for page in pages
        if page.exists() and _MARK.search(page.read_text(encoding="utf-8"))
    ]
    return [
        page.relative_to(app.srcdir).with_suffix("").as_posix() for page in marked
    ]
