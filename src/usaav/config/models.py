"""Models of the configuration file: experiments, what is made of them, and the settings above both."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from usaav.claims import names as checks
from usaav.config.cases import (
    Angle,
    Backend,
    Degrees,
    Dim,
    Field_,
    Method,
    Normalization,
    Precision,
    Seed,
    Tolerance,
)
from usaav.config.kernel_models import KernelSpec
from usaav.config.label_models import LabelLaw
from usaav.config.law_models import TokenLaw, UniformPoints
from usaav.config.problems import nearest
from usaav.config.time_models import DEFAULT_SNAPSHOTS, Snapshots, Times, one_or_list
from usaav.config.values import Count, Faults, Number, Positive, Spec, faults, listed, shortest, spells_null
from usaav.figures import names as drawings
from usaav.films import names as films

MAX_RUNS = 100_000
SWEEPABLE = (
    "kernel",
    "labels",
    "initial",
    "dim",
    "times",
    "snapshots",
    "method",
    "step",
    "normalization",
    "precision",
    "field",
    "rtol",
    "merge_angle",
    "stored_tokens",
    "mode_degrees",
)
_NAME = re.compile(r"[a-z0-9_]{1,64}")


def _name(name: str) -> str:
    # names become files and folders on every file system, also where case does not count
    if not _NAME.fullmatch(name):
        raise PydanticCustomError("name", "a name of 1 to 64 small letters a-z, digits and underscores")
    return name


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise PydanticCustomError("distinct", "values that all differ")
    return values


def _seeds(value: Any) -> Any:
    if isinstance(value, (list, tuple)) or (isinstance(value, str) and ("[" in value or "," in value)):
        return listed(value)
    try:
        count = int(value) if float(value).is_integer() and not isinstance(value, bool) else 0
    except (TypeError, ValueError, OverflowError):
        count = 0
    if not 1 <= count <= MAX_RUNS:
        raise PydanticCustomError("seeds", "a number of seeds from 1 to 100000, or a list of seeds")
    return list(range(count))


def _or_null(value: Any) -> Any:
    return None if spells_null(value) else value


def _listed_or_null(value: Any) -> Any:
    return None if spells_null(value) else listed(value)


_WHOLE_SCHEMA = {"type": "integer", "minimum": 0}
Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"pattern": "^[a-z0-9_]{1,64}$"})]
Seeds = Annotated[
    tuple[Seed, ...],
    Field(min_length=1, max_length=MAX_RUNS),
    BeforeValidator(_seeds),
    AfterValidator(_distinct),
    one_or_list(_WHOLE_SCHEMA),
]
TokenNumbers = Annotated[
    tuple[Count, ...],
    Field(min_length=1, max_length=1000),
    BeforeValidator(listed),
    AfterValidator(_distinct),
    one_or_list({"type": "integer", "minimum": 1}),
]
Names = Annotated[tuple[Name, ...], Field(min_length=1), BeforeValidator(listed), AfterValidator(_distinct)]


class Experiment(Spec):
    """One entry under ``experiments``: a kernel, its data, and what is varied."""

    description: str = Field(default="", max_length=2000, description="One sentence for readers.")
    kernel: KernelSpec | None = Field(
        default=None,
        description="Kernel: {type: ..., beta: ..., ...}; may be left out when every variant has its own.",
    )
    labels: LabelLaw | None = Field(
        default=None, description="Law of the labels; null for kernels without labels."
    )
    initial: TokenLaw = Field(default=UniformPoints(law="uniform"), description="Law of the initial tokens.")
    dim: Dim = Field(default=3, description="Dimension d of the tokens (the sphere is S^{d-1}), 2 or more.")
    n_tokens: TokenNumbers = Field(description="Number of tokens, or a list (one case each).")
    seeds: Seeds = Field(
        default=tuple(range(20)), description="Number of seeds (0, 1, ...), or a list of seeds."
    )
    times: Times = Field(description="Output times: {start, stop, count, spacing}, or a list.")
    snapshots: Snapshots = Field(
        default=None,
        description="Times at which tokens are stored: how many (evenly over the times), a list of them, or "
        f"all. The last time is always stored; null: {DEFAULT_SNAPSHOTS}.",
    )
    sweep: dict[str, tuple[Any, ...]] = Field(
        default={},
        json_schema_extra={"minProperties": 1},
        description="Values of any key by its dotted path, {kernel.beta: [1, 2]}; the product of all lists.",
    )
    variants: dict[Name, dict[str, Any]] = Field(
        default={},
        json_schema_extra={"minProperties": 1},
        description="Named groups of settings, {name: {dotted.path: value}}, each combined with the sweep.",
    )
    batch: Count | None = Field(
        default=None,
        description="For sweeps of many small cases: so many to a job. Their data go to results/sweeps, as "
        "one table and one file; null: a job and a file for each case, in results/simulations.",
    )
    method: Method = Field(
        default="adaptive", description="adaptive (error-controlled) or layers (looped network)."
    )
    step: Positive | None = Field(default=None, description="Step eta of method layers; null otherwise.")
    normalization: Normalization = Field(default="none", description="none (USA) or softmax (SA).")
    backend: Backend = Field(default="auto", description="auto, numba, numpy or cupy.")
    precision: Precision = Field(
        default="float64",
        description="float64, or with backend cupy float32: of the terms of pair sums (rtol 1e-6 or more).",
    )
    field: Field_ = Field(
        default="auto",
        description="auto, direct, or spectral (dim 2 or 3; no weight, toeplitz or gaussian).",
    )
    rtol: Tolerance = Field(
        default=1e-9, description="Local error tolerance of method adaptive, 1e-14 to 1e-2."
    )
    merge_angle: Angle = Field(
        default=1e-3,
        description="Angle in radians at whose crossing two clusters count as merged (merge_time).",
    )
    stored_tokens: Count = Field(
        default=65536,
        description="Of more tokens than this only that many, evenly spread, are stored; metrics are "
        "those of all.",
    )
    mode_degrees: Degrees = Field(
        default=0, description="Record the amplitudes of so many modes (dim 2 and 3); 0: none."
    )
    cluster_angle: Annotated[Number, Field(gt=0, le=math.pi)] = Field(
        default=0.1, description="Angle in radians below which tokens share a cluster (metrics only)."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        found = self._wrong_paths()
        found += [
            ((key,), f"at least one entry in {key}, or no key {key} at all")
            for key in ("sweep", "variants")
            if key in self.model_fields_set and not getattr(self, key)
        ]
        found += [
            (("sweep", path), "at least one value") for path, values in self.sweep.items() if not values
        ]
        found += [
            (("variants", name), "at least one setting") for name, entry in self.variants.items() if not entry
        ]
        if self.kernel is None:
            bare = [name for name, entry in self.variants.items() if "kernel" not in entry]
            if bare or not self.variants:
                found.append(
                    (
                        ("kernel",),
                        "a kernel, here or in every variant" + (f" (not in {bare[0]})" if bare else ""),
                    )
                )
        if found:
            raise faults(found)
        return self

    def _wrong_paths(self) -> Faults:
        places: list[tuple[tuple[str | int, ...], str]] = [(("sweep", path), path) for path in self.sweep]
        places += [
            (("variants", name, path), path) for name, entry in self.variants.items() for path in entry
        ]
        found: Faults = []
        for key, path in places:
            root = path.split(".")[0]
            if root in ("n_tokens", "seeds"):
                found.append((key, f"no {root} here: the experiment's own key {root} takes a list"))
            elif root not in SWEEPABLE:
                found.append(
                    (
                        key,
                        f"the dotted path of a setting: unknown key {root!r}; known: {', '.join(SWEEPABLE)}."
                        + nearest(root, SWEEPABLE),
                    )
                )
        return found


class Product(Spec):
    """What figures, films, pages and claims have in common."""

    experiments: Names = Field(description="Experiments whose data it uses.")
    options: Annotated[dict[str, Any], BeforeValidator(shortest)] = Field(
        default={}, description="Options of the function, as its documentation lists them."
    )

    def _refuse_unknown_options(self, known: Mapping[str, tuple[str, ...]], function: str) -> None:
        if function not in known:
            return
        found: Faults = [
            (
                ("options", name),
                f"an option of {function}: {', '.join(known[function]) or 'it takes none'}."
                + nearest(name, known[function]),
            )
            for name in self.options
            if name not in known[function]
        ]
        if found:
            raise faults(found)


class FigureSpec(Product):
    """One entry under ``figures``."""

    draw: Literal[drawings.DRAW_NAMES] = Field(description="Which drawing function.")  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_unknown_options(getattr(drawings, "DRAW_OPTIONS", {}), self.draw)
        return self


class FilmSpec(Product):
    """One entry under ``films``."""

    draw: Literal[films.FILM_NAMES] = Field(description="Which film function.")  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_unknown_options(getattr(films, "FILM_OPTIONS", {}), self.draw)
        return self


class PageSpec(Product):
    """One entry under ``pages``; with ``only``, it is made of those of its experiments that are run."""

    draw: Literal[films.PAGE_NAMES] = Field(description="Which page function.")  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_unknown_options(films.PAGE_OPTIONS, self.draw)
        return self


class ClaimSpec(Product):
    """One entry under ``claims``."""

    check: Literal[checks.CHECK_NAMES] = Field(description="Which check.")  # type: ignore[valid-type]
    tolerance: Positive = Field(
        description="Largest allowed deviation; its meaning and unit belong to the check."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._refuse_unknown_options(getattr(checks, "CHECK_OPTIONS", {}), self.check)
        return self


class Settings(Spec):
    """The configuration file as written."""

    experiments: dict[Name, Experiment] = Field(
        min_length=1, max_length=1000, description="Simulations, by name."
    )
    figures: dict[Name, FigureSpec] = Field(default={}, description="Figures, by name.")
    films: dict[Name, FilmSpec] = Field(default={}, description="Films, by name.")
    pages: dict[Name, PageSpec] = Field(default={}, description="HTML pages, by name.")
    claims: dict[Name, ClaimSpec] = Field(default={}, description="Claims that are checked, by id.")
    backend: Annotated[Backend | None, BeforeValidator(_or_null)] = Field(
        default=None, description="For every experiment, whatever it says itself; null: each its own."
    )
    rtol: Annotated[Tolerance | None, BeforeValidator(_or_null)] = Field(
        default=None,
        description="For every experiment, whatever it says itself, save where swept; null: each its own.",
    )
    only: Annotated[Names | None, BeforeValidator(_listed_or_null)] = Field(
        default=None,
        description="Run these experiments only, with the figures, films and claims that need no other.",
    )
    seeds: Annotated[Seeds | None, BeforeValidator(_or_null)] = Field(
        default=None, description="For every experiment, whatever it says itself; null: each its own."
    )
    n_tokens: Annotated[TokenNumbers | None, BeforeValidator(_listed_or_null)] = Field(
        default=None, description="For every experiment, whatever it says itself; null: each its own."
    )
    memory_limit: Annotated[Number, Field(gt=0, le=1e6)] = Field(
        default=16.0,
        description="Largest allowed memory of a case in gigabytes: its data (seeds x snapshots x tokens x "
        "dim) and, for weights that depend on labels, the matrix of all pairs.",
    )
    time_limit: Annotated[Number, Field(gt=0, le=1e12)] = Field(
        default=1000.0,
        description="Largest allowed work of a case in core-hours, by an estimate for slow cores.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = self.experiments
        users: dict[str, Mapping[str, FigureSpec | FilmSpec | PageSpec | ClaimSpec]] = {
            "figures": self.figures,
            "films": self.films,
            "pages": self.pages,
            "claims": self.claims,
        }
        found: Faults = [
            ((section, name, "experiments", index), f"the name of an experiment.{nearest(used, names)}")
            for section, entries in users.items()
            for name, entry in entries.items()
            for index, used in enumerate(entry.experiments)
            if used not in names
        ]
        found += self._wrong_uses_of_sweeps(users)
        found += [
            (("only",), f"names of experiments ({', '.join(names)}), not {name!r}.{nearest(name, names)}")
            for name in self.only or ()
            if name not in names
        ]
        if found:
            raise faults(found)
        return self

    def _wrong_uses_of_sweeps(self, users: Mapping[str, Mapping[str, Product]]) -> Faults:
        """Uses of an experiment with a batch by what reads the data of single cases."""
        sweeps = {name for name, experiment in self.experiments.items() if experiment.batch is not None}
        able = ", ".join(drawings.DRAWN_FROM_TABLES)
        return [
            (
                (section, name, "experiments", index),
                f"an experiment without `batch`: figures drawn by {able} use sweeps, nothing else",
            )
            for section, entries in users.items()
            for name, entry in entries.items()
            for index, used in enumerate(entry.experiments)
            if used in sweeps and getattr(entry, "draw", "") not in drawings.DRAWN_FROM_TABLES
        ]
