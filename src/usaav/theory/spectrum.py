"""Spectrum of the weight operator, which decides what a sign-changing weight maximises."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.kernels import Kernel, Toeplitz

Array = NDArray[np.float64]

#: the full weight matrix is made up to this many labels
LARGEST_MATRIX = 4096
_SAME = 1e-9


class TopSpace(NamedTuple):
    """Largest eigenvalue of ``W/n`` and a basis of its eigenspace.

    Attributes
    ----------
    value
        Eigenvalue.
    basis
        Columns ``(n, k)`` with mean square 1, orthogonal; ``(n, 0)`` for eigenvalue 0 of a large operator of
        small rank, whose kernel is not listed.
    """

    value: float
    basis: Array


def top_space(kernel: Kernel, labels: Array) -> TopSpace:
    """Top eigenspace of the operator ``W/n`` with entries ``w(xi_i, xi_j)/n`` under the labels ``(n,)``.

    A Toeplitz weight has rank at most 2 M + 1 (cosines and sines up to the largest m), so its spectrum is
    that of a small matrix, for any number of tokens.

    Raises
    ------
    DataError
        Another weight with more than 4096 labels.
    """
    if isinstance(kernel.weight, Toeplitz):
        return _toeplitz(kernel.weight, labels)
    if len(labels) > LARGEST_MATRIX:
        raise DataError(f"{len(labels)} labels: the spectrum of this weight takes at most {LARGEST_MATRIX}")
    values, vectors = np.linalg.eigh(kernel.weights(labels, labels) / len(labels))
    return _top(values, vectors * np.sqrt(len(labels)))


def _toeplitz(weight: Toeplitz, labels: Array) -> TopSpace:
    orders = [(order, value) for order, value in weight.coefficients if value != 0.0]
    columns, signs = [], []
    for order, value in orders:
        waves = [np.cos(order * labels)] if order == 0 else [np.cos(order * labels), np.sin(order * labels)]
        columns += [np.sqrt(abs(value)) * wave for wave in waves]
        signs += [np.sign(value)] * len(waves)
    n = len(labels)
    if not columns:
        return TopSpace(0.0, np.zeros((n, 0)))
    # W/n = F S F^T/n with F = Q R: its non-zero spectrum is that of R S R^T/n, with vectors Q v
    q, r = np.linalg.qr(np.column_stack(columns))
    values, vectors = np.linalg.eigh((r * np.array(signs)) @ r.T / n)
    if values[-1] <= 0.0 and q.shape[1] < n:
        return TopSpace(0.0, np.zeros((n, 0)))
    return _top(values, q @ vectors * np.sqrt(n))


def _top(values: Array, vectors: Array) -> TopSpace:
    largest = float(values[-1])
    same = values >= largest - _SAME * np.max(np.abs(values))
    return TopSpace(largest, vectors[:, same])


def carries_unit_rows(basis: Array, dim: int) -> bool:
    """Whether columns of ``(n, dim)`` within the span of `basis` ``(n, k)`` can have rows of length 1.

    Rows ``z_i = A^T b_i`` have length 1 for all i if ``b_i^T M b_i = 1`` for a positive semidefinite
    ``M = A A^T`` of rank at most `dim`. The least-squares solution M of least norm is tried; when it is not
    of that kind another might be, so False means "not shown".
    """
    k = basis.shape[1]
    if k == 0:
        return False
    rows, columns = np.triu_indices(k)
    products = basis[:, rows] * basis[:, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    solution = np.linalg.lstsq(products, np.ones(len(basis)), rcond=1e-12)[0]
    if np.max(np.abs(products @ solution - 1.0)) > _SAME:
        return False
    matrix = np.zeros((k, k))
    matrix[rows, columns] = solution / np.where(rows == columns, 1.0, np.sqrt(2.0))
    values = np.linalg.eigvalsh(matrix + np.triu(matrix, 1).T)
    return bool(values[0] > -_SAME and np.sum(values > _SAME * values[-1]) <= dim)
