"""The mean field in O(n): compiled Funk-Hecke expansions on the circle and the sphere.

``exp(beta (<x, y> - 1))`` is expanded in harmonics with the (exponentially scaled) modified Bessel functions
as coefficients::

    S^1:  e^-beta [ I_0 + 2 sum_k I_k Re( x^k conj(y)^k ) ],       x, y as complex numbers
    S^2:  e^-beta sum_l (2l + 1) i_l P_l(<x, y>) = sum_l a_l sum_m c_m Re( Y_lm(x) conj(Y_lm(y)) ),  c_0 = 1,
    else 2

so the potential of all tokens is a polynomial of degree L whose coefficients are moments of the tokens: one
pass to gather the moments, one to evaluate the gradient. On S^2 the harmonics are kept Cartesian, ``Y_lm =
Q_lm(z) (x + i y)^m`` with ``Q'_lm`` from ``Q_{l, m+1}``: no poles, no trigonometry. The constants are those
of the fully normalised Legendre recurrence (e.g. DLMF 14.10, 14.30).

The absolute error is that of a sum of order one in units of ``exp(beta)``: right while many tokens are
spread, useless for the far smaller forces between a few distant clusters, which the direct field keeps to
relative accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.flow import numba_setup  # noqa: F401  must run before numba is imported

from numba import njit  # isort: skip

from usaav.flow.compiled import exp2
from usaav.flow.dormand_prince import E3, E5

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: tokens that one compiled call works through; fixed, so that sums do not depend on the number of threads
CHUNK = 16384
_BLOCK = 128
# the loops over degrees take four at a time, so that sums stay in registers; columns of zeros fill up
_PAD = 3
_MOST = 4096
_FAST = {"contract", "reassoc", "nsz", "nnan", "ninf"}


def coefficients(beta: float, dim: int, tolerance: float) -> Array:
    """Coefficients ``a_0 ... a_L`` of the potential, cut where the rest of the field falls below `tolerance`.

    The rest is bounded by the sum of the coefficients beyond L times the norm of their gradients (l on the
    circle, ``l (2l + 1)`` on the sphere), over beta, in units in which the field of coincident tokens is of
    order one.

    Raises
    ------
    ValueError
        `dim` is neither 2 nor 3.
    """
    from scipy.special import ive

    degrees = np.arange(_MOST)
    if dim == 2:
        scaled = ive(degrees, beta)
        scaled[1:] *= 2.0
        bound = degrees * scaled / beta
    elif dim == 3:
        scaled = math.sqrt(math.pi / (2.0 * beta)) * ive(degrees + 0.5, beta)
        bound = degrees * (2.0 * degrees + 1.0) * scaled / beta
    else:
        raise ValueError(f"dim = {dim}: the spectral field exists for 2 and 3")
    rest = np.cumsum(bound[::-1])[::-1]
    degree = max(1, int(np.argmax(rest < tolerance)) - 1)
    return np.asarray(scaled[: degree + 1], dtype=np.float64)


class Moments:
    """Conjugate moments of tokens with masses on S^1 or S^2 up to a degree.

    Parameters
    ----------
    degree, dim
        Largest degree L, and the dimension, 2 or 3.
    threads
        Threads to work with; results do not depend on it.
    """

    def __init__(self, degree: int, dim: int, threads: int = 1) -> None:
        self.degree, self._threads = degree, threads
        self.tables = _legendre_tables(degree) if dim == 3 else None

    def of(self, tokens: Array, masses: Array) -> NDArray[np.complex128]:
        """``sum_j w_j conj(x_j^k)``, ``(L+1,)``; on the sphere ``sum_j w_j conj(Y_lm(x_j))``, indexed [m.

        L].
        """
        if self.tables is None:
            parts = self.each_chunk(
                lambda rows: _circle_moments(tokens[rows], masses[rows], self.degree), len(tokens)
            )
        else:
            start, step, lag, _ = self.tables
            parts = self.each_chunk(
                lambda rows: _sphere_moments(tokens[rows], masses[rows], start, step, lag)[:, :, :-_PAD],
                len(tokens),
            )
        total = np.sum(parts, axis=0)
        return np.asarray(total[0] - 1j * total[1])

    def each_chunk(self, work: Callable[[slice], Any], count: int) -> list[Any]:
        """Results of `work` on slices of `count` tokens, in order."""
        chunks = [slice(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]
        if self._threads == 1 or len(chunks) == 1:
            return [work(rows) for rows in chunks]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(work, chunks))


class SpectralField:
    """Velocities and energy of tokens with masses on S^1 or S^2, for ``phi = exp``.

    With labels, weights ``sum_k s_k a_k(xi_i) a_k(xi_j)`` make the field ``sum_k s_k a_k(xi_i) F_k(z_i)``
    with ``F_k`` the field, for w = 1, of masses ``a_k(xi_j) m_j``: O(r n).

    Parameters
    ----------
    beta, dim, tolerance
        See :func:`coefficients`.
    threads
        Threads to work with; results do not depend on it.
    signs, factors : (r,), (r, m)
        ``s_k`` and ``a_k`` of the tokens' labels; None for w = 1.
    """

    def __init__(
        self,
        beta: float,
        dim: int,
        tolerance: float,
        threads: int = 1,
        signs: Array | None = None,
        factors: Array | None = None,
    ) -> None:
        self.coefficients = coefficients(beta, dim, tolerance)
        self._beta = beta
        self._moments = Moments(len(self.coefficients) - 1, dim, threads)
        self._signs, self._factors = signs, factors

    @property
    def degree(self) -> int:
        """Largest degree L."""
        return self._moments.degree

    def keep(self, rows: Index) -> None:
        """Go on with these tokens only (after a merge)."""
        if self._factors is not None:
            self._factors = np.ascontiguousarray(self._factors[:, rows])

    def velocity(self, tokens: Array, masses: Array) -> Array:
        """Tangent velocities ``(m, d)`` per internal time ``s = exp(beta) tau`` of unit rows ``(m, d)``."""
        out = np.empty_like(tokens)
        if self._signs is None or self._factors is None:
            fill = self._gradient(tokens, masses)
            self._moments.each_chunk(lambda rows: fill(rows, out[rows]), len(tokens))
            return out
        signs, factors = self._signs, self._factors
        fills = [self._gradient(tokens, factor * masses) for factor in factors]

        def combine(rows: slice) -> None:
            part, total = np.empty_like(tokens[rows]), np.zeros_like(tokens[rows])
            for sign, factor, fill in zip(signs, factors, fills, strict=True):
                fill(rows, part)
                total += (sign * factor[rows])[:, None] * part
            out[rows] = total

        self._moments.each_chunk(combine, len(tokens))
        return out

    def _gradient(self, tokens: Array, masses: Array) -> Callable[[slice, Array], None]:
        """What writes the field of these masses, with w = 1, at a slice of the tokens."""
        moments = self._moments.of(tokens, masses) * (self.coefficients / self._beta)
        if self._moments.tables is None:
            moments *= np.arange(self.degree + 1)
            re, im = moments.real.copy(), moments.imag.copy()
            return lambda rows, out: _circle_velocity(tokens[rows], re, im, out)
        start, step, lag, slope = self._moments.tables
        moments[1:] *= 2.0
        value, rise = np.zeros((2, *slope.shape), dtype=np.complex128)
        value[:, :-_PAD] = np.arange(self.degree + 1)[:, None] * moments
        rise[1:, :-_PAD] = (slope[:, :-_PAD] * moments)[:-1]
        g_re, g_im, h_re, h_im = value.real.copy(), value.imag.copy(), rise.real.copy(), rise.imag.copy()
        return lambda rows, out: _sphere_velocity(tokens[rows], start, step, lag, g_re, g_im, h_re, h_im, out)

    def displaced(self, tokens: Array, stages: Array, weights: Array, size: float) -> Array:
        """As :func:`usaav.flow.dormand_prince.displaced`, without passes over temporaries."""
        out = np.empty_like(tokens)
        count, dim = tokens.shape
        flat, flat_stages = tokens.reshape(-1), stages.reshape(len(stages), -1)
        self._moments.each_chunk(
            lambda rows: _displaced(
                flat, flat_stages, weights, size, dim, rows.start, rows.stop, out.reshape(-1)
            ),
            count,
        )
        return out

    def largest_error(self, stages: Array, size: float) -> float:
        """As :func:`usaav.flow.dormand_prince.largest_error`."""
        n_stages, count, dim = stages.shape
        flat = stages.reshape(n_stages, -1)
        angles = self._moments.each_chunk(
            lambda rows: _largest_error(flat, E5, E3, dim, rows.start, rows.stop), count
        )
        return abs(size) * float(np.max(angles))

    def energy(self, tokens: Array, masses: Array) -> float:
        """``sum_ij w_i w_j W_ij exp(beta (<z_i, z_j> - 1))``, from the moments alone."""
        if self._signs is None or self._factors is None:
            return self._square(tokens, masses)
        parts = [self._square(tokens, factor * masses) for factor in self._factors]
        return float(self._signs @ np.array(parts))

    def _square(self, tokens: Array, masses: Array) -> float:
        square = np.abs(self._moments.of(tokens, masses)) ** 2
        if self._moments.tables is not None:
            square[1:] *= 2.0
        return float(np.sum(square @ self.coefficients))


def _legendre_tables(degree: int) -> tuple[Array, Array, Array, Array]:
    """Constants of ``Q_lm``, indexed [m, l].

    ``Q_mm = start[m]``, ``Q_lm = step[m, l] z Q_{l-1, m} - lag[m, l] Q_{l-2, m}``, ``Q'_lm = slope[m, l]
    Q_{l, m+1}``; normalised so that ``sum_m c_m Re(Y_lm(x) conj(Y_lm(y))) = (2l + 1) P_l(<x, y>)``.
    """
    m, k = np.meshgrid(np.arange(degree + 1.0), np.arange(degree + 1.0), indexing="ij")
    above = k > m
    span = np.where(above, k**2 - m**2, 1.0)
    step = np.where(above, np.sqrt(np.where(above, 4.0 * k**2 - 1.0, 1.0) / span), 0.0)
    lag_square = ((k - 1.0) ** 2 - m**2) * (2.0 * k + 1.0) / (np.where(k > 1, 2.0 * k - 3.0, 1.0) * span)
    lag = np.where(k > m + 1, np.sqrt(np.maximum(lag_square, 0.0)), 0.0)
    slope = np.where(k >= m, np.sqrt(np.maximum((k - m) * (k + m + 1.0), 0.0)), 0.0)
    step, lag = np.pad(step, ((0, 0), (0, _PAD + 1))), np.pad(lag, ((0, 0), (0, _PAD + 1)))
    slope = np.pad(slope, ((0, 0), (0, _PAD)))
    orders = np.arange(1.0, degree + 1.0)
    start = np.concatenate([[1.0], np.cumprod(np.sqrt((2.0 * orders + 1.0) / (2.0 * orders)))])
    return start, step, lag, slope


@njit(fastmath=_FAST, error_model="numpy", nogil=True, cache=True)
def _circle_moments(tokens, masses, degree):  # type: ignore[no-untyped-def]
    out = np.zeros((2, degree + 1))
    x, y = np.empty(_BLOCK), np.empty(_BLOCK)
    re, im = np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(tokens), _BLOCK):
        count = min(_BLOCK, len(tokens) - first)
        for b in range(count):
            x[b], y[b] = tokens[first + b, 0], tokens[first + b, 1]
            re[b], im[b] = masses[first + b], 0.0
        for k in range(degree + 1):
            s = t = 0.0
            for b in range(count):
                s += re[b]
                t += im[b]
                turned = re[b] * x[b] - im[b] * y[b]
                im[b] = re[b] * y[b] + im[b] * x[b]
                re[b] = turned
            out[0, k] += s
            out[1, k] += t
    return out


@njit(fastmath=_FAST, error_model="numpy", nogil=True, cache=True)
def _circle_velocity(tokens, gradient_re, gradient_im, out):  # type: ignore[no-untyped-def]
    """Angular velocity ``-Im sum_k g_k x^k`` by Horner's rule, along the tangent ``(-y, x)``."""
    degree = len(gradient_re) - 1
    x, y = np.empty(_BLOCK), np.empty(_BLOCK)
    re, im = np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(tokens), _BLOCK):
        count = min(_BLOCK, len(tokens) - first)
        for b in range(count):
            x[b], y[b] = tokens[first + b, 0], tokens[first + b, 1]
            re[b], im[b] = gradient_re[degree], gradient_im[degree]
        for step in range(degree):
            g, h = gradient_re[degree - 1 - step], gradient_im[degree - 1 - step]
            for b in range(count):
                turned = re[b] * x[b] - im[b] * y[b] + g
                im[b] = re[b] * y[b] + im[b] * x[b] + h
                re[b] = turned
        for b in range(count):
            out[first + b, 0] = im[b] * y[b]
            out[first + b, 1] = -im[b] * x[b]


@njit(fastmath=_FAST, error_model="numpy", nogil=True, cache=True)
def _sphere_moments(tokens, masses, start, step, lag):  # type: ignore[no-untyped-def]
    degree = len(start) - 1
    out = np.zeros((2, degree + 1, degree + 1 + _PAD))
    x, y, z = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    re, im = np.empty(_BLOCK), np.empty(_BLOCK)
    last, now = np.empty(_BLOCK), np.empty(_BLOCK)  # Q_(k-1)m, Q_km
    for first in range(0, len(tokens), _BLOCK):
        count = min(_BLOCK, len(tokens) - first)
        for b in range(count):
            x[b], y[b], z[b] = tokens[first + b, 0], tokens[first + b, 1], tokens[first + b, 2]
            re[b], im[b] = masses[first + b], 0.0
        for m in range(degree + 1):
            for b in range(count):
                last[b], now[b] = 0.0, start[m]
            for four in range((degree + 4 - m) // 4):
                k = m + 4 * four
                a, b1, b2, b3 = step[m, k + 1], step[m, k + 2], step[m, k + 3], step[m, k + 4]
                c, d1, d2, d3 = lag[m, k + 1], lag[m, k + 2], lag[m, k + 3], lag[m, k + 4]
                s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = 0.0
                for b in range(count):
                    q0 = now[b]
                    q1 = a * z[b] * q0 - c * last[b]
                    q2 = b1 * z[b] * q1 - d1 * q0
                    q3 = b2 * z[b] * q2 - d2 * q1
                    s0 += q0 * re[b]
                    t0 += q0 * im[b]
                    s1 += q1 * re[b]
                    t1 += q1 * im[b]
                    s2 += q2 * re[b]
                    t2 += q2 * im[b]
                    s3 += q3 * re[b]
                    t3 += q3 * im[b]
                    last[b] = q3
                    now[b] = b3 * z[b] * q3 - d3 * q2
                out[0, m, k] += s0
                out[0, m, k + 1] += s1
                out[0, m, k + 2] += s2
                out[0, m, k + 3] += s3
                out[1, m, k] += t0
                out[1, m, k + 1] += t1
                out[1, m, k + 2] += t2
                out[1, m, k + 3] += t3
            for b in range(count):
                turned = re[b] * x[b] - im[b] * y[b]
                im[b] = re[b] * y[b] + im[b] * x[b]
                re[b] = turned
    return out


@njit(fastmath=_FAST, error_model="numpy", nogil=True, cache=True)
def _sphere_velocity(tokens, start, step, lag, g_re, g_im, h_re, h_im, out):  # type: ignore[no-untyped-def]
    """Tangential gradient of ``sum_m Re( (x + iy)^m sum_l c_ml Q_lm(z) )``.

    ``g_ml = m c_ml``, and ``h_ml``, the coefficients of ``Q'``, are those of ``Q_l(m-1)`` times their slope.
    """
    degree = len(start) - 1
    x, y, z = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    re, im = np.empty(_BLOCK), np.empty(_BLOCK)  # (x + iy)^(m - 1)
    last, now = np.empty(_BLOCK), np.empty(_BLOCK)  # Q_(k-1)m, Q_km
    value_re, value_im = np.empty(_BLOCK), np.empty(_BLOCK)  # sum_l g_ml Q_lm
    deriv_re, deriv_im = np.empty(_BLOCK), np.empty(_BLOCK)  # sum_l h_ml Q_lm
    fx, fy, fz = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for first in range(0, len(tokens), _BLOCK):
        count = min(_BLOCK, len(tokens) - first)
        for b in range(count):
            x[b], y[b], z[b] = tokens[first + b, 0], tokens[first + b, 1], tokens[first + b, 2]
            re[b], im[b], fx[b], fy[b], fz[b] = 1.0, 0.0, 0.0, 0.0, 0.0
        for m in range(1, degree + 1):
            for b in range(count):
                last[b], now[b] = 0.0, start[m]
                value_re[b] = value_im[b] = deriv_re[b] = deriv_im[b] = 0.0
            for four in range((degree + 4 - m) // 4):
                k = m + 4 * four
                a, a1, a2, a3 = step[m, k + 1], step[m, k + 2], step[m, k + 3], step[m, k + 4]
                c, c1, c2, c3 = lag[m, k + 1], lag[m, k + 2], lag[m, k + 3], lag[m, k + 4]
                p, p1, p2, p3 = g_re[m, k], g_re[m, k + 1], g_re[m, k + 2], g_re[m, k + 3]
                q, q1, q2, q3 = g_im[m, k], g_im[m, k + 1], g_im[m, k + 2], g_im[m, k + 3]
                r, r1, r2, r3 = h_re[m, k], h_re[m, k + 1], h_re[m, k + 2], h_re[m, k + 3]
                s, s1, s2, s3 = h_im[m, k], h_im[m, k + 1], h_im[m, k + 2], h_im[m, k + 3]
                for b in range(count):
                    v = now[b]
                    v1 = a * z[b] * v - c * last[b]
                    v2 = a1 * z[b] * v1 - c1 * v
                    v3 = a2 * z[b] * v2 - c2 * v1
                    value_re[b] += p * v + p1 * v1 + p2 * v2 + p3 * v3
                    value_im[b] += q * v + q1 * v1 + q2 * v2 + q3 * v3
                    deriv_re[b] += r * v + r1 * v1 + r2 * v2 + r3 * v3
                    deriv_im[b] += s * v + s1 * v1 + s2 * v2 + s3 * v3
                    last[b] = v3
                    now[b] = a3 * z[b] * v3 - c3 * v2
            for b in range(count):
                fx[b] += re[b] * value_re[b] - im[b] * value_im[b]
                fy[b] -= re[b] * value_im[b] + im[b] * value_re[b]
                fz[b] += re[b] * deriv_re[b] - im[b] * deriv_im[b]
                turned = re[b] * x[b] - im[b] * y[b]
                im[b] = re[b] * y[b] + im[b] * x[b]
                re[b] = turned
        for b in range(count):
            radial = fx[b] * x[b] + fy[b] * y[b] + fz[b] * z[b]
            out[first + b, 0] = fx[b] - radial * x[b]
            out[first + b, 1] = fy[b] - radial * y[b]
            out[first + b, 2] = fz[b] - radial * z[b]


@njit(fastmath={"contract"}, error_model="numpy", nogil=True, cache=True)
def _displaced(tokens, stages, weights, size, dim, start, stop, out):  # type: ignore[no-untyped-def]
    """Rows from `start` to `stop` of flat arrays, in blocks that stay in the first cache for all stages."""
    for first in range(start * dim, stop * dim, _BLOCK * dim):
        length = min(_BLOCK * dim, stop * dim - first)
        point, here = out[first : first + length], tokens[first : first + length]
        for i in range(length):
            point[i] = here[i]
        for s in range(len(weights)):
            factor = size * weights[s]
            if factor != 0.0:
                stage = stages[s, first : first + length]
                for i in range(length):
                    point[i] += factor * stage[i]
        for i in range(length // dim):
            square = 0.0
            for k in range(dim):
                square += point[i * dim + k] * point[i * dim + k]
            scale = 1.0 / math.sqrt(square)
            for k in range(dim):
                point[i * dim + k] *= scale


@njit(fastmath={"contract"}, error_model="numpy", nogil=True, cache=True)
def _largest_error(stages, fifth_weights, third_weights, dim, start, stop):  # type: ignore[no-untyped-def]
    """Of rows from `start` to `stop` of flat stages, in blocks as above."""
    a, b = np.empty(_BLOCK * dim), np.empty(_BLOCK * dim)
    largest = 0.0
    for first in range(start * dim, stop * dim, _BLOCK * dim):
        length = min(_BLOCK * dim, stop * dim - first)
        a[:] = 0.0
        b[:] = 0.0
        for s in range(len(fifth_weights)):
            stage = stages[s, first : first + length]
            p, q = fifth_weights[s], third_weights[s]
            for i in range(length):
                a[i] += p * stage[i]  # also where p and q are 0: a NaN must not pass unseen
                b[i] += q * stage[i]
        for i in range(length // dim):
            fifth = third = 0.0
            for k in range(dim):
                fifth += a[i * dim + k] * a[i * dim + k]
                third += b[i * dim + k] * b[i * dim + k]
            scale = math.sqrt(fifth + 0.01 * third)
            angle = fifth / scale if scale > 0.0 else scale
            if angle > largest or math.isnan(angle):  # nothing exceeds a NaN, so it stays
                largest = angle
    return largest


@njit(fastmath=_FAST, error_model="numpy", nogil=True, cache=True)
def local_mass(tokens, masses, place, slope):  # type: ignore[no-untyped-def]
    """``sum_j w_j exp2(slope |z_j - place|^2)`` of tokens ``(n, d)`` with masses ``(n,)``."""
    total = 0.0
    for i in range(len(tokens)):
        square = 0.0
        for k in range(tokens.shape[1]):
            square += (tokens[i, k] - place[k]) ** 2
        total += masses[i] * exp2(slope * square)
    return total
