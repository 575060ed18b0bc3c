"""The compiled CPU engine: the field, one Dormand-Prince step, neighbours and energy, in numba.

Everything here works on reduced tokens in gauge coordinates with internal time ``s``, ``ds = exp(beta -
shift) dtau``::

    dz_i/ds = P_{z_i} sum_{j != i} w_j W_ij exp(-beta |z_j - z_i|^2 / 2 + shift) (z_j - z_i)

The difference form adds no self term, so no rounding of size ``exp(beta) * 1e-16`` arises, and nothing
overflows.

Why it looks as it does: numba wheels carry no vector exponential, so :func:`exp2` is our own (argument
split, polynomial, exponent bits), which LLVM vectorises; tokens are stored by component, padded with
weightless copies to a multiple of ``BLOCK`` so that no loop has a scalar remainder; every loop counts from 0
and runs over slices, since an index that may be negative keeps LLVM from vectorising. Functions are cached on
disk: a process pays loading, not compiling.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.flow import numba_setup  # noqa: F401  must run before numba is imported

from llvmlite import ir  # isort: skip
from numba import njit, types  # isort: skip
from numba.extending import intrinsic  # isort: skip

from usaav.flow.dormand_prince import E3, E5, N_STAGES, A, B

Array = NDArray[np.float64]

#: flags of the `kind` argument
EXPONENTIAL, WEIGHTED, SOFTMAX = 1, 2, 4
BLOCK = 16
_TILE = 512
# 1.5 * 2^52: adding it rounds to an integer, whose bits are then the low bits of the sum
_SPLIT = 6755399441055744.0
_C = [math.log(2.0) ** k / math.factorial(k) for k in range(13)]
_C0, _C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = _C
_EPS = 2.220446049250313e-16
# sums may be reassociated (that is what makes them vector sums); exp2's splitting may not
_FAST = {"contract", "reassoc", "nsz", "nnan", "ninf"}


@intrinsic
def _bits_of(_typing: Any, _value: Any) -> Any:
    """Bits of a double as an integer."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _double_of(_typing: Any, _value: Any) -> Any:
    """The double that has these bits."""

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@njit(fastmath={"contract"}, error_model="numpy")
def exp2(x: float) -> float:
    """``2^x`` for x < 1020, to 2.5 units in the last place; below -1000 a number that is as good as zero."""
    x = max(x, -1000.0)
    shifted = x + _SPLIT
    f = x - (shifted - _SPLIT)
    p = _C7 + f * (_C8 + f * (_C9 + f * (_C10 + f * (_C11 + f * _C12))))
    p = _C0 + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * (_C5 + f * (_C6 + f * p))))))
    return _double_of(_bits_of(p) + (_bits_of(shifted) << 52))  # type: ignore[call-arg]


@njit(fastmath=_FAST, error_model="numpy")
def _block_sum(z, n, start, weight, slope, shift, out):  # type: ignore[no-untyped-def]
    """Sums within one block of three-component tokens, both orders of each pair.

    The self term is exactly zero, if kept from overflowing: a shift beyond 1020 leaves so few tokens that all
    are in one block.
    """
    x, y, q = (
        z[start : start + BLOCK],
        z[n + start : n + start + BLOCK],
        z[2 * n + start : 2 * n + start + BLOCK],
    )
    w = weight[start : start + BLOCK]
    for i in range(BLOCK):
        xi, yi, qi = x[i], y[i], q[i]
        fx = fy = fq = 0.0
        for j in range(BLOCK):
            dx, dy, dq = x[j] - xi, y[j] - yi, q[j] - qi
            p = w[j] * exp2(min(shift + slope * (dx * dx + dy * dy + dq * dq), 1000.0))
            fx += p * dx
            fy += p * dy
            fq += p * dq
        out[start + i] += fx
        out[n + start + i] += fy
        out[2 * n + start + i] += fq


@njit(fastmath=_FAST, error_model="numpy")
def _sum_three(z, n, weight, slope, shift, out):  # type: ignore[no-untyped-def]
    """``sum_j w_j exp2(slope |d|^2 + shift) d``, ``d = z_j - z_i``, for three components: the fused hot loop.

    Each unordered pair costs one exponential. `z` and `out` are flat, component after component; `n` a
    multiple of ``BLOCK``.
    """
    out[:] = 0.0
    for block in range(0, n, BLOCK):
        _block_sum(z, n, block, weight, slope, shift, out)
        rest = block + BLOCK
        count = n - rest
        x, y, q, w = z[rest:n], z[n + rest : 2 * n], z[2 * n + rest : 3 * n], weight[rest:n]
        gx, gy, gq = out[rest:n], out[n + rest : 2 * n], out[2 * n + rest : 3 * n]
        for i in range(block, rest):
            xi, yi, qi, wi = z[i], z[n + i], z[2 * n + i], -weight[i]
            fx = fy = fq = 0.0
            for j in range(count):
                dx, dy, dq = x[j] - xi, y[j] - yi, q[j] - qi
                e = exp2(shift + slope * (dx * dx + dy * dy + dq * dq))
                p, r = w[j] * e, wi * e
                fx += p * dx
                fy += p * dy
                fq += p * dq
                gx[j] += r * dx
                gy[j] += r * dy
                gq[j] += r * dq
            out[i] += fx
            out[n + i] += fy
            out[2 * n + i] += fq


@njit(fastmath=_FAST, error_model="numpy")
def _sum_any(z, n, m, dim, weight, coupling, kind, slope, shift, out, total):  # type: ignore[no-untyped-def]
    """The same sum for any dimension, coupling matrix, profile, and with the softmax denominator in `total`.

    One pass over a tile per component instead of one fused loop; both orders of a pair share the exponential.
    Only the first `m` of the `n` padded tokens take part. The denominator is not multiplied by ``2^shift``.
    """
    out[:] = 0.0
    total[:] = 0.0
    unshifted = exp2(-shift)
    e = np.empty(_TILE)
    for i in range(m):
        wi = weight[i]
        if kind & SOFTMAX:
            total[i] += wi
        for start in range(i + 1, m, _TILE):
            count = min(_TILE, m - start)
            w = weight[start : start + count]
            if kind & EXPONENTIAL:
                for j in range(count):
                    e[j] = 0.0
                for k in range(dim):
                    zi, row = z[k * n + i], z[k * n + start : k * n + start + count]
                    for j in range(count):
                        e[j] += (row[j] - zi) * (row[j] - zi)
                for j in range(count):
                    e[j] = exp2(shift + slope * e[j])
            else:
                for j in range(count):
                    e[j] = 1.0
            if kind & WEIGHTED:
                row = coupling[i, start : start + count]
                for j in range(count):
                    e[j] *= row[j]
            if kind & SOFTMAX:
                others = total[start : start + count]
                s = 0.0
                for j in range(count):
                    part = unshifted * e[j]
                    s += w[j] * part
                    others[j] += wi * part
                total[i] += s
            for k in range(dim):
                zi, row = z[k * n + i], z[k * n + start : k * n + start + count]
                column = out[k * n + start : k * n + start + count]
                s = 0.0
                for j in range(count):
                    force = e[j] * (row[j] - zi)
                    s += w[j] * force
                    column[j] -= wi * force
                out[k * n + i] += s


@njit(error_model="numpy")
def _velocity(z, n, m, dim, weight, coupling, kind, slope, shift, out, total):  # type: ignore[no-untyped-def]
    """Tangent velocity of padded tokens: the pair sum, divided for softmax, projected."""
    if kind == EXPONENTIAL and dim == 3:
        _sum_three(z, n, weight, slope, shift, out)
    else:
        _sum_any(z, n, m, dim, weight, coupling, kind, slope, shift, out, total)
    for i in range(n):
        radial, size = 0.0, 0.0
        for k in range(dim):
            if kind & SOFTMAX and weight[i] > 0.0:
                out[k * n + i] /= total[i]
            radial += z[k * n + i] * out[k * n + i]
            size += out[k * n + i] ** 2
        rest = 0.0
        for k in range(dim):
            out[k * n + i] -= radial * z[k * n + i]
            rest += out[k * n + i] ** 2
        # what is left after projecting a radial sum is rounding: as a force it would move exactly antipodal
        # tokens
        if rest <= (4.0 * _EPS) ** 2 * size:
            for k in range(dim):
                out[k * n + i] = 0.0


@njit(error_model="numpy")
def _normalise(y, n, dim):  # type: ignore[no-untyped-def]
    for i in range(n):
        square = 0.0
        for k in range(dim):
            square += y[k * n + i] ** 2
        scale = 1.0 / math.sqrt(square)
        for k in range(dim):
            y[k * n + i] *= scale


@njit(error_model="numpy")
def _padded_dim(dim: int, kind: int) -> int:
    """Two components travel as three with a zero, so that the fused loop serves both."""
    return 3 if kind == EXPONENTIAL and dim == 2 else dim


@njit(error_model="numpy")
def _pack(tokens, padded, dim):  # type: ignore[no-untyped-def]
    m, d = tokens.shape
    packed = np.zeros(dim * padded)
    for k in range(d):
        for i in range(m):
            packed[k * padded + i] = tokens[i, k]
        for i in range(m, padded):
            packed[k * padded + i] = tokens[0, k]
    return packed


@njit(error_model="numpy")
def _padded(weight, n):  # type: ignore[no-untyped-def]
    # assigning to a slice would be a line less, and half of the time to compile
    masses = np.zeros(n)
    for i in range(weight.size):
        masses[i] = weight[i]
    return masses


@njit(error_model="numpy")
def _unpack(packed, m, d):  # type: ignore[no-untyped-def]
    padded = (m + BLOCK - 1) // BLOCK * BLOCK
    tokens = np.empty((m, d))
    for k in range(d):
        for i in range(m):
            tokens[i, k] = packed[k * padded + i]
    return tokens


@njit(error_model="numpy", nogil=True, cache=True)
def velocity(tokens, weight, coupling, kind, slope, shift):  # type: ignore[no-untyped-def]
    """Velocity ``(m, d)`` of unit rows `tokens` ``(m, d)``, per internal time.

    `weight` ``(m,)`` are masses, `coupling` the ``(m, m)`` matrix ``W`` (any 2-d array without the WEIGHTED
    flag), `slope` is ``-beta/2 log2(e)`` and `shift` a power of two by which all rates are multiplied.
    """
    m, d = tokens.shape
    n = (m + BLOCK - 1) // BLOCK * BLOCK
    dim = _padded_dim(d, kind)
    masses = _padded(weight, n)
    out, total = np.empty(dim * n), np.empty(n)
    _velocity(_pack(tokens, n, dim), n, m, dim, masses, coupling, kind, slope, shift, out, total)
    return _unpack(out, m, d)


@njit(error_model="numpy", nogil=True, cache=True)
def step(tokens, initial, weight, coupling, kind, slope, shift, size, tolerance):  # type: ignore[no-untyped-def]
    """One Dormand-Prince step as :func:`usaav.flow.dormand_prince.step`, with the velocity inside.

    Returns the new tokens ``(m, d)``, their velocity (only computed if the error is within `tolerance`; else
    unspecified) and the error as an angle.
    """
    m, d = tokens.shape
    n = (m + BLOCK - 1) // BLOCK * BLOCK
    dim = _padded_dim(d, kind)
    masses = _padded(weight, n)
    z = _pack(tokens, n, dim)
    total, y = np.empty(n), np.empty(dim * n)
    stages = np.empty((N_STAGES, dim * n))
    stages[0] = _pack(initial, n, dim)
    for stage in range(1, N_STAGES):
        _combine(z, stages, A[stage], stage, size, y)
        _normalise(y, n, dim)
        _velocity(y, n, m, dim, masses, coupling, kind, slope, shift, stages[stage], total)
    error = 0.0
    for i in range(m):
        fifth, third = 0.0, 0.0
        for k in range(dim):
            a = b = 0.0
            for stage in range(N_STAGES):
                a += E5[stage] * stages[stage, k * n + i]
                b += E3[stage] * stages[stage, k * n + i]
            fifth += a * a
            third += b * b
        scale = math.sqrt(fifth + 0.01 * third)
        angle = size * fifth / scale if scale > 0.0 else scale
        if angle > error or math.isnan(angle):  # nothing exceeds a NaN, so it stays
            error = angle
    _combine(z, stages, B, N_STAGES, size, y)
    _normalise(y, n, dim)
    if error <= tolerance:
        _velocity(y, n, m, dim, masses, coupling, kind, slope, shift, stages[1], total)
    return _unpack(y, m, d), _unpack(stages[1], m, d), error


@njit(fastmath={"contract"}, error_model="numpy")
def _combine(z, stages, weights, count, size, y):  # type: ignore[no-untyped-def]
    for k in range(y.size):
        y[k] = z[k]
    for stage in range(count):
        factor = size * weights[stage]
        if factor != 0.0:
            row = stages[stage]
            for k in range(y.size):
                y[k] += factor * row[k]


@njit(error_model="numpy", nogil=True, cache=True)
def neighbours(tokens, velocities, near, report, most):  # type: ignore[no-untyped-def]
    """Look at all pairs of unit rows `tokens` ``(m, d)``.

    Returns
    -------
    smallest : float
        Smallest squared distance of any pair (inf for one token).
    fastest : float
        Largest contraction rate of pairs nearer than `near` (squared distance), per internal time; 0 if none.
    widest : float
        Largest squared distance if all pairs are nearer than `report` and none is moving apart; else inf.
    pairs : (p, 2) int64
        Pairs nearer than `report` (squared distance), `report <= near`; the first `most` of them.
    squares, rates : (p,)
        Their squared distances and contraction rates ``-d log|z_j - z_i| / ds`` (0 for coincident tokens).
    """
    m, d = tokens.shape
    smallest, fastest = np.inf, 0.0
    widest, within = 0.0, 0
    found = [(0, 0, 0.0, 0.0) for _ in range(0)]
    by_component = tokens.T.copy()
    square = np.empty(m)
    for i in range(m - 1):
        count = m - i - 1
        for j in range(count):
            square[j] = 0.0
        for k in range(d):
            zi, row = by_component[k, i], by_component[k, i + 1 :]
            for j in range(count):
                square[j] += (row[j] - zi) * (row[j] - zi)
        nearest = square[:count].min()
        smallest = min(smallest, nearest)
        if nearest >= near:
            continue
        for j in range(count):
            if square[j] < near:
                closing = 0.0
                for k in range(d):
                    closing -= (tokens[i + 1 + j, k] - tokens[i, k]) * (
                        velocities[i + 1 + j, k] - velocities[i, k]
                    )
                rate = closing / square[j] if square[j] > 0.0 else 0.0
                fastest = max(fastest, rate)
                if square[j] < report:
                    if rate >= 0.0:
                        within += 1
                        widest = max(widest, square[j])
                    if len(found) < most:
                        found.append((i, i + 1 + j, square[j], rate))
    pairs = np.empty((len(found), 2), dtype=np.int64)
    squares, rates = np.empty(len(found)), np.empty(len(found))
    for row_number in range(len(found)):
        pairs[row_number, 0], pairs[row_number, 1], squares[row_number], rates[row_number] = found[row_number]
    if within == 0 or within < m * (m - 1) // 2:
        widest = np.inf
    return smallest, fastest, widest, pairs, squares, rates


@njit(error_model="numpy", nogil=True, cache=True)
def pair_energy(tokens, weight, coupling, kind, slope):  # type: ignore[no-untyped-def]
    """``sum_ij w_i w_j W_ij g(|z_j - z_i|^2)``: ``g`` is ``exp(-beta d^2/2)``.

    Or ``1 - d^2/2`` for the linear profile.
    """
    m, d = tokens.shape
    by_component = tokens.T.copy()
    e = np.empty(m)
    energy = 0.0
    for i in range(m):
        for j in range(m):
            e[j] = 0.0
        for k in range(d):
            zi, row = by_component[k, i], by_component[k]
            for j in range(m):
                e[j] += (row[j] - zi) * (row[j] - zi)
        if kind & EXPONENTIAL:
            for j in range(m):
                e[j] = exp2(slope * e[j])
        else:
            for j in range(m):
                e[j] = 1.0 - 0.5 * e[j]
        if kind & WEIGHTED:
            for j in range(m):
                e[j] *= coupling[i, j]
        row_sum = 0.0
        for j in range(m):
            row_sum += weight[j] * e[j]
        energy += weight[i] * row_sum
    return energy
