"""The mean field: the collapse grows at the rate of the first mode, and takes a time that grows like ln n."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from usaav.claims.evidence import Evidence
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.metrics.modes import crossing_time, growth_rate
from usaav.theory import mode_growth_rate

_PLACE = "(mean-field limit; linearisation around the uniform law)"
GROWTH = Statement(
    "",
    "In gauge coordinates the mean token grows, while small, at the rate of the first mode; as a fraction of "
    f"it {_PLACE}.",
)
LOGARITHM = Statement(
    "logarithm",
    "The time to collapse grows with n like ln n / (2 r_1): the slope over ln n as a fraction of that "
    f"{_PLACE}.",
)
#: collapse: the mean token in gauge coordinates has passed this length
COLLAPSED = 0.5


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    linear: float = 0.15,
    least_growth: int = 256,
    slope: float = 0.1,
    least_slope: int = 4096,
) -> list[Verdict]:
    """Median growth rate of the first mode, and slope of the collapse time over ln n, against theory.

    Parameters
    ----------
    cases
        Of experiments that record at least one mode, with several n for each variant.
    tolerance
        Largest relative deviation of the median growth rate.
    linear
        Amplitude up to which growth counts as linear.
    least_growth, least_slope
        Smallest n at which growth is judged, and from which on the slope is.
    slope
        Largest relative deviation of the slope.
    """
    verdicts: list[Verdict] = []
    times: dict[tuple[Any, float], list[tuple[float, float]]] = defaultdict(list)
    for case in cases:
        settings = case.case.settings
        rate = mode_growth_rate(1, case.kernel.beta, settings.dim)
        dataset = case.dataset()
        amplitude = dataset["mode_amplitude"].sel(degree=1).transpose("run", "time").values
        tau = dataset["time"].values
        if settings.n_tokens >= least_growth:
            growth = np.array([growth_rate(tau, row, row < linear) for row in amplitude]) / rate
            known = growth[np.isfinite(growth)]
            notes = [f"median of {len(known)} runs"]
            middle = float(np.median(known)) if len(known) else np.nan
            verdicts.append(judge(GROWTH, case.where, middle, 1.0, tolerance, notes))
        if settings.n_tokens >= least_slope:
            passed = [crossing_time(tau, row, COLLAPSED) for row in amplitude]
            where = (case.case.parameters.get("variant", ""), 1.0 / (2.0 * rate))
            times[where] += [(np.log(settings.n_tokens), time) for time in passed if np.isfinite(time)]
    for (variant, expected), points in times.items():
        x, y = np.array(points).T
        notes = [f"{len(points)} runs with n >= {least_slope}"]
        measured = float(np.polyfit(x, y, 1)[0]) / expected if len(np.unique(x)) > 1 else np.nan
        verdicts.append(
            judge(LOGARITHM, f"{cases[0].case.experiment}/{variant}", measured, 1.0, slope, notes)
        )
    return verdicts
