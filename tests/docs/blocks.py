"""Code blocks of Markdown pages, with the comments that say what to do with them.

A comment in the line before a block::

    <!-- not run: REASON -->         left alone (also `not checked`, for settings)
    <!-- file: PATH -->              what the reader is told to write into a file
    <!-- insert: PATH after `LINE` -->   what the reader is told to insert there
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: languages of blocks that hold nothing to run
INERT = frozenset({"text", "bibtex"})
_BLOCK = re.compile(
    r"^(?:<!-- (?P<action>not run|not checked|file|insert): (?P<note>.+?) -->\n)?"
    r"^```(?P<language>\S[^\n]*)?\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_DIRECTIVES = frozenset({"toctree", "eval-rst", "image"})


@dataclass(frozen=True)
class Block:
    """One block.

    Attributes
    ----------
    page, line
        Where it starts.
    language
        ``python``, ``bash``, ``yaml`` ...; cells of notebook pages are ``python``.
    text
        What stands in it.
    action, note
        What the comment before it says; empty without one.
    """

    page: Path
    line: int
    language: str
    text: str
    action: str
    note: str

    @property
    def skipped(self) -> bool:
        """Whether the page says, with a reason, that it is not to be run."""
        return self.action.startswith("not ")

    def __str__(self) -> str:
        """Page and line."""
        return f"{self.page.name}:{self.line}"


def pages(repo: Path) -> list[Path]:
    """README and all pages of the site."""
    found = sorted((repo / "docs").rglob("*.md"))
    return [repo / "README.md", *(page for page in found if "_build" not in page.parts)]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, without the site's own directives."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        language = match["language"] or ""
        cell = re.fullmatch(r"\{code-cell\} (\w+)", language)
        language = cell[1] if cell else language
        if language.strip("{}").split("}")[0] in _DIRECTIVES:
            continue
        line = text.count("\n", 0, match.start("text")) + 1
        yield Block(page, line, language, match["text"], match["action"] or "", match["note"] or "")


def commands(block: Block) -> list[str]:
    """The commands of a shell block, without comments."""
    lines = (line.split(" #")[0].strip() for line in block.text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
