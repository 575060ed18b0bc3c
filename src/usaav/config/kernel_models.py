"""Settings of the kernels ``h = w(xi, zeta) phi(<G_xi x, G_zeta y>)`` (the mapping under ``kernel:``).

Whatever its `type`, a kernel here answers for its three parts: ``spec.gauge``, ``spec.weight`` and
``spec.phi`` (with ``spec.beta``, None for linear phi), so that code which builds the kernel needs to know
only the parts.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, cast

from pydantic import AfterValidator, Field, TypeAdapter, model_validator
from pydantic_core import PydanticCustomError

from usaav.config.part_models import (
    ConstantWeight,
    DistanceBiasFields,
    DistanceBiasWeight,
    GaugeSpec,
    GeneralizedRopeFields,
    GeneralizedRopeGauge,
    IdentityGauge,
    PrefixFields,
    PrefixGauge,
    RopeFields,
    RopeGauge,
    ToeplitzFields,
    ToeplitzWeight,
    WeightSpec,
)
from usaav.config.problems import validated
from usaav.config.values import Number, Spec, fault

__all__ = [
    "MAX_BETA",
    "MIN_BETA",
    "Combined",
    "DistanceBias",
    "DistanceBiasFields",
    "GaugeSpec",
    "GeneralizedRope",
    "GeneralizedRopeFields",
    "KernelSpec",
    "Prefix",
    "PrefixFields",
    "Profile",
    "Rope",
    "RopeFields",
    "Toeplitz",
    "ToeplitzFields",
    "Usa",
    "WeightSpec",
    "parse_kernel",
]

MIN_BETA = 0.01
MAX_BETA = 700.0


def _in_range(beta: float) -> float:
    if not MIN_BETA <= beta <= MAX_BETA:
        raise PydanticCustomError(
            "beta",
            "a number from 0.01 to 700 (above, exp(beta) exceeds a float64; towards 0 use phi: linear)",
        )
    return beta


Beta = Annotated[
    Number,
    AfterValidator(_in_range),
    Field(
        description="Inverse temperature, 0.01 to 700.",
        json_schema_extra={"minimum": MIN_BETA, "maximum": MAX_BETA},
    ),
]
Profile = Literal["exponential", "linear"]


class ExponentialKernel(Spec):
    """Base of the kernels with ``phi(s) = exp(beta s)/beta``; ``G = I``, ``w = 1`` unless overridden."""

    beta: Beta

    @property
    def phi(self) -> Profile:
        """The profile's name."""
        return "exponential"

    @property
    def gauge(self) -> GaugeSpec:
        """The gauge's settings."""
        return IdentityGauge()

    @property
    def weight(self) -> WeightSpec:
        """The weight's settings."""
        return ConstantWeight()


class Usa(ExponentialKernel):
    """Unnormalised self-attention, the baseline without labels."""

    type: Literal["usa"]


class Rope(ExponentialKernel, RopeFields):
    """Rotary position embedding."""

    type: Literal["rope"]

    @property
    def gauge(self) -> GaugeSpec:
        """Plane rotations linear in the label."""
        return RopeGauge(type="rope", planes=self.planes, frequencies=self.frequencies)


class GeneralizedRope(ExponentialKernel, GeneralizedRopeFields):
    """RoPE with angles that are any trigonometric function of the label."""

    type: Literal["generalized_rope"]

    @property
    def gauge(self) -> GaugeSpec:
        """Plane rotations, any angle function."""
        return GeneralizedRopeGauge(type="generalized_rope", rotations=self.rotations)


class Prefix(ExponentialKernel, PrefixFields):
    """One reflection per prompt."""

    type: Literal["prefix"]

    @property
    def gauge(self) -> GaugeSpec:
        """Reflections of the targets to u0."""
        return PrefixGauge(type="prefix", targets=self.targets)


class DistanceBias(ExponentialKernel, DistanceBiasFields):
    """A non-negative weight that decays with the labels' distance."""

    type: Literal["distance_bias"]

    @property
    def weight(self) -> WeightSpec:
        """The decaying weight."""
        return DistanceBiasWeight(
            type="distance_bias",
            profile=self.profile,
            length=self.length,
            slope=self.slope,
            period=self.period,
        )


class WithProfile(Spec):
    """Base of the kernels whose profile is a setting: beta belongs to the exponential one only."""

    phi: Profile = Field(default="exponential", description="exponential, exp(beta s)/beta, or linear, s.")
    beta: Beta | None = Field(default=None, description="Inverse temperature, with phi: exponential only.")

    @model_validator(mode="after")
    def _check_profile(self) -> Self:
        if self.phi == "exponential" and self.beta is None:
            raise fault(f"a number from {MIN_BETA:g} to {MAX_BETA:g}, as phi is exponential", "beta")
        if self.phi == "linear" and self.beta is not None:
            raise fault("no beta with phi: linear", "beta")
        return self


class Toeplitz(WithProfile, ToeplitzFields):
    """A weight on the circle that may change its sign."""

    type: Literal["toeplitz"]
    phi: Profile = Field(default="linear", description="linear, s, or exponential, exp(beta s)/beta.")

    @property
    def gauge(self) -> GaugeSpec:
        """The identity."""
        return IdentityGauge()

    @property
    def weight(self) -> WeightSpec:
        """The sum of cosines."""
        return ToeplitzWeight(type="toeplitz", coefficients=self.coefficients)


class Combined(WithProfile):
    """Any gauge with any weight and profile."""

    type: Literal["combined"]
    gauge: GaugeSpec = Field(
        default=IdentityGauge(), description="How a label turns the content: {type: ..., ...}."
    )
    weight: WeightSpec = Field(
        default=ConstantWeight(), description="How two labels couple: {type: ..., ...}."
    )


KernelSpec = Annotated[
    Usa | Rope | GeneralizedRope | Prefix | DistanceBias | Toeplitz | Combined, Field(discriminator="type")
]
_KERNEL: TypeAdapter[KernelSpec] = TypeAdapter(KernelSpec)


def parse_kernel(spec: Any) -> KernelSpec:
    """The validated settings of a kernel from the mapping that stands under ``kernel:``.

    Raises
    ------
    ConfigError
        All that is wrong with the mapping, at once.
    """
    return cast("KernelSpec", validated(_KERNEL, KernelSpec, spec, "kernel"))
