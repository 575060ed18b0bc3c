"""The mean field: the collapse grows at the rate of the first mode, and takes a time that grows like ln n."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from usaav.claims.evidence import Evidence
from usaav.claims.verdict import Statement, Verdict, counted, judge, judge_growth
from usaav.metrics.modes import growth_rate, levelled_collapse_times, mean_times, mode_amplitudes
from usaav.theory import mode_growth_rate

Array = NDArray[np.float64]

_PLACE = "(mean-field limit; linearisation around the uniform law)"
GROWTH = Statement(
    "",
    "In gauge coordinates the mean token grows, while small, at the rate of the first mode; as a fraction of "
    f"it {_PLACE}.",
)
LOGARITHM = Statement(
    "logarithm",
    "The time to collapse, in the mean over runs, grows with n like ln n / (2 r_1): its slope over ln n as a "
    "fraction of that; what a run owes to the length of the mean token at its start, which differs from draw "
    f"to draw, is reckoned out {_PLACE}.",
)
#: collapse: the mean token in gauge coordinates has passed this length
COLLAPSED = 0.5


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    linear: float = 0.15,
    least_growth: int = 4096,
    slope: float = 0.05,
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
    families: dict[tuple[str, float], list[tuple[int, Array]]] = defaultdict(list)
    for case in cases:
        settings = case.case.settings
        rate = mode_growth_rate(1, case.kernel.beta, settings.dim)
        dataset = case.dataset()
        if settings.n_tokens >= least_growth:
            tau, lengths = dataset["time"].values, mode_amplitudes(dataset)[:, :, 0]
            growth = np.array([growth_rate(tau, row, row < linear) for row in lengths]) / rate
            verdicts.append(judge_growth(GROWTH, case.where, growth, tolerance))
        name = f"{cases[0].case.experiment}/{case.case.parameters.get('variant', 'all n')}"
        times = levelled_collapse_times(dataset, COLLAPSED, rate)
        families[name, rate].append((settings.n_tokens, times))
    for (name, rate), of_sizes in families.items():
        verdicts.append(_logarithm(name, of_sizes, rate, least_slope, slope))
    return verdicts


def _logarithm(
    where: str, times: Sequence[tuple[int, Array]], rate: float, least: int, tolerance: float
) -> Verdict:
    """Slope of the mean collapse time over ln n for n of at least `least`."""
    means = mean_times(times, least)
    runs = means.measured + means.censored
    notes = [f"one regression over the means of {len(means.times)} sizes, n >= {least}, {runs} runs"]
    if means.censored:
        notes.append(counted(means.measured, runs, "did not collapse, and their sizes are left out"))
    enough = 2 * means.measured >= runs
    measured = means.slope() * 2.0 * rate if enough else np.nan
    return judge(LOGARITHM, where, measured, 1.0, tolerance, notes, runs=runs)
