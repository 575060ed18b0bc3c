"""Settings of the laws of labels, and what they share with the laws of tokens.

The samplers are in :mod:`usaav.laws.labels`.
"""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from usaav.config.values import Count, Number, Spec, Whole, fault

TURN = 2.0 * math.pi
Concentration = Annotated[Number, Field(gt=0, le=1e8)]
Fraction = Annotated[Number, Field(ge=0, le=1e9)]


def check_weights(weights: tuple[float, ...] | None, count: int, what: str) -> None:
    """Refuse weights that are not one per entry of `what`, or that sum to nothing."""
    if weights is None:
        return
    if len(weights) != count:
        raise fault(f"as many weights as {what} ({count})", "weights")
    if sum(weights) <= 0.0:
        raise fault("weights with a positive sum", "weights")


class PointsFile(Spec):
    """A CSV file of numbers that the user (or the repository) provides."""

    file: str = Field(
        min_length=1,
        max_length=1000,
        description="CSV file; a relative path is looked for in the working directory, then beside "
        "the configuration file.",
    )
    sha256: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{64}$",
        description="Digest of the file's content, filled in on reading, so that a changed "
        "file is a changed case; give it only to insist on one content.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(ord(character) < 32 for character in self.file):
            raise fault("a path without control characters", "file")
        return self


class GridLabels(Spec):
    """Equally spaced labels ``start + k (stop - start) / count``; token ``i`` takes point ``i mod count``."""

    law: Literal["grid"]
    start: Number = Field(default=0.0, description="First label.")
    stop: Number = Field(default=TURN, description="End of the grid, itself not a label; default 2 pi.")
    count: Count | None = Field(default=None, description="Number of distinct labels; null: one per token.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stop <= self.start:
            raise fault(f"a number above start ({self.start:g})", "stop")
        return self


class UniformLabels(Spec):
    """Independent labels, uniform on ``[start, stop)``."""

    law: Literal["uniform"]
    start: Number = Field(default=0.0, description="Lower end.")
    stop: Number = Field(default=TURN, description="Upper end; default 2 pi.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stop <= self.start:
            raise fault(f"a number above start ({self.start:g})", "stop")
        return self


class VonMisesLabels(Spec):
    """Independent angles in ``[0, 2 pi)`` with density proportional to ``exp(kappa cos(xi - mean))``."""

    law: Literal["von_mises"]
    kappa: Concentration = Field(description="Concentration > 0.")
    mean: Number = Field(default=0.0, description="Mean direction in radians.")


class ArcsLabels(Spec):
    """Independent labels, uniform on a union of disjoint intervals."""

    law: Literal["arcs"]
    arcs: tuple[tuple[Number, Number], ...] = Field(
        min_length=1, max_length=10_000, description="Intervals [from, to], in radians on the circle."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for index, (start, stop) in enumerate(self.arcs):
            if stop <= start:
                raise fault("an interval [from, to] with from < to", "arcs", index)
        ordered = sorted(self.arcs)
        if any(after[0] < before[1] for before, after in itertools.pairwise(ordered)):
            raise fault("intervals that do not overlap", "arcs")
        return self


class AtomsLabels(Spec):
    """Independent labels among finitely many positions."""

    law: Literal["atoms"]
    positions: tuple[Number, ...] = Field(
        min_length=1, max_length=100_000, description="The possible labels."
    )
    weights: tuple[Fraction, ...] | None = Field(
        default=None, description="Their relative weights (any positive sum); null: equal."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(set(self.positions)) < len(self.positions):
            raise fault("distinct positions", "positions")
        check_weights(self.weights, len(self.positions), "positions")
        return self


class CantorLabels(Spec):
    """Independent angles ``2 pi sum_k a_k 3^-k`` with digits 0 or 2 with equal probability (Cantor law)."""

    law: Literal["cantor"]
    depth: Annotated[Whole, Field(ge=1, le=40)] = Field(
        default=33, description="Number of ternary digits; 33 reach float64's resolution."
    )


class PromptsLabels(Spec):
    """Whole numbers: token ``i`` has prompt ``i mod count``."""

    law: Literal["prompts"]
    count: Count | None = Field(
        default=None,
        description="Number of prompts; null: the kernel's number of targets, or one prompt per token.",
    )


class PointsLabels(PointsFile):
    """Labels from one column of a CSV file; token ``i`` takes row ``i mod rows``."""

    law: Literal["points"]
    column: Annotated[Whole, Field(ge=0, le=9999)] = Field(
        default=0, description="Column of the file, counted from 0."
    )


LabelLaw = Annotated[
    GridLabels
    | UniformLabels
    | VonMisesLabels
    | ArcsLabels
    | AtomsLabels
    | CantorLabels
    | PromptsLabels
    | PointsLabels,
    Field(discriminator="law"),
]
