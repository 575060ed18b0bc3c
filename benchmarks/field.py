"""Field evaluations per second against their limit, direct and spectral.

The limit of the direct field is its n^2/2 exponentials, at the throughput of the same exponential on an array
that stays in the first cache, measured in the same run on the same core. Run: ``python benchmarks/field.py
[--quick]``; writes ``results/field.json``, from which the documentation draws its figure.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from machine import best_of, keep

from usaav.flow import numba_setup  # noqa: F401  must run before numba is imported

from numba import njit  # isort: skip

from usaav.flow import compiled
from usaav.flow.spectral import SpectralField
from usaav.kernels import Toeplitz
from usaav.kernels.low_rank import products

BETAS = (1.0, 9.0, 100.0)
#: a weight of five products, to compare the matrix of weights with
WEIGHT = Toeplitz(((0, 0.2), (1, -0.6), (3, 0.7)))
LOG2_E = 1.0 / np.log(2.0)
NO_COUPLING = np.zeros((1, 1))
PASSES = 64


@njit(fastmath={"contract", "reassoc", "nsz", "nnan", "ninf"}, error_model="numpy")
def exponentials(exponents, out):  # type: ignore[no-untyped-def]
    """``2^x`` of an array, ``PASSES`` times, so that the call itself weighs nothing."""
    for _ in range(PASSES):
        for index in range(exponents.size):
            out[index] = compiled.exp2(exponents[index])


def tokens(n: int, dim: int) -> np.ndarray:
    """Uniform random unit rows ``(n, dim)``."""
    rows = np.random.default_rng(0).standard_normal((n, dim))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def direct(n: int, dim: int, beta: float, ns_per_exponential: float) -> dict[str, Any]:
    """Time of one direct evaluation, per ordered pair, and its ratio to the limit."""
    rows, masses = tokens(n, dim), np.full(n, 1.0 / n)
    seconds = best_of(
        lambda: compiled.velocity(rows, masses, NO_COUPLING, compiled.EXPONENTIAL, -0.5 * beta * LOG2_E, 0.0),
        repeats=5 if n > 4096 else 9,
    )
    limit = 0.5 * n * n * ns_per_exponential * 1e-9
    return {
        "field": "direct",
        "n": n,
        "dim": dim,
        "beta": beta,
        "milliseconds": 1e3 * seconds,
        "ns_per_pair": 1e9 * seconds / n**2,
        "ratio_to_limit": seconds / limit,
    }


def spectral(n: int, dim: int, beta: float, tolerance: float) -> dict[str, Any]:
    """Time of one spectral evaluation on one thread."""
    rows, masses = tokens(n, dim), np.full(n, 1.0 / n)
    field = SpectralField(beta, dim, tolerance)
    seconds = best_of(lambda: field.velocity(rows, masses), repeats=3 if n > 100_000 else 7)
    return {
        "field": "spectral",
        "n": n,
        "dim": dim,
        "beta": beta,
        "tolerance": tolerance,
        "degree": field.degree,
        "milliseconds": 1e3 * seconds,
        "ns_per_token": 1e9 * seconds / n,
    }


def weighted(n: int, dim: int, beta: float, tolerance: float) -> list[dict[str, Any]]:
    """Times of one evaluation with a weight of labels: by its matrix, and by its products."""
    rows, masses, labels = tokens(n, dim), np.full(n, 1.0 / n), np.linspace(0.0, 6.0, n)
    coupling = np.ascontiguousarray(WEIGHT.between(labels, labels))
    kind, slope = compiled.EXPONENTIAL + compiled.WEIGHTED, -0.5 * beta * LOG2_E
    seconds = best_of(lambda: compiled.velocity(rows, masses, coupling, kind, slope, 0.0), repeats=5)
    found = products(WEIGHT, labels, tolerance)
    assert found is not None
    field = SpectralField(beta, dim, tolerance, 1, found.signs, found.factors(labels))
    by_products = best_of(lambda: field.velocity(rows, masses), repeats=5)
    same = {"n": n, "dim": dim, "beta": beta}
    rank = len(found.signs)
    return [
        {
            "field": "direct weighted",
            **same,
            "milliseconds": 1e3 * seconds,
            "ns_per_pair": 1e9 * seconds / n**2,
        },
        {
            "field": "spectral weighted",
            **same,
            "tolerance": tolerance,
            "degree": field.degree,
            "rank": rank,
            "milliseconds": 1e3 * by_products,
            "ns_per_token": 1e9 * by_products / n,
        },
    ]


def main() -> None:
    """Measure, print a table, and keep the numbers."""
    quick = "--quick" in sys.argv
    sample = -20.0 * np.random.default_rng(1).random(1024)
    # on a shared machine one short measurement may meet a busy moment; the limit is the best that was seen
    out = np.empty_like(sample)
    per_exponential = 1e9 * best_of(lambda: exponentials(sample, out), repeats=40) / (PASSES * len(sample))
    sys.stdout.write(f"one exponential: {per_exponential:.3f} ns\n")
    rows: list[dict[str, Any]] = []
    for n in (256, 1024) if quick else (100, 256, 1024, 4096, 16384):
        for dim in (2, 3, 5):
            # one beta of five dimensions: there is no spectral field to compare with
            for beta in (9.0,) if quick or dim == 5 else BETAS:
                rows.append(direct(n, dim, beta, per_exponential))
                sys.stdout.write(
                    "{field} n={n} d={dim} beta={beta:g}: {ns_per_pair:.3f} ns/pair, "
                    "{ratio_to_limit:.2f} x limit\n".format(**rows[-1])
                )
    for n in (1000,) if quick else (100, 1000, 10_000, 100_000, 1_000_000):
        for dim in (2, 3):
            for beta in BETAS:
                rows.append(spectral(n, dim, beta, 1e-12))
                sys.stdout.write(
                    "{field} n={n} d={dim} beta={beta:g}: {milliseconds:.3f} ms, degree {degree}\n".format(
                        **rows[-1]
                    )
                )
    if not quick:
        for dim in (2, 3):
            rows += weighted(4096, dim, 9.0, 1e-12)
            sys.stdout.write(
                "weighted n={n} d={dim} beta={beta:g}: {rank} products {milliseconds:.3f} ms, ".format(
                    **rows[-1]
                )
                + "matrix {milliseconds:.3f} ms\n".format(**rows[-2])
            )
        million = spectral(1_000_000, 3, 9.0, 1e-10)
        scaled = (
            next(row for row in rows if (row["n"], row["dim"], row["beta"]) == (16384, 3, 9.0))[
                "milliseconds"
            ]
            * (1e6 / 16384) ** 2
        )
        gain = scaled / million["milliseconds"]
        sys.stdout.write(
            f"n = 10^6, d = 3, beta = 9, 1e-10: spectral {gain:.0f} times faster than direct (scaled)\n"
        )
        rows.append({**million, "gain_over_direct": gain})
        keep("field", {"ns_per_exponential": per_exponential, "evaluations": rows})


if __name__ == "__main__":
    main()
