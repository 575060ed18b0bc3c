"""Orbit-wise universality: any law on the orbit is reached by choosing the law of the labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from usaav.claims.evidence import Evidence
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.errors import DataError
from usaav.laws.quantiles import quantiles
from usaav.metrics.realised import orbit_angles, orbit_frequency
from usaav.metrics.transport import circle_wasserstein

_PLACE = "(orbit-wise universality of rotary encoding)"
SAMPLE = Statement(
    "",
    f"On the orbit the tokens have the law of their labels: W1 on the circle to the sample is 0 {_PLACE}.",
    "rad",
)
RATE = Statement(
    "rate",
    f"W1 to the law itself falls with n like n^(-1/2): slope of ln(mean over runs) over ln n {_PLACE}.",
)
#: points that stand for a law: their distance to it is far below that of any sample
_POINTS = 2**17
#: numbers of tokens that a slope needs
_SIZES = 3


def check(cases: Sequence[Evidence], tolerance: float, *, slope: float = 0.15) -> list[Verdict]:
    """W1 between the angles that are realised on the orbit and the labels, and its decay to their law.

    Parameters
    ----------
    cases
        Of RoPE with one plane and frequency; several n for each law of labels.
    tolerance
        Radians, for the distance to the sample of labels.
    slope
        Largest deviation of the slope from -1/2; not judged with less than three sizes.

    Raises
    ------
    DataError
        A case has another kernel or no law of labels.
    """
    verdicts = []
    decay: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for case in cases:
        final = case.final()
        if final.labels is None:
            raise DataError(f"{case.where}: check orbit_universality needs labels")
        realised = orbit_angles(case.kernel, final.tokens, final.labels)
        wanted = orbit_frequency(case.kernel) * final.labels
        gaps = [circle_wasserstein(*pair) for pair in zip(realised, wanted, strict=True)]
        verdicts.append(judge(SAMPLE, case.where, gaps, 0.0, tolerance))
        law = orbit_frequency(case.kernel) * quantiles(case.case.settings.labels, _POINTS)
        distance = np.mean([circle_wasserstein(row, law) for row in realised])
        name = f"{case.case.experiment}/{case.case.parameters.get('variant', 'all n')}"
        decay[name].append((case.case.settings.n_tokens, float(distance)))
    for name, points in decay.items():
        sizes, distances = np.array(sorted(points)).T
        if len(np.unique(sizes)) >= _SIZES:
            measured = float(np.polyfit(np.log(sizes), np.log(distances), 1)[0])
            notes = [f"n = {sizes[0]:g} ... {sizes[-1]:g}"]
            verdicts.append(judge(RATE, name, measured, -0.5, slope, notes, runs=cases[0].seeds))
    return verdicts
