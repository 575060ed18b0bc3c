"""Spectral dichotomy: as the oscillating share of the weight grows, collapse gives way to a great circle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from usaav.claims.evidence import Evidence
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.errors import DataError
from usaav.kernels import Toeplitz
from usaav.theory import dichotomy_threshold, toeplitz_dirac_distance

_PLACE = "(spectral dichotomy)"
PHASE = Statement(
    "phase",
    "Away from the threshold the Dirac distance is 0 where the constant mode of the weight is strongest, "
    f"sqrt 2 where another is {_PLACE}.",
)
ENERGY = Statement(
    "",
    "The energy is half the largest eigenvalue of the weight under the labels of the run (for even ones, the "
    f"larger of c_0/2 and c_m/4) {_PLACE}.",
)


def check(
    cases: Sequence[Evidence], tolerance: float, *, margin: float = 0.03, phase: float = 0.05
) -> list[Verdict]:
    """Phase and energy for every share a of the oscillating part but those near the threshold.

    Parameters
    ----------
    cases
        Of Toeplitz weights ``(1 - a) + a (...)`` with the linear profile and uniform labels.
    tolerance
        Of the energy.
    margin
        Cases whose a is nearer to the threshold (2/3 for a single cosine) than this are not judged: there the
        flow takes very long.
    phase
        Of the Dirac distance, which is 0 or sqrt 2.

    Raises
    ------
    DataError
        A case has another weight.
    """
    verdicts = []
    for case in cases:
        weight = case.kernel.weight
        if not isinstance(weight, Toeplitz):
            raise DataError(f"{case.where}: check dichotomy needs a toeplitz kernel")
        coefficients = dict(weight.coefficients)
        distance = threshold_distance(coefficients)
        if distance <= margin:
            continue
        notes = [f"a is {distance:.3g} from the threshold"] if np.isfinite(distance) else []
        expected = toeplitz_dirac_distance(coefficients)
        verdicts.append(judge(PHASE, case.where, case.at("dirac_distance"), expected, phase, notes))
        highest = case.at("energy_maximum")
        verdicts.append(judge(ENERGY, case.where, case.at("energy"), highest, tolerance, notes))
    return verdicts


def threshold_distance(coefficients: dict[int, float]) -> float:
    """Distance of ``a = 1 - c_0`` from the threshold of ``w = (1 - a) + a v``; infinite where a is 0."""
    share = 1.0 - coefficients.get(0, 0.0)
    oscillating = {m: value / share for m, value in coefficients.items() if m > 0} if share > 0.0 else {}
    if not any(value > 0.0 for value in oscillating.values()):
        return np.inf
    return abs(share - dichotomy_threshold(oscillating))
