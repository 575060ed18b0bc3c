"""Settings of output times and of the times at which tokens are stored."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from usaav.config.values import Faults, Number, Spec, Whole, fault, faults

MAX_TIMES = 20_000
LATEST_TIME = 1e300
DEFAULT_SNAPSHOTS = 11
Time = Annotated[Number, Field(ge=0, le=LATEST_TIME)]


def one_or_list(item: dict[str, Any], *others: dict[str, Any]) -> WithJsonSchema:
    """JSON schema of a key that takes one `item`, a list of them, or one of `others`."""
    return WithJsonSchema({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}, *others]})


def _snapshots(value: Any) -> Any:
    if value is None or value == "all":
        return value
    if isinstance(value, (list, tuple)):
        return tuple(_time(entry) for entry in value)
    if not isinstance(value, bool) and str(value).isdigit() and int(value) >= 2:
        return int(value)
    raise PydanticCustomError("snapshots", "a number of snapshots of at least 2, a list of times, or all")


def _time(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise PydanticCustomError("time", "times as numbers")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise PydanticCustomError("time", "times as numbers") from None


Snapshots = Annotated[
    Any,
    BeforeValidator(_snapshots),
    one_or_list({"type": "number"}, {"const": "all"}, {"type": "null"}),
]


class TimeRange(Spec):
    """Equally spaced times, or equally spaced logarithms of times."""

    start: Time = Field(
        default=0.0, description="First time; > 0 with spacing log, where 0 is put before it."
    )
    stop: Time = Field(description="Last time, tau of the paper; up to 1e300.")
    count: Annotated[Whole, Field(ge=2, le=MAX_TIMES)] = Field(
        description="Number of times from start to stop, both included."
    )
    spacing: Literal["linear", "log"] = Field(default="linear", description="linear or log.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        found: Faults = []
        if self.stop <= self.start:
            found.append((("stop",), f"a number above start ({self.start:g})"))
        if self.spacing == "log" and self.start <= 0.0:
            found.append((("start",), "a number > 0, as spacing is log"))
        if found:
            raise faults(found)
        _check_times(self.values(), "count")
        return self

    def values(self) -> tuple[float, ...]:
        """The times, rounded to 12 digits so that they print short and do not depend on the machine's pow."""
        if self.spacing == "linear":
            return _rounded(_spaced(self.start, self.stop, self.count))
        exponents = _spaced(math.log10(self.start), math.log10(self.stop), self.count)
        # the ends are meant exactly as written
        inner = [10.0**exponent for exponent in exponents[1:-1]]
        return (0.0, *_rounded([self.start, *inner, self.stop]))


def _spaced(start: float, stop: float, count: int) -> list[float]:
    # without numpy, whose import would take longer than all that is done here
    return [start + index * ((stop - start) / (count - 1)) for index in range(count)]


def _rounded(times: list[float]) -> tuple[float, ...]:
    return tuple(float(f"{time:.12g}") for time in times)


def _check_times(times: tuple[float, ...], *key: str) -> None:
    wrong = [index for index in range(1, len(times)) if not times[index] > times[index - 1]]
    if wrong:
        raise fault(f"times that increase; entry {wrong[0]} ({times[wrong[0]]:g}) does not", *key)


def _listed_times(times: tuple[float, ...]) -> tuple[float, ...]:
    wrong = [index for index in range(1, len(times)) if not times[index] > times[index - 1]]
    if wrong:
        raise PydanticCustomError(
            "times",
            "times that increase; entry {entry} does not",
            {"entry": f"{wrong[0]} ({times[wrong[0]]:g})"},
        )
    return times


def _kind_of_times(value: Any) -> str:
    return "list" if isinstance(value, (list, tuple)) else "range"


Times = Annotated[
    Annotated[
        Annotated[tuple[Time, ...], Field(min_length=1, max_length=MAX_TIMES), AfterValidator(_listed_times)],
        Tag("list"),
    ]
    | Annotated[TimeRange, Tag("range")],
    Discriminator(_kind_of_times),
]
