"""Reading one configuration file: safely, with exact numbers, refusing doubled keys, remembering lines."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from usaav.config.problems import Problem
from usaav.config.values import plain

MAX_CONFIG_BYTES = 10_000_000
_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SAFE):  # type: ignore[misc]
    """Safe loader (no code, no objects) in which ``1e-3`` is a number, as YAML 1.2 has it."""


_Loader.yaml_implicit_resolvers = {
    first: [
        pair for pair in pairs if pair[0] not in ("tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp")
    ]
    for first, pairs in _SAFE.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^(?:[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    list("-+0123456789."),
)


@dataclass
class Document:
    """A configuration file as read."""

    path: Path
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[tuple[str, ...], int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_document(path: Path) -> Document:
    """The content of a YAML (or JSON) file; what is wrong with it is in ``problems``, never raised."""
    document = Document(path)
    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            document.problems.append(
                _problem(path, f"expected a file of at most {MAX_CONFIG_BYTES // 10**6} MB")
            )
            return document
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        document.problems.append(_problem(path, f"expected a readable configuration file: {error.strerror}"))
        return document
    except UnicodeDecodeError as error:
        document.problems.append(_problem(path, f"expected UTF-8 text: {error.reason} at byte {error.start}"))
        return document
    try:
        _parse(text, document)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        document.problems.append(Problem((), f"expected YAML: {reason}", source=where))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        document.problems.append(_problem(path, f"expected plain YAML: {reason}"))
    return document


def _problem(path: Path, expected: str) -> Problem:
    return Problem((), expected, source=str(path))


def _parse(text: str, document: Document) -> None:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            document.problems.append(_problem(document.path, "expected settings; the file is empty"))
            return
        if not isinstance(node, yaml.MappingNode):
            document.problems.append(_problem(document.path, "expected a mapping of keys to values"))
            return
        _note_keys(node, (), document, set())
        if document.problems:
            return
        document.data = plain(loader.construct_document(node))
    finally:
        loader.dispose()


def _note_keys(node: yaml.Node, key: tuple[str, ...], document: Document, seen: set[int]) -> None:
    """Record the line of every key and report those that stand twice (YAML keeps the last in silence)."""
    if id(node) in seen:
        return  # an alias, whose keys are noted where its anchor stands
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, entry in enumerate(node.value):
            if not isinstance(entry, yaml.ScalarNode):
                _note_keys(entry, (*key, str(index)), document, seen)
    if not isinstance(node, yaml.MappingNode):
        return
    for name_node, entry in node.value:
        name = _name(name_node)
        below = (*key, name)
        line = name_node.start_mark.line + 1
        if below in document.lines and name != "<<":
            text = f"this key stands twice (first in line {document.lines[below]}); keep one"
            document.problems.append(Problem(below, text, source=f"{document.path}:{line}"))
        document.lines[below] = line
        _note_keys(entry, below, document, seen)


def _name(node: yaml.Node) -> str:
    """A key as text; 1 and 1.0 are one key, also to Python, which would keep the last in silence."""
    if not isinstance(node, yaml.ScalarNode):
        return "?"
    try:
        number = float(node.value) if node.tag.endswith((":int", ":float")) else math.nan
    except ValueError:
        number = math.nan
    return str(int(number)) if number.is_integer() else str(node.value)
