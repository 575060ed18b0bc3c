"""What ``field.cu`` is compiled for, and what its kernels read of an interaction and its labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from usaav.kernels import Kernel
from usaav.kernels.profiles import Exponential, Linear
from usaav.kernels.weights import Constant, DistanceBias, Toeplitz

Array = NDArray[np.float64]
Precision = Literal["float64", "float32"]

#: up to this dimension a thread keeps its token in registers
LARGEST_FIXED = 8
#: threads of a block up to there
THREADS = 128
#: cosines of a Toeplitz weight, which travel with each token
MOST_ORDERS = 256
_LOG2_E = math.log2(math.e)
_WEIGHTS = {"constant": 0, "distance": 1, "square": 2, "cosines": 3}


@dataclass(frozen=True)
class Kind:
    """What is decided when the kernels are compiled.

    Attributes
    ----------
    dim
        Components of a token.
    exponential
        Whether phi is the exponential, else linear.
    softmax
        Divide by the sum of the exponentials.
    weight
        ``constant``, ``distance`` (exponential in the distance of the labels), ``square`` (in its square) or
        ``cosines``.
    periodic
        Labels on a circle (distance and square).
    orders
        Number of cosines.
    precision
        Of the terms of the pair sum; all else is float64.
    """

    dim: int
    exponential: bool = True
    softmax: bool = False
    weight: str = "constant"
    periodic: bool = False
    orders: int = 0
    precision: Precision = "float64"

    @property
    def block(self) -> int:
        """Threads of a block."""
        return 256 if self.dim > LARGEST_FIXED else THREADS  # 16 tokens by 16

    @property
    def targets(self) -> int:
        """Tokens whose sums one block computes."""
        return 16 if self.dim > LARGEST_FIXED else self.block

    @property
    def width(self) -> int:
        """Sums of one token."""
        return self.dim + self.softmax

    def splits(self, count: int) -> int:
        """Into how many parts the sources of `count` tokens are divided, so that few tokens fill a device.

        A function of `count` alone: the order of a sum must not depend on what else is computed.
        """
        blocks = -(-count // self.targets)
        return max(1, min(-(-_BLOCKS // blocks), -(-count // _SHORTEST_PART)))

    def room(self, count: int) -> int:
        """Numbers that the partial sums of `count` tokens, or of fewer, which have more parts, can take."""
        return self.width * min(_BLOCKS * self.targets + count, count * (count // _SHORTEST_PART + 1))

    @property
    def options(self) -> tuple[str, ...]:
        """Options of the compiler."""
        macros = {
            "DIM": self.dim,
            "THREADS": self.block,
            "EXPONENTIAL": int(self.exponential),
            "SOFTMAX": int(self.softmax),
            "WEIGHT": _WEIGHTS[self.weight],
            "PERIODIC": int(self.periodic),
            "ORDERS": self.orders,
            "SINGLE": int(self.precision == "float32"),
        }
        return ("-std=c++17", *(f"-D{name}={value}" for name, value in macros.items()))


# so many blocks keep a large device busy, and a block needs so many sources to be worth its start
_BLOCKS, _SHORTEST_PART = 256, 64


@dataclass(frozen=True)
class Law:
    """An interaction as the kernels read it.

    Attributes
    ----------
    kind
        What they are compiled for.
    slope
        Factor of the squared distance in the exponent of 2.
    constants
        Rate and period of a bias, or the coefficients of the cosines.
    orders
        Orders of the cosines.
    """

    kind: Kind
    slope: float
    constants: tuple[float, ...]
    orders: tuple[int, ...] = ()

    def columns(self, labels: Array) -> Array:
        """What the weight needs of labels ``(n,)``: themselves, on their circle, or cosines and sines.

        ``(n, 1)``, or ``(n, 2 orders)``: O(n) numbers, from which the device makes the weight of each pair.
        """
        if self.kind.weight == "cosines":
            angles = np.multiply.outer(labels, np.array(self.orders, dtype=np.float64))
            return np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(len(labels), -1)
        circle = np.mod(labels, self.constants[1]) if self.kind.periodic else labels
        return np.ascontiguousarray(circle[:, None])


def law_of(kernel: Kernel, dim: int, *, softmax: bool, precision: Precision = "float64") -> Law:
    """The law of a kernel for which :func:`why_not` has no objection, in dimension `dim`."""
    profile, weight = kernel.profile, kernel.weight
    exponential = isinstance(profile, Exponential)
    slope = -0.5 * profile.beta * _LOG2_E
    if isinstance(weight, DistanceBias):
        rates = {
            "exponential": -1.0 / weight.scale,
            "gaussian": -0.5 / weight.scale**2,
            "alibi": -weight.scale,
        }
        name = "square" if weight.profile == "gaussian" else "distance"
        kind = Kind(dim, exponential, softmax, name, weight.period is not None, precision=precision)
        return Law(kind, slope, (rates[weight.profile] * _LOG2_E, weight.period or 0.0))
    if isinstance(weight, Toeplitz):
        orders, coefficients = zip(*weight.coefficients, strict=True)
        kind = Kind(dim, exponential, softmax, "cosines", orders=len(orders), precision=precision)
        return Law(kind, slope, tuple(coefficients), tuple(orders))
    return Law(Kind(dim, exponential, softmax, precision=precision), slope, ())


def why_not(kernel: Kernel) -> str | None:
    """Why the device can't compute this kernel, None if it can."""
    if not isinstance(kernel.profile, Exponential | Linear):
        return f"the GPU engine knows no profile {type(kernel.profile).__name__}"
    weight = kernel.weight
    if not isinstance(weight, Constant | DistanceBias | Toeplitz):
        return f"the GPU engine knows no weight {type(weight).__name__}"
    if isinstance(weight, Toeplitz) and not 0 < len(weight.coefficients) <= MOST_ORDERS:
        return f"the GPU engine takes 1 to {MOST_ORDERS} coefficients, not {len(weight.coefficients)}"
    return None


@cache
def source() -> str:
    """The text of ``field.cu``."""
    return (files("usaav.gpu") / "field.cu").read_text(encoding="utf-8")
