"""Gauges: how a label turns the content of a token (``G_xi`` in O(d)).

A gauge is a frozen object with three methods; to add one, write a class with the same three and use it in
:class:`usaav.kernels.Kernel`. All of them act on the last two axes of an array ``(..., n, d)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from usaav.errors import DataError

Array = NDArray[np.float64]


@runtime_checkable
class Gauge(Protocol):
    """What :class:`usaav.kernels.Kernel` asks of a gauge."""

    @property
    def is_identity(self) -> bool:
        """Whether the gauge turns nothing, so that no labels are needed."""
        ...

    def apply(self, tokens: Array, labels: Array | None) -> Array:
        """``G_xi x`` for tokens ``(..., n, d)`` and labels ``(n,)`` or ``(..., n)``."""
        ...

    def apply_inverse(self, tokens: Array, labels: Array | None) -> Array:
        """``G_xi^T z``, the inverse of :meth:`apply`."""
        ...


def gauge_matrices(gauge: Gauge, labels: Array, dim: int) -> Array:
    """Matrices ``G_xi``, shape ``(n, dim, dim)``, of labels ``(n,)``.

    The gauge applied to the basis vectors.
    """
    columns = [gauge.apply(np.tile(basis, (len(labels), 1)), labels) for basis in np.eye(dim)]
    return np.stack(columns, axis=-1)


@dataclass(frozen=True)
class Identity:
    """``G = I``: content and gauge coordinates agree."""

    @property
    def is_identity(self) -> bool:
        """True."""
        return True

    def apply(self, tokens: Array, labels: Array | None) -> Array:
        """The tokens themselves, ``(..., n, d)``."""
        return tokens

    def apply_inverse(self, tokens: Array, labels: Array | None) -> Array:
        """The tokens themselves, ``(..., n, d)``."""
        return tokens


@dataclass(frozen=True)
class PlaneRotation:
    """Rotation in the plane ``(i, j)`` by ``theta(xi) = linear * xi + sum amplitude * sin(m * xi + phase)``.

    RoPE has ``linear = omega`` and no harmonics (radians for a label in radians).
    """

    plane: tuple[int, int]
    linear: float
    harmonics: tuple[tuple[int, float, float], ...] = ()

    def angle(self, labels: Array) -> Array:
        """Angle in radians of each label, same shape as `labels`."""
        angle = self.linear * labels
        for order, amplitude, phase in self.harmonics:
            angle = angle + amplitude * np.sin(order * labels + phase)
        return angle


@dataclass(frozen=True)
class PlaneRotations:
    """``G = R_1 R_2 ... R_k``: a product of plane rotations in list order (RoPE and generalised RoPE).

    In the plane ``(i, j)``: ``x_i' = cos t x_i - sin t x_j``, ``x_j' = sin t x_i + cos t x_j``. Planes may
    overlap, then the factors do not commute.
    """

    rotations: tuple[PlaneRotation, ...]

    @property
    def is_identity(self) -> bool:
        """False: labels are needed."""
        return False

    def apply(self, tokens: Array, labels: Array | None) -> Array:
        """``R_1 (R_2 (... R_k x))`` for tokens ``(..., n, d)``; `labels` real, ``(n,)`` or ``(..., n)``."""
        return self._turn(tokens, labels, self.rotations[::-1], 1.0)

    def apply_inverse(self, tokens: Array, labels: Array | None) -> Array:
        """``R_k^T (... R_1^T z)``, same shapes as :meth:`apply`."""
        return self._turn(tokens, labels, self.rotations, -1.0)

    def _turn(
        self, tokens: Array, labels: Array | None, rotations: tuple[PlaneRotation, ...], sign: float
    ) -> Array:
        labels = _required(labels, tokens)
        turned = np.array(tokens, dtype=np.float64)
        for rotation in rotations:
            angle = sign * rotation.angle(labels)
            cos, sin = np.cos(angle), np.sin(angle)
            first, second = rotation.plane
            x, y = turned[..., first].copy(), turned[..., second].copy()
            turned[..., first] = cos * x - sin * y
            turned[..., second] = sin * x + cos * y
        return turned


@dataclass(frozen=True)
class Reflections:
    """Prefix gauge: the Householder reflection that takes target ``T(p)`` to the reference ``u0 = e_d``.

    Attributes
    ----------
    targets
        Unit rows, shape ``(K, d)``; the label is the row number ``p``.
    """

    targets: Array

    @property
    def is_identity(self) -> bool:
        """False: labels are needed."""
        return False

    def apply(self, tokens: Array, labels: Array | None) -> Array:
        """Reflected tokens ``(..., n, d)``; `labels` whole numbers ``0 ... K-1``, ``(n,)`` or ``(..., n)``.

        Raises
        ------
        DataError
            A label is not a row number of the targets, or the dimensions differ.
        """
        rows = _required(labels, tokens)
        prompts = rows.astype(np.int64)
        count, dim = self.targets.shape
        if tokens.shape[-1] != dim:
            raise DataError(
                f"tokens have dimension {tokens.shape[-1]}, but the prefix targets have {dim}: "
                "make both the same"
            )
        if np.any(prompts != rows) or np.any(prompts < 0) or np.any(prompts >= count):
            wrong = rows[(prompts != rows) | (prompts < 0) | (prompts >= count)].flat[0]
            raise DataError(
                f"label {wrong} names no prompt: "
                f"labels of a prefix kernel are whole numbers 0 ... {count - 1}"
            )
        normal = self._normals()[prompts]
        return np.asarray(tokens - 2.0 * np.sum(normal * tokens, axis=-1, keepdims=True) * normal)

    # a reflection is its own inverse
    apply_inverse = apply

    def _normals(self) -> Array:
        # T - u0, its last component T_d - 1 without the cancellation that would turn the normal of a target
        # close to u0; T = u0 has the zero normal: its reflection is the identity, which already takes T to u0
        normal = self.targets.copy()
        last, rest = normal[:, -1], np.sum(normal[:, :-1] ** 2, axis=1)
        normal[:, -1] = np.where(last > 0.0, -rest / (1.0 + np.abs(last)), last - 1.0)
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        unit: Array = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0.0)
        return unit


def _required(labels: Array | None, tokens: Array) -> Array:
    if labels is None:
        raise DataError("this kernel's gauge depends on labels: pass labels, one per token")
    rows: Array = np.asarray(labels, dtype=np.float64)
    if rows.shape[-1:] != tokens.shape[-2:-1]:
        raise DataError(f"{tokens.shape[-2]} tokens need as many labels, got labels of shape {rows.shape}")
    return rows
