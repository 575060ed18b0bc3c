"""Sign-changing Toeplitz weight: the tokens spread over a great circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.claims.evidence import Evidence, selected
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.errors import DataError
from usaav.kernels import Toeplitz
from usaav.theory import toeplitz_dirac_distance, toeplitz_singular_values

Array = NDArray[np.float64]

_PLACE = "(sign-changing relative position bias: no collapse)"
DISTANCE = Statement(
    "", f"With w = cos m D the tokens do not collapse: their Dirac distance is sqrt 2 {_PLACE}."
)
CIRCLE = Statement(
    "circle",
    "They end evenly on a great circle: the singular values of the token matrix over sqrt n are those of the "
    f"maximiser, sqrt(1/2) twice and 0, by their largest deviation {_PLACE}.",
)
ENERGY = Statement(
    "energy",
    "The energy reaches the maximum that the spectrum of the weight gives under the labels of the run, "
    f"where the profile is linear {_PLACE}.",
)


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    energy: float = 1e-6,
    select: Mapping[str, Any] | None = None,
) -> list[Verdict]:
    """Dirac distance sqrt 2, singular values of a great circle, and the energy where its maximum is known.

    Parameters
    ----------
    cases
        Of a weight with a single mode m >= 1.
    tolerance
        Of the Dirac distance and the singular values.
    energy
        Largest gap of the energy to its maximum.
    select
        Fact -> wanted value(s) of the cases to judge; None: all.

    Raises
    ------
    DataError
        A case has another weight.
    """
    verdicts = []
    for case in selected(cases, select):
        weight = case.kernel.weight
        if not isinstance(weight, Toeplitz):
            raise DataError(f"{case.where}: check toeplitz needs a toeplitz kernel")
        coefficients, maximum = dict(weight.coefficients), case.at("energy_maximum")
        known = bool(np.all(np.isfinite(maximum)))
        notes = [] if known else ["energy not judged: its maximum is not known with this profile"]
        wanted = toeplitz_dirac_distance(coefficients)
        verdicts.append(judge(DISTANCE, case.where, case.at("dirac_distance"), wanted, tolerance, notes))
        values = toeplitz_singular_values(coefficients, case.case.settings.dim)
        deviations = [largest_deviation(tokens, values) for tokens in case.final().tokens]
        verdicts.append(judge(CIRCLE, case.where, deviations, 0.0, tolerance))
        if known:
            verdicts.append(judge(ENERGY, case.where, case.at("energy"), maximum, energy))
    return verdicts


def largest_deviation(tokens: Array, expected: Array) -> float:
    """Largest deviation of the singular values of ``(n, d)`` over sqrt n from those that are `expected`.

    They are ``(d,)`` and decreasing; of less than d tokens the singular values beyond the n-th are 0.
    """
    values = np.zeros(tokens.shape[1])
    found = np.linalg.svd(tokens / np.sqrt(len(tokens)), compute_uv=False)
    values[: len(found)] = found
    return float(np.max(np.abs(values - expected)))
