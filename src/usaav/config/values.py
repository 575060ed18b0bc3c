"""Typed values of a configuration: what counts as a number, a whole number, a list.

YAML, JSON, the command line and Python all lead here, so ``9``, ``9.0`` and ``"9"`` are one number, while
``true`` (a whole number to Python) and NaN are none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

MAX_DEPTH = 16
MAX_VALUES = 500_000
_WHOLE = re.compile(r"[+-]?\d{1,19}")

Faults = list[tuple[tuple[str | int, ...], str]]


class Spec(BaseModel):
    """Base of every model: unknown keys are errors, and a validated object never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


def fault(expected: str, *key: str | int) -> PydanticCustomError:
    """One broken rule of a model; `key` is the path of the guilty entry below that model."""
    return faults([(key, expected)])


def faults(found: Faults) -> PydanticCustomError:
    """Several broken rules of a model, as pairs (path below the model, what was expected)."""
    text = "; ".join(f"{'.'.join(map(str, key))}: {expected}" if key else expected for key, expected in found)
    return PydanticCustomError("rule", "{text}", {"text": text, "faults": list(found)})


def _number(value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise PydanticCustomError("number", "a number") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PydanticCustomError("number", "a number")
    try:
        value = float(value)
    except OverflowError:
        raise PydanticCustomError("number", "a number that fits into a float64") from None
    if not math.isfinite(value):
        raise PydanticCustomError("number", "a finite number")
    return float(value) + 0.0  # -0.0 and 0.0 are one value and must give one file name


def _whole(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    try:
        number = _number(value)
    except PydanticCustomError:
        raise PydanticCustomError("whole", "a whole number") from None
    if not number.is_integer() or abs(number) > 2**53:
        raise PydanticCustomError("whole", "a whole number")
    return int(number)


Number = Annotated[float, BeforeValidator(_number)]
Positive = Annotated[Number, Field(gt=0, le=1e9)]
Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=1, le=4_194_304)]
Axis = Annotated[Whole, Field(ge=0, le=4095)]
Vector = Annotated[tuple[Number, ...], Field(min_length=2, max_length=4096)]


def listed(value: Any) -> Any:
    """A list from a list, one value, or a string that spells either (``"64"``, ``"[8, 9]"``, ``"8,9"``)."""
    if isinstance(value, str):
        parts = [
            part.strip().strip("'\"") for part in value.strip().removeprefix("[").removesuffix("]").split(",")
        ]
        return [part for part in parts if part] if value.strip().startswith("[") or "," in value else parts
    if isinstance(value, (list, tuple)):
        return list(value)
    return [value]


def shortest(value: Any) -> Any:
    """`value` with each number in it spelt one way: 9.0 and "9" become 9, "1e-9" becomes 1e-9."""
    if isinstance(value, Mapping):
        return {key: shortest(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [shortest(entry) for entry in value]
    try:
        number = _number(value)
    except PydanticCustomError:
        return value  # no number, or none that a setting may have
    return int(number) if number.is_integer() else number


def spells_null(value: Any) -> bool:
    """Whether a setting is empty: null, or a command-line string that says so."""
    return value is None or (isinstance(value, str) and value.strip().lower() in {"", "null", "none", "~"})


class _Budget:
    """Counts the values of a configuration, so that a YAML alias bomb is an error, not full memory."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise ValueError(
                f"more than {MAX_VALUES} values: put long lists into a CSV file and name it with law: points"
            )


def plain(value: Any) -> Any:
    """A copy of `value` in dicts with string keys, lists, strings, numbers, booleans and None only.

    Raises
    ------
    ValueError
        Nested too deeply, too many values, two keys that are one as text, or a type that no configuration
        has.
    """
    return _plain(value, _Budget(), 0)


def _plain(value: Any, budget: _Budget, depth: int) -> Any:
    budget.spend()
    if depth > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    if hasattr(value, "tolist"):  # a numpy array or number; numpy itself need not be imported for that
        value = value.tolist()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, Mapping):
        entries: dict[str, Any] = {}
        for key, entry in value.items():
            name = _key(key)
            if name in entries:
                raise ValueError(f"key {name!r} stands twice")
            entries[name] = _plain(entry, budget, depth + 1)
        return entries
    if isinstance(value, (list, tuple)):
        return [_plain(entry, budget, depth + 1) for entry in value]
    raise ValueError(
        f"{type(value).__name__} {str(value)[:60]!r} is no mapping, list, number, text, boolean or null"
    )


def _key(key: Any) -> str:
    if isinstance(key, bool) or not isinstance(key, (str, int, float)):
        raise ValueError(f"key {key!r} is no word or number")
    return str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)
