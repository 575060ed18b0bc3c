"""Weights as sums of few products, ``w(xi, zeta) = sum_k s_k a_k(xi) a_k(zeta)`` with signs ``s_k``.

With such a sum the interaction of labelled tokens is that of a few populations without labels, see
:class:`usaav.flow.spectral.SpectralField`. What has one:

* a Toeplitz weight: ``cos m(xi - zeta)`` is two products, of cosines and of sines; exact;
* the Gaussian bias: the sum of its copies a period p apart is a Fourier series with coefficients
  ``l sqrt(2 pi) / p exp(-(2 pi m l / p)^2 / 2)`` (Poisson summation), and the copies are below the tolerance
  where labels lie on a line (then the period is ours to choose), or on a circle that is long beside l;
* any weight between few different labels: the eigenvectors of the matrix between those.

The exponential bias and ALiBi's have a corner at equal labels, so that their series do not end; they have
such a sum only between few different labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from usaav.kernels.weights import DistanceBias, Toeplitz, Weight

Array = NDArray[np.float64]

#: longer sums are not looked for: up to very many tokens the direct sum is the faster one
LARGEST_RANK = 64


class Products(Protocol):
    """A weight as a sum of products."""

    @property
    def signs(self) -> Array:
        """``s_k``, 1 or -1, shape ``(r,)``."""
        ...

    def factors(self, labels: Array) -> Array:
        """``a_k``, shape ``(r, n)``, of labels ``(n,)`` that are among those it was made for."""
        ...


def products(weight: Weight, labels: Array, tolerance: float) -> Products | None:
    """`weight` between any two of `labels` ``(n,)`` as a sum of products, to the absolute `tolerance`.

    Returns
    -------
    Products or None
        None where no sum of at most :data:`LARGEST_RANK` products is known.
    """
    found: Products | None = None
    if isinstance(weight, Toeplitz):
        found = Waves(weight)
    elif isinstance(weight, DistanceBias) and weight.profile == "gaussian":
        found = _gaussian(weight, labels, tolerance)
    values = np.unique(labels)
    rank = LARGEST_RANK + 1 if found is None else len(found.signs)
    if len(values) < rank:
        return _eigenvectors(weight, values)
    return found if rank <= LARGEST_RANK else None


@dataclass(frozen=True)
class Waves:
    """``sum_m c_m cos(m t (xi - zeta))`` with ``cos(x - y) = cos x cos y + sin x sin y``.

    Attributes
    ----------
    weight
        The coefficients ``c_m``.
    turn, start
        Radians ``t`` per unit of the label, and the label at angle 0.
    """

    weight: Toeplitz
    turn: float = 1.0
    start: float = 0.0

    @property
    def signs(self) -> Array:
        """See :class:`Products`."""
        waves = self.weight.coefficients
        return np.array([math.copysign(1.0, c) for order, c in waves for _ in range(2 if order else 1)])

    def factors(self, labels: Array) -> Array:
        """See :class:`Products`."""
        angles = self.turn * (labels - self.start)
        rows: list[Array] = []
        for order, coefficient in self.weight.coefficients:
            parts = [np.cos(order * angles), np.sin(order * angles)] if order else [np.ones(len(angles))]
            rows += [math.sqrt(abs(coefficient)) * part for part in parts]
        return np.array(rows).reshape(len(rows), len(labels))


@dataclass(frozen=True)
class Eigenvectors:
    """Eigenvectors of the matrix between few different labels, times the roots of their eigenvalues.

    Attributes
    ----------
    labels : (v,)
        The different labels, increasing.
    signs : (r,)
        Of the eigenvalues.
    rows : (r, v)
        ``a_k`` of each.
    """

    labels: Array
    signs: Array
    rows: Array

    def factors(self, labels: Array) -> Array:
        """See :class:`Products`."""
        return np.ascontiguousarray(self.rows[:, np.searchsorted(self.labels, labels)])


def _gaussian(weight: DistanceBias, labels: Array, tolerance: float) -> Waves | None:
    """Fourier series of the sum of copies; None where a copy is felt, or the series is too long."""
    length, start = weight.scale, float(labels.min())
    # there the Gaussian is a quarter of the tolerance: what a copy on each side and the cut may each add
    widths = math.sqrt(2.0 * math.log(4.0 / tolerance))
    period = float(labels.max()) - start + widths * length if weight.period is None else weight.period
    if weight.period is not None and 0.5 * period < widths * length:
        return None
    turn = 2.0 * math.pi / period
    highest = math.ceil(widths / (turn * length))  # the series is a Gaussian, too
    if 2 * highest + 1 > LARGEST_RANK:
        return None
    orders = np.arange(highest + 1)
    coefficients = turn * length / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * (orders * turn * length) ** 2)
    coefficients[1:] *= 2.0
    return Waves(Toeplitz(tuple(zip(orders.tolist(), coefficients.tolist(), strict=True))), turn, start)


def _eigenvectors(weight: Weight, labels: Array) -> Eigenvectors:
    values, vectors = np.linalg.eigh(weight.between(labels, labels))
    rounding = len(labels) * np.finfo(float).eps * np.abs(values).max(initial=0.0)
    large = np.abs(values) > rounding
    return Eigenvectors(labels, np.sign(values[large]), (vectors * np.sqrt(np.abs(values)))[:, large].T)
