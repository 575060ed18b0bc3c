"""Settings of the parts of a kernel: gauges and weights."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from usaav.config.law_models import Targets
from usaav.config.values import Axis, Faults, Number, Positive, Spec, Whole, fault

UNIT_TOLERANCE = 1e-8
Plane = tuple[Axis, Axis]
Harmonic = tuple[Annotated[Whole, Field(ge=1, le=100_000)], Number, Number]


def _check_plane(plane: tuple[int, int], *key: str | int) -> None:
    if plane[0] == plane[1]:
        raise fault("a plane [i, j] of two different axes", *key)


class Part(Spec):
    """A gauge or a weight."""

    def needs(self, dim: int) -> Faults:
        """What is wrong with this part in dimension `dim`: pairs (key, expected)."""
        return []


# ---------------------------------------------------------------- gauges


class IdentityGauge(Part):
    """``G = I``."""

    type: Literal["identity"] = "identity"


class RopeFields(Part):
    """A product of plane rotations; the angle of plane k is ``frequencies[k] * label``."""

    planes: tuple[Plane, ...] = Field(
        min_length=1, max_length=4096, description="Planes of rotation [i, j], axes counted from 0."
    )
    frequencies: tuple[Number, ...] = Field(
        min_length=1, max_length=4096, description="One frequency per plane: radians per unit of the label."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for index, plane in enumerate(self.planes):
            _check_plane(plane, "planes", index)
        if len(self.planes) != len(self.frequencies):
            raise fault(f"one frequency per plane: {len(self.planes)}", "frequencies")
        return self

    def needs(self, dim: int) -> Faults:
        """Every axis must be below `dim`."""
        return [
            (("planes", index), f"axes 0 ... {dim - 1}, as dim is {dim}")
            for index, plane in enumerate(self.planes)
            if max(plane) >= dim
        ]


class RopeGauge(RopeFields):
    """RoPE as a part."""

    type: Literal["rope"]


class Rotation(Spec):
    """One factor: rotation by ``linear * xi + sum amplitude sin(m xi + phase)`` in a plane."""

    plane: Plane = Field(description="Plane of rotation [i, j], axes counted from 0.")
    linear: Number = Field(default=0.0, description="Radians per unit of the label.")
    harmonics: tuple[Harmonic, ...] = Field(
        default=(),
        max_length=1000,
        description="Triples [m, amplitude, phase], m a whole number >= 1, the others in radians.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_plane(self.plane, "plane")
        return self


class GeneralizedRopeFields(Part):
    """``G = R_1 R_2 ... R_k`` in list order; planes may overlap."""

    rotations: tuple[Rotation, ...] = Field(
        min_length=1, max_length=4096, description="The factors, leftmost first."
    )

    def needs(self, dim: int) -> Faults:
        """Every axis must be below `dim`."""
        return [
            (("rotations", index, "plane"), f"axes 0 ... {dim - 1}, as dim is {dim}")
            for index, rotation in enumerate(self.rotations)
            if max(rotation.plane) >= dim
        ]


class GeneralizedRopeGauge(GeneralizedRopeFields):
    """Generalised RoPE as a part."""

    type: Literal["generalized_rope"]


class PrefixFields(Part):
    """Reflections that take target ``T(p)`` to the reference point ``u0 = e_d``."""

    targets: Targets = Field(
        description="Rows of length 1 (one per prompt, d columns), or a law {law: ..., count: K} of them."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if isinstance(self.targets, tuple):
            for index, row in enumerate(self.targets):
                if abs(math.hypot(*row) - 1.0) > UNIT_TOLERANCE:
                    raise fault(
                        f"a row of length 1 (within 1e-8), not {math.hypot(*row):.10g}", "targets", index
                    )
                if len(row) != len(self.targets[0]):
                    raise fault(f"rows of equal length, {len(self.targets[0])}", "targets", index)
        elif self.targets.law == "anchored":
            raise fault("a law of points; anchored is a law of initial tokens", "targets", "law")
        return self

    @property
    def n_targets(self) -> int | None:
        """Number of targets; None when it follows the number of prompts."""
        return len(self.targets) if isinstance(self.targets, tuple) else self.targets.count

    def needs(self, dim: int) -> Faults:
        """Rows must have `dim` columns; a law must exist in `dim` dimensions."""
        if not isinstance(self.targets, tuple):
            return [(("targets", *key), expected) for key, expected in self.targets.needs(dim)]
        if len(self.targets[0]) != dim:
            return [(("targets",), f"rows of {dim} numbers, as dim is {dim}, not of {len(self.targets[0])}")]
        return []


class PrefixGauge(PrefixFields):
    """The prefix gauge as a part."""

    type: Literal["prefix"]


# ---------------------------------------------------------------- weights


class ConstantWeight(Part):
    """``w = 1``."""

    type: Literal["constant"] = "constant"


class DistanceBiasFields(Part):
    """``exp(-|D|/l)``, ``exp(-D^2/(2 l^2))`` or ``exp(-m |D|)``, D the difference of two labels."""

    profile: Literal["exponential", "gaussian", "alibi"] = Field(description="Shape of the decay.")
    length: Positive | None = Field(
        default=None, description="Length l > 0 in units of the label (exponential, gaussian)."
    )
    slope: Positive | None = Field(default=None, description="Slope m > 0 per unit of the label (alibi).")
    period: Positive | None = Field(
        default=None, description="Labels on a circle of this circumference; null: on a line."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        wanted, other = ("slope", "length") if self.profile == "alibi" else ("length", "slope")
        if getattr(self, wanted) is None:
            raise fault(f"a number > 0, as profile is {self.profile}", wanted)
        if getattr(self, other) is not None:
            raise fault(f"no {other} with profile {self.profile}, which takes {wanted}", other)
        return self

    @property
    def scale(self) -> float:
        """The length, or the slope of `alibi`."""
        scale = self.slope if self.profile == "alibi" else self.length
        assert scale is not None  # the validator above
        return scale


class DistanceBiasWeight(DistanceBiasFields):
    """Distance bias as a part."""

    type: Literal["distance_bias"]


class ToeplitzFields(Part):
    """``sum_m c_m cos(m (xi - zeta))``."""

    coefficients: dict[Annotated[Whole, Field(ge=0, le=100_000)], Number] = Field(
        min_length=1, max_length=10_000, description="Mapping {m: c_m}, m whole numbers >= 0."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not any(self.coefficients.values()):
            raise fault("at least one coefficient that is not 0", "coefficients")
        return self


class ToeplitzWeight(ToeplitzFields):
    """The Toeplitz weight as a part."""

    type: Literal["toeplitz"]


GaugeSpec = Annotated[
    IdentityGauge | RopeGauge | GeneralizedRopeGauge | PrefixGauge, Field(discriminator="type")
]
WeightSpec = Annotated[ConstantWeight | DistanceBiasWeight | ToeplitzWeight, Field(discriminator="type")]
