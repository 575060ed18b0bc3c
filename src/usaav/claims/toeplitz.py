"""Sign-changing Toeplitz weight: the tokens spread over a great circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.claims.evidence import Evidence, selected
from usaav.claims.verdict import Statement, Verdict, judge

Array = NDArray[np.float64]

_PLACE = "(sign-changing relative position bias: no collapse)"
DISTANCE = Statement(
    "", f"With w = cos m D the tokens do not collapse: their Dirac distance is sqrt 2 {_PLACE}."
)
CIRCLE = Statement(
    "circle",
    "They end evenly on a great circle: the singular values of the token matrix over sqrt n are sqrt(1/2) "
    f"twice and 0, by their largest deviation {_PLACE}.",
)
ENERGY = Statement(
    "energy",
    f"The energy reaches the maximum that the spectrum of the weight gives (linear profile) {_PLACE}.",
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
    """
    verdicts = []
    for case in selected(cases, select):
        distance = case.at("dirac_distance")
        verdicts.append(judge(DISTANCE, case.where, distance, np.sqrt(2.0), tolerance))
        deviations = [circle_deviation(tokens) for tokens in case.final().tokens]
        verdicts.append(judge(CIRCLE, case.where, deviations, 0.0, tolerance))
        maximum = case.at("energy_maximum")
        if np.all(np.isfinite(maximum)):
            verdicts.append(judge(ENERGY, case.where, case.at("energy"), maximum, energy))
    return verdicts


def circle_deviation(tokens: Array) -> float:
    """Largest deviation of the singular values of ``(n, d)`` over sqrt n from sqrt(1/2) twice and 0."""
    values = np.linalg.svd(tokens / np.sqrt(len(tokens)), compute_uv=False)
    expected = np.zeros_like(values)
    expected[:2] = np.sqrt(0.5)
    return float(np.max(np.abs(values - expected)))
