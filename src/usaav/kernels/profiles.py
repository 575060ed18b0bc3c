"""Profiles: the function ``phi`` of the gauge inner product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@runtime_checkable
class Profile(Protocol):
    """What :class:`usaav.kernels.Kernel` asks of a profile."""

    @property
    def beta(self) -> float:
        """Inverse temperature; 0 for the linear profile."""
        ...

    def value(self, inner: Array) -> Array:
        """``phi(s)`` elementwise, ``s`` in [-1, 1]."""
        ...

    def derivative(self, inner: Array) -> Array:
        """``phi'(s)`` elementwise."""
        ...


@dataclass(frozen=True)
class Exponential:
    """``phi(s) = exp(beta s)/beta``."""

    beta: float

    def value(self, inner: Array) -> Array:
        """``exp(beta s)/beta``."""
        return np.exp(self.beta * inner) / self.beta

    def derivative(self, inner: Array) -> Array:
        """``exp(beta s)``."""
        return np.exp(self.beta * inner)


@dataclass(frozen=True)
class Linear:
    """``phi(s) = s``, whose derivative 1 is the limit beta -> 0 of the exponential's."""

    @property
    def beta(self) -> float:
        """0: the linear profile has no temperature."""
        return 0.0

    def value(self, inner: Array) -> Array:
        """``s``."""
        return np.asarray(inner, dtype=np.float64)

    def derivative(self, inner: Array) -> Array:
        """Ones."""
        return np.ones_like(inner)
