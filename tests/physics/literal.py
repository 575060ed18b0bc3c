"""The flow exactly as it is written down, in x, every term of every sum and nothing clever.

Slow, with nothing taken from the package: what the package computes in gauge coordinates, in difference form
and in compiled loops is compared to this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Spec = Mapping[str, Any]


def rotation(dim: int, plane: tuple[int, int], angle: float) -> Array:
    """The ``(dim, dim)`` matrix that turns axis i towards axis j of the plane ``(i, j)``."""
    i, j = plane
    matrix = np.eye(dim)
    matrix[i, i] = matrix[j, j] = math.cos(angle)
    matrix[i, j], matrix[j, i] = -math.sin(angle), math.sin(angle)
    return matrix


def householder(target: Array) -> Array:
    """The reflection that takes the unit vector `target` to the last basis vector."""
    last = np.eye(len(target))[-1]
    normal = np.asarray(target) - last
    if not normal.any():
        return np.eye(len(target))
    return np.eye(len(target)) - 2.0 * np.outer(normal, normal) / (normal @ normal)


def gauge_matrix(spec: Spec, label: float, dim: int) -> Array:
    """``G_xi`` of a kernel's mapping."""
    part = spec["gauge"] if spec["type"] == "combined" else spec
    kind = part["type"]
    if kind == "rope":
        factors = [
            rotation(dim, plane, frequency * label)
            for plane, frequency in zip(part["planes"], part["frequencies"], strict=True)
        ]
    elif kind == "generalized_rope":
        factors = [
            rotation(
                dim,
                factor["plane"],
                factor.get("linear", 0.0) * label
                + sum(b * math.sin(m * label + c) for m, b, c in factor.get("harmonics", ())),
            )
            for factor in part["rotations"]
        ]
    elif kind == "prefix":
        factors = [householder(np.array(part["targets"][int(label)]))]
    else:
        factors = []
    product = np.eye(dim)
    for factor in factors:
        product = product @ factor
    return product


def weight(spec: Spec, first: float, second: float) -> float:
    """``w(xi, zeta)`` of a kernel's mapping."""
    part = spec["weight"] if spec["type"] == "combined" else spec
    if part["type"] == "toeplitz":
        return sum(c * math.cos(int(m) * (first - second)) for m, c in part["coefficients"].items())
    if part["type"] != "distance_bias":
        return 1.0
    distance = abs(first - second)
    if part.get("period"):
        distance = min(distance % part["period"], -distance % part["period"])
    if part["profile"] == "exponential":
        return math.exp(-distance / part["length"])
    if part["profile"] == "gaussian":
        return math.exp(-(distance**2) / (2.0 * part["length"] ** 2))
    return math.exp(-part["slope"] * distance)


def is_linear(spec: Spec) -> bool:
    """Whether ``phi(s) = s``."""
    return spec.get("phi", "linear" if spec["type"] == "toeplitz" else "exponential") == "linear"


class Flow:
    """``dx_i/dtau = P_{x_i} (1/n) sum_j w_ij phi'(<G_i x_i, G_j x_j>) G_i^T G_j x_j`` and its energy.

    With `softmax`, ``1/n`` becomes one over ``sum_j exp(beta <G_i x_i, G_j x_j>)``.
    """

    def __init__(self, spec: Spec, labels: Array | None, n: int, dim: int, *, softmax: bool = False) -> None:
        xi = np.zeros(n) if labels is None else labels
        self.n, self.dim, self.softmax = n, dim, softmax
        self.gauges = [gauge_matrix(spec, label, dim) for label in xi]
        self.weights = [[weight(spec, a, b) for b in xi] for a in xi]
        self.derivative: Callable[[float], float]
        self.profile: Callable[[float], float]
        if is_linear(spec):
            self.derivative, self.profile = (lambda _: 1.0), (lambda s: s)
        else:
            beta = spec["beta"]
            self.derivative, self.profile = (
                (lambda s: math.exp(beta * s)),
                (lambda s: math.exp(beta * s) / beta),
            )

    def velocity(self, x: Array) -> Array:
        """``dx/dtau``, ``(n, d)``."""
        result = np.empty((self.n, self.dim))
        for i in range(self.n):
            total, share = np.zeros(self.dim), 0.0
            for j in range(self.n):
                inner = float((self.gauges[i] @ x[i]) @ (self.gauges[j] @ x[j]))
                force = self.weights[i][j] * self.derivative(inner)
                total += force * (self.gauges[i].T @ self.gauges[j] @ x[j])
                share += force
            pull = total / (share if self.softmax else self.n)
            result[i] = pull - (x[i] @ pull) * x[i]
        return result

    def energy(self, x: Array) -> float:
        """``E = 1/2 (1/n^2) sum_ij w_ij phi(<G_i x_i, G_j x_j>)``."""
        total = 0.0
        for i in range(self.n):
            for j in range(self.n):
                inner = float((self.gauges[i] @ x[i]) @ (self.gauges[j] @ x[j]))
                total += self.weights[i][j] * self.profile(inner)
        return 0.5 * total / self.n**2


def two_cluster_time(start: float, end: float, beta: float) -> float:
    """Time in which two clusters come from angle `start` to `end`: integral of ``1 / (sin exp(beta cos))``.

    With ``u = log tan(angle/2)`` it is the integral of ``exp(beta tanh u)``, done by the tanh-sinh rule. The
    largest factor is taken out, so that nothing overflows.
    """
    low, high = math.log(math.tan(0.5 * end)), math.log(math.tan(0.5 * start))
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    reach, count = 3.6, 4000
    t = reach * ((np.arange(count) + 0.5) / count * 2.0 - 1.0)
    inner = 0.5 * math.pi * np.sinh(t)
    exponent = beta * np.tanh(middle + half * np.tanh(inner))
    slope = half * 0.5 * math.pi * np.cosh(t) / np.cosh(inner) ** 2
    peak = float(exponent.max())
    return float(np.sum(np.exp(exponent - peak) * slope)) * 2.0 * reach / count * math.exp(peak)
