"""Every key of the configuration, from the models that validate it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from usaav.claims.names import CHECK_OPTIONS
from usaav.config.models import Settings
from usaav.figures.names import DRAW_OPTIONS
from usaav.films.names import FILM_OPTIONS, PAGE_OPTIONS

Schema = Mapping[str, Any]
#: section title -> models shown there, in this order; what is not named comes in a last section
SECTIONS: dict[str, tuple[str, ...]] = {
    "Top level": ("Settings",),
    "Experiments": ("Experiment", "TimeRange"),
    "Kernels": (
        "Usa",
        "Rope",
        "GeneralizedRope",
        "Prefix",
        "DistanceBias",
        "Toeplitz",
        "Combined",
    ),
    "Figures, films and claims": (
        "FigureSpec",
        "FilmSpec",
        "PageSpec",
        "ClaimSpec",
    ),
}


def all_tables(_root: Path) -> str:
    """All sections with a table for each model."""
    schema = Settings.model_json_schema()
    models: dict[str, Schema] = {"Settings": schema, **schema["$defs"]}
    shown = {name for names in SECTIONS.values() for name in names}
    rest = [name for name in models if name not in shown]
    sections = {
        **SECTIONS,
        "Parts of a combined kernel": tuple(
            name for name in rest if name.endswith(("Gauge", "Weight"))
        ),
        "Laws of labels": tuple(name for name in rest if "Labels" in name),
        "Laws of points on the sphere": tuple(
            name for name in rest if "Points" in name and "Label" not in name
        ),
    }
    sections["Others"] = tuple(
        name
        for name in rest
        if not any(name in names for names in sections.values())
    )
    return "\n\n".join(
        "\n\n".join(
            [
                f"## {title}",
                *(_model(name, models) for name in names if name in models),
                *_extra(title),
            ]
        )
        for title, names in sections.items()
        if names
    )


def _extra(title: str) -> Iterator[str]:
    """Which functions figures, films and claims can name, with their options."""
    if title != "Figures, films and claims":
        return
    for kind, options in (
        ("draw, of figures", DRAW_OPTIONS),
        ("draw, of films", FILM_OPTIONS),
        ("draw, of pages", PAGE_OPTIONS),
        ("check", CHECK_OPTIONS),
    ):
        yield f"### Values of {kind}"
        rows = [
            f"| `{name}` | {', '.join(f'`{key}`' for key in keys)} |"
            for name, keys in options.items()
        ]
        yield "\n".join(["| name | options |", "|---|---|", *rows])


def _model(name: str, models: Mapping[str, Schema]) -> str:
    model = models[name]
    required = model.get("required", [])
    rows = [
        _row(
            f"`{key}`",
            _kind(entry, models),
            _default(key, entry, required),
            _text(entry.get("description", "")),
        )
        for key, entry in model["properties"].items()
        if "const" not in entry  # the title says it
    ]
    summary = _text(model.get("description", ""))
    head = (
        ["| key | value | default | meaning |", "|---|---|---|---|"]
        if rows
        else ["No other keys."]
    )
    table = "\n".join([*head, *rows])
    return f"### {_title(name, model)}\n\n{summary}\n\n{table}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _title(name: str, model: Schema) -> str:
    """What a reader writes to get this model, such as `type: rope`."""
    for tag in ("type", "law"):
        entry = model["properties"].get(tag, {})
        if "const" in entry:
            return f"`{tag}: {entry['const']}`"
    return {
        "Settings": "Keys of the file",
        "Experiment": "An experiment",
        "TimeRange": "A range of times",
        "FigureSpec": "A figure",
        "FilmSpec": "A film",
        "PageSpec": "A page",
        "ClaimSpec": "A claim",
        "Rotation": "A rotation",
    }.get(name, name)


def _kind(entry: Schema, models: Mapping[str, Schema]) -> str:
    """Type and range of a value, in words."""
    choices = entry.get("oneOf") or entry.get("anyOf")
    if choices:
        return " or ".join(
            dict.fromkeys([*_tagged(choices, models), *_untagged(choices, models)])
        )
    if "$ref" in entry:
        title = _title(_name(entry), models[_name(entry)])
        return title[0].lower() + title[1:]
    if "const" in entry or "enum" in entry:
        values = entry.get("enum") or [entry["const"]]
        return (
            "one of the names below"
            if len(values) > 5
            else ", ".join(f"`{value}`" for value in values)
        )
    return _plain_kind(entry, models)


def _plain_kind(entry: Schema, models: Mapping[str, Schema]) -> str:
    """Type of a list, a mapping, or a single value."""
    kind = str(entry.get("type", "any"))
    if "prefixItems" in entry:
        return (
            f"[{', '.join(_kind(item, models) for item in entry['prefixItems'])}]"
        )
    if kind == "array":
        return f"list of {_kind(entry.get('items', {}), models)}"
    if kind == "object":
        inner = entry.get("additionalProperties")
        return (
            f"mapping to {_kind(inner, models)}"
            if isinstance(inner, dict) and inner
            else "mapping"
        )
    words = {
        "integer": "whole number",
        "string": "text",
        "boolean": "true or false",
    }
    return words.get(kind, kind) + _range(entry)


def _tagged(choices: list[Schema], models: Mapping[str, Schema]) -> Iterator[str]:
    """Mappings told apart by `type` or `law`, in one go: ``{law: grid, uniform, ...}``."""
    for tag in ("type", "law"):
        values = [
            models[_name(choice)]["properties"][tag]["const"]
            for choice in _flat(choices)
            if "$ref" in choice
            and "const" in models[_name(choice)]["properties"].get(tag, {})
        ]
        if values:
            yield f"mapping, `{tag}` one of {', '.join(f'`{value}`' for value in values)}"


def _untagged(choices: list[Schema], models: Mapping[str, Schema]) -> Iterator[str]:
    for choice in _flat(choices):
        tags = models[_name(choice)]["properties"] if "$ref" in choice else {}
        if not any("const" in tags.get(tag, {}) for tag in ("type", "law")):
            yield _kind(choice, models)


def _flat(choices: list[Schema]) -> Iterator[Schema]:
    """Choices with nested choices (a law, or null) opened."""
    for choice in choices:
        inner = choice.get("oneOf") or choice.get("anyOf")
        yield from _flat(inner) if inner else [choice]


def _name(choice: Schema) -> str:
    return str(choice["$ref"]).rsplit("/", 1)[-1]


def _range(entry: Schema) -> str:
    bounds = {
        "minimum": ">=",
        "exclusiveMinimum": ">",
        "maximum": "<=",
        "exclusiveMaximum": "<",
    }
    said = [
        f"{sign} {entry[key]:g}" for key, sign in bounds.items() if key in entry
    ]
    return f" {', '.join(said)}" if said else ""


def _default(key: str, entry: Schema, required: list[str]) -> str:
    if key in required:
        return "required"
    if key == "seeds" and isinstance(entry.get("default"), (list, tuple)):
        return f"`{len(entry['default'])}`"
    default = entry.get("default")
    if isinstance(default, dict):
        default = {
            name: value for name, value in default.items() if value is not None
        }
    return f"`{json.dumps(default)}`" if "default" in entry else ""


def _text(text: str) -> str:
    """Text fit for a cell: one line, reStructuredText's double backquotes as Markdown's, bars escaped."""
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")
