"""One kernel from its three parts, and from the mapping that stands under ``kernel:`` in a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.config import part_models as parts
from usaav.config.kernel_models import KernelSpec, parse_kernel
from usaav.errors import DataError
from usaav.kernels.drawn_targets import DrawnReflections
from usaav.kernels.gauges import Gauge, Identity, PlaneRotation, PlaneRotations, Reflections
from usaav.kernels.profiles import Exponential, Linear, Profile
from usaav.kernels.weights import Constant, DistanceBias, Toeplitz, Weight

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    """``h((x, xi), (y, zeta)) = w(xi, zeta) phi(<G_xi x, G_zeta y>)``.

    Any gauge, weight and profile go together; your own are objects with the methods of
    :class:`~usaav.kernels.Gauge`, :class:`~usaav.kernels.Weight` and :class:`~usaav.kernels.Profile`.

    Attributes
    ----------
    profile
        The function phi of the gauge inner product.
    gauge
        How a label turns the content.
    weight
        How strongly two labels couple.
    spec
        The mapping the kernel was made from, for the record; empty when it was put together in Python.
    """

    profile: Profile
    gauge: Gauge = field(default_factory=Identity)
    weight: Weight = field(default_factory=Constant)
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def beta(self) -> float:
        """Inverse temperature; 0 for the linear profile."""
        return self.profile.beta

    @property
    def needs_labels(self) -> bool:
        """Whether gauge or weight depend on labels."""
        return not (self.gauge.is_identity and self.weight.is_constant)

    def to_gauge(self, tokens: Array, labels: Array | None) -> Array:
        """Gauge coordinates ``z = G_xi x`` of tokens ``(..., n, d)`` with labels ``(n,)`` or ``(..., n)``."""
        return self.gauge.apply(tokens, labels)

    def from_gauge(self, tokens: Array, labels: Array | None) -> Array:
        """Content ``x = G_xi^T z`` of gauge coordinates, shapes as in :meth:`to_gauge`."""
        return self.gauge.apply_inverse(tokens, labels)

    def weights(self, first: Array, second: Array) -> Array:
        """Weights ``(a, b)`` between labels ``(a,)`` and ``(b,)``."""
        return self.weight.between(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))


def kernel(spec: Mapping[str, Any] | KernelSpec) -> Kernel:
    """Make a kernel from the mapping that stands under ``kernel:`` in a configuration file.

    Parameters
    ----------
    spec
        ``{"type": ..., "beta": ..., ...}``: usa, rope, generalized_rope, prefix, distance_bias, toeplitz or
        combined.

    Raises
    ------
    ConfigError
        Unknown type or key, a value out of range; all problems are named at once.
    """
    settings = parse_kernel(spec) if isinstance(spec, Mapping) else spec
    profile: Profile = Linear() if settings.beta is None else Exponential(settings.beta)
    return Kernel(
        profile,
        _gauge(settings.gauge),
        _weight(settings.weight),
        settings.model_dump(mode="json", exclude_none=True),
    )


def _gauge(part: parts.Part) -> Gauge:
    match part:
        case parts.RopeFields():
            pairs = zip(part.planes, part.frequencies, strict=True)
            return PlaneRotations(tuple(PlaneRotation(plane, frequency) for plane, frequency in pairs))
        case parts.GeneralizedRopeFields():
            return PlaneRotations(
                tuple(
                    PlaneRotation(factor.plane, factor.linear, factor.harmonics) for factor in part.rotations
                )
            )
        case parts.PrefixFields():
            if not isinstance(part.targets, tuple):
                return DrawnReflections(part.targets)
            rows = np.array(part.targets, dtype=np.float64)
            return Reflections(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return Identity()


def _weight(part: parts.Part) -> Weight:
    match part:
        case parts.DistanceBiasFields():
            return DistanceBias(part.profile, part.scale, part.period)
        case parts.ToeplitzFields():
            return Toeplitz(
                tuple(sorted((order, value) for order, value in part.coefficients.items() if value != 0.0))
            )
    return Constant()


def check_labels(kernel: Kernel, labels: Array | None, n_tokens: int) -> None:
    """Refuse labels that are missing where the kernel needs them, or not one finite number per token.

    Raises
    ------
    DataError
    """
    if labels is None:
        if kernel.needs_labels:
            raise DataError("this kernel depends on labels, but labels is None: pass one number per token")
        return
    if labels.shape[-1:] != (n_tokens,):
        raise DataError(
            f"labels have shape {labels.shape}: expected one per token, ({n_tokens},) or (runs, {n_tokens})"
        )
    if not np.all(np.isfinite(labels)):
        raise DataError("labels contain NaN or infinities: every label must be a finite number")
