"""From validation failures to messages that a person can act on.

Each says where, which key, which value, what was expected, and the nearest valid key.
"""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, Tag, TypeAdapter, ValidationError

from usaav.config.values import plain
from usaav.errors import ConfigError

MAX_REPORTED = 40
_NO_VALUE = object()

Locate = Callable[[tuple[str, ...]], str]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the settings."""

    key: tuple[str, ...]
    expected: str
    value: Any = _NO_VALUE
    hint: str = ""
    source: str = ""
    #: the variant of an experiment that has it, though the key lies outside the variant
    variant: str = ""

    def below(self, *prefix: str) -> Problem:
        """The same problem with its key put under `prefix`."""
        return replace(self, key=(*prefix, *self.key))

    def __str__(self) -> str:
        """One line."""
        where = f"{self.source}: " if self.source else ""
        key = ".".join(self.key) or "the configuration"
        value = "" if self.value is _NO_VALUE else f" = {shortened(self.value)}"
        stop = "" if self.expected.endswith(("?", ".")) else "."
        return f"{where}{key}{value}: {self.expected}{stop}{self.hint}"


def shortened(value: Any) -> str:
    """The value as text of at most about 70 characters."""
    text = repr(_as_written(value))
    return text if len(text) <= 70 else f"{text[:60]} ... ({len(text)} characters)"


def _as_written(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _as_written(value.model_dump())
    if isinstance(value, (list, tuple)):
        return [_as_written(entry) for entry in value]
    return {key: _as_written(entry) for key, entry in value.items()} if isinstance(value, Mapping) else value


def nearest(word: str, choices: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` for the choice closest to `word`, or nothing."""
    known, typed = list(choices), word.lower()
    # a word cut short, such as n for n_tokens, is no near miss in letters
    close = difflib.get_close_matches(typed, known, n=1, cutoff=0.6)
    close += [choice for choice in known if typed and choice.startswith(typed)]
    close += difflib.get_close_matches(typed, known, n=1, cutoff=0.45)
    return f" Did you mean {close[0]!r}?" if close else ""


def unknown(key: Sequence[str], value: Any, choices: Iterable[str], what: str = "unknown key") -> Problem:
    """The problem of a key (its last part) that is none of `choices`."""
    known = sorted(choices)
    listing = ", ".join(known[:30]) + (", ..." if len(known) > 30 else "")
    return Problem(tuple(key), f"{what}; known: {listing or 'none'}", value, nearest(key[-1], known))


def raise_problems(problems: Sequence[Problem], locate: Locate | None = None) -> None:
    """Raise one ConfigError with all `problems`, if any; `locate` names the file and line of a key."""
    if not problems:
        return
    lines: dict[str, None] = {}  # keeps the order and drops doubles
    for problem in problems:
        named = replace(problem, source=locate(problem.key)) if locate and not problem.source else problem
        lines[f"  {named}"] = None
    shown = list(lines)[:MAX_REPORTED]
    if len(lines) > MAX_REPORTED:
        shown.append(f"  ... and {len(lines) - MAX_REPORTED} more")
    count = f"{len(lines)} problem{'s' if len(lines) > 1 else ''} in the settings; correct, then start again:"
    raise ConfigError("\n".join([count, *shown]))


def validated(adapter: TypeAdapter[Any], annotation: Any, data: Any, root: str) -> Any:
    """`data` validated by `adapter` (of `annotation`), or one ConfigError with keys under `root`."""
    try:
        data = plain(data)
    except ValueError as error:
        raise ConfigError(f"{root}: {error}") from None
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        raise_problems([problem.below(root) for problem in translate(error, annotation, data)])
        raise


def translate(error: ValidationError, annotation: Any, data: Any) -> list[Problem]:
    """The problems behind a failed validation of `data` against `annotation` (a model or a union of them)."""
    details = error.errors(include_url=False)
    found: list[Problem] = []
    for detail in details:
        # entries that are wrong count as missing, too
        if detail["type"] == "too_short" and any(_is_below(other["loc"], detail["loc"]) for other in details):
            continue
        found.extend(_translated(detail, annotation, data))
    return found


def _is_below(loc: Sequence[str | int], other: Sequence[str | int]) -> bool:
    return len(loc) > len(other) and tuple(loc[: len(other)]) == tuple(other)


def _translated(detail: Any, annotation: Any, data: Any) -> list[Problem]:
    kind, context = detail["type"], detail.get("ctx", {})
    place = _walk(annotation, detail["loc"], data, kind in ("missing", "extra_forbidden"))
    key, value = place.key, place.value
    if kind == "rule":
        return [
            Problem((*key, *map(str, below)), f"expected {expected}", _value_at(value, below))
            for below, expected in context["faults"]
        ]
    if kind == "extra_forbidden":
        above = _walk(annotation, detail["loc"][:-1], data, False).annotation
        return [unknown(key, value, above.model_fields if _is_model(above) else ())]
    if kind.startswith("union_tag"):
        return [_wrong_tag(kind, key, value, context, [tag for tag, _ in _members(place.annotation)])]
    if kind == "literal_error":
        return [unknown_choice(key, value, re.findall(r"'([^']*)'", context["expected"]))]
    return [Problem(key, _in_words(kind, detail["msg"], context), value)]


def _wrong_tag(kind: str, key: tuple[str, ...], value: Any, context: Any, choices: list[str]) -> Problem:
    tag = context["discriminator"].strip("'")
    if kind == "union_tag_invalid":
        return unknown_choice((*key, tag), context["tag"], choices)
    given = f" (found only {', '.join(value)})" if isinstance(value, Mapping) and value else ""
    return Problem((*key, tag), f"this key is required{given}; one of {', '.join(choices)}")


_WORDS = {
    "missing": "this key is required",
    "model_type": "expected a mapping of keys to values",
    "model_attributes_type": "expected a mapping of keys to values",
    "dict_type": "expected a mapping of keys to values",
    "tuple_type": "expected a list",
    "string_type": "expected text",
}


_BOUNDS = {
    "greater_than": ("gt", "above"),
    "greater_than_equal": ("ge", "of at least"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "of at most"),
}


def _in_words(kind: str, message: str, context: Mapping[str, Any]) -> str:
    if kind in _WORDS:
        return _WORDS[kind]
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"expected a number {words} {context[name]:.12g}"
    if kind in ("too_short", "too_long"):
        least = kind == "too_short"
        count = context["min_length" if least else "max_length"]
        entries = "entry" if count == 1 else "entries"
        return f"expected at {'least' if least else 'most'} {count} {entries}, not {context['actual_length']}"
    wanted = re.sub(r"^(Input|Value|Tuple|Dictionary|String) should ", "", message)
    return f"expected {wanted.removeprefix('be ').replace('have ', 'something with ', 1)}"


def unknown_choice(key: Sequence[str], value: Any, choices: Sequence[str]) -> Problem:
    """The problem of a value that is none of `choices`."""
    hint = nearest(value, choices) if isinstance(value, str) else ""
    return Problem(tuple(key), f"expected one of {', '.join(choices)}", value, hint)


def _step(data: Any, component: str | int) -> Any:
    if isinstance(data, Mapping):
        for name in (component, str(component)):
            if name in data:
                return data[name]
    elif isinstance(data, (list, tuple)) and isinstance(component, int) and component < len(data):
        return data[component]
    elif isinstance(data, BaseModel) and isinstance(component, str) and component in type(data).model_fields:
        return getattr(data, component)
    return _NO_VALUE


def _value_at(data: Any, path: Sequence[str | int]) -> Any:
    for component in path:
        data = _step(data, component)
    return data


@dataclass
class _Place:
    """Where a location of pydantic leads: key as written in the file, value there, and the annotation."""

    key: tuple[str, ...]
    value: Any
    annotation: Any


def _walk(annotation: Any, loc: Sequence[str | int], data: Any, absent: bool) -> _Place:
    """Follow `loc`, which also names the members of tagged unions on the way; those stand in no file."""
    place = _Place((), data, _unwrapped(annotation))
    for position, component in enumerate(loc):
        members = dict(_members(place.annotation))
        if component == "[key]":
            place.value = _NO_VALUE  # the key itself is wrong, not what it leads to
        elif members:
            place.annotation = _unwrapped(members.get(str(component)))
        else:
            inner = _step(place.value, component)
            if inner is _NO_VALUE and not (absent and position == len(loc) - 1):
                continue  # such as the name of a validator
            below = _below(place.annotation, component)
            place = _Place((*place.key, str(component)), inner, below)
    return place


# ---------------------------------------------------------------- which model stands at a location


def _unwrapped(annotation: Any) -> Any:
    """Without Annotated and Optional."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (typing.Union, types.UnionType):
            members = [member for member in typing.get_args(annotation) if member is not type(None)]
            if len(members) != 1:
                return annotation
            annotation = members[0]
        else:
            return annotation


def _members(annotation: Any) -> list[tuple[str, Any]]:
    """The members of a tagged union with their tags."""
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return []
    found: list[tuple[str, Any]] = []
    for member in typing.get_args(annotation):
        tags = [item.tag for item in getattr(member, "__metadata__", ()) if isinstance(item, Tag)]
        inner = _unwrapped(member)
        if not tags and _is_model(inner):
            names = [name for name in ("type", "law") if name in inner.model_fields]
            tags = [tag for name in names for tag in typing.get_args(inner.model_fields[name].annotation)]
        found.extend((tag, inner) for tag in tags)
    return found


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _below(annotation: Any, component: str | int) -> Any:
    """The annotation of an entry of a model, mapping or list."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if _is_model(annotation):
        field = annotation.model_fields.get(str(component))
        return _unwrapped(field.annotation) if field else None
    if origin is dict:
        return _unwrapped(arguments[1])
    return _unwrapped(arguments[0]) if origin is tuple else None
