"""Weights: how strongly two labels couple, ``w(xi, zeta) = w(zeta, xi)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@runtime_checkable
class Weight(Protocol):
    """What :class:`usaav.kernels.Kernel` asks of a weight."""

    @property
    def is_constant(self) -> bool:
        """Whether ``w = 1`` for every pair, so that no labels are needed."""
        ...

    @property
    def is_non_negative(self) -> bool:
        """Whether ``w >= 0`` for every pair of labels (decides which theory applies)."""
        ...

    def between(self, first: Array, second: Array) -> Array:
        """Weights ``(a, b)`` of labels `first` ``(a,)`` and `second` ``(b,)``."""
        ...


@dataclass(frozen=True)
class Constant:
    """``w = 1``."""

    @property
    def is_constant(self) -> bool:
        """True."""
        return True

    @property
    def is_non_negative(self) -> bool:
        """True."""
        return True

    def between(self, first: Array, second: Array) -> Array:
        """Ones, shape ``(a, b)``."""
        return np.ones((len(first), len(second)))


@dataclass(frozen=True)
class DistanceBias:
    """``exp(-|D|/l)``, ``exp(-D^2/(2 l^2))`` or ALiBi's ``exp(-m |D|)``, ``D = xi - zeta``.

    Attributes
    ----------
    profile
        Which of the three.
    scale
        The length ``l``, or the slope ``m`` for ``alibi`` (units of the label, or its inverse).
    period
        Labels on a circle of this circumference (``D`` is the shorter way round); None for a line.
    """

    profile: Literal["exponential", "gaussian", "alibi"]
    scale: float
    period: float | None = None

    @property
    def is_constant(self) -> bool:
        """False."""
        return False

    @property
    def is_non_negative(self) -> bool:
        """True."""
        return True

    def between(self, first: Array, second: Array) -> Array:
        """Weights in (0, 1], shape ``(a, b)``."""
        distance = np.abs(first[:, None] - second[None, :])
        if self.period is not None:
            distance = np.mod(distance, self.period)
            distance = np.minimum(distance, self.period - distance)
        if self.profile == "exponential":
            return np.exp(-distance / self.scale)
        if self.profile == "gaussian":
            return np.exp(-(distance**2) / (2.0 * self.scale**2))
        return np.exp(-self.scale * distance)


@dataclass(frozen=True)
class Toeplitz:
    """``sum_m c_m cos(m (xi - zeta))``: the sign may change.

    Attributes
    ----------
    coefficients
        Pairs ``(m, c_m)`` with distinct ``m >= 0``.
    """

    coefficients: tuple[tuple[int, float], ...]

    @property
    def is_constant(self) -> bool:
        """False."""
        return False

    @property
    def is_non_negative(self) -> bool:
        """Whether the symbol is non-negative.

        By ``c_0 >= sum_{m>=1} |c_m|`` or on a fine grid of the circle.
        """
        difference = np.linspace(0.0, 2.0 * np.pi, 4096, endpoint=False)
        return bool(self.symbol(difference).min() >= -1e-12)

    def symbol(self, difference: Array) -> Array:
        """``sum_m c_m cos(m D)`` for label differences of any shape."""
        total = np.zeros_like(difference)
        for order, coefficient in self.coefficients:
            total += coefficient * np.cos(order * difference)
        return total

    def between(self, first: Array, second: Array) -> Array:
        """Weights, shape ``(a, b)``."""
        return self.symbol(first[:, None] - second[None, :])
