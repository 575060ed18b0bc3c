"""Mode selection.

The fastest mode of the linearised mean field grows at its rate and sets the first cluster count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from usaav.claims.evidence import Evidence
from usaav.claims.verdict import Statement, Verdict, judge, judge_growth
from usaav.metrics.modes import density_peak_counts, first_cluster_counts, mode_growth
from usaav.theory import fastest_mode, mode_growth_rate

Array = NDArray[np.float64]

_PLACE = "(metastability: which number of clusters forms first)"
GROWTH = Statement(
    "",
    "From a uniform start the fastest mode grows at k^2 I_k(beta)/beta, or its counterpart on the sphere; "
    f"as a fraction of it {_PLACE}.",
)
COUNT = Statement(
    "count",
    "The first cluster count on the circle is that of the fastest mode; counted are the maxima of the "
    "potential, that is, of the density smoothed by the kernel, when the total amplitude of all modes "
    f"saturates {_PLACE}.",
    "clusters",
)


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    linear: float = 0.25,
    count: float = 1.0,
    largest_beta: float = 9.0,
    saturated: float = 0.5,
) -> list[Verdict]:
    """Median growth of the fastest mode within `tolerance` of theory; median first count within `count`.

    Parameters
    ----------
    cases
        With recorded mode amplitudes, in dimension 2 or 3.
    tolerance
        Largest relative deviation of the median growth rate.
    linear, saturated
        Total amplitude (root of the sum of squares) up to which growth is linear, and at which clusters are
        counted.
    count, largest_beta
        Largest deviation of the median count on the circle, and the largest beta at which it is judged.
    """
    verdicts = []
    for case in cases:
        dim, beta = case.case.settings.dim, case.kernel.beta
        fastest = fastest_mode(beta, dim)
        dataset = case.dataset()
        growth = mode_growth(dataset, fastest, linear) / mode_growth_rate(fastest, beta, dim)
        verdicts.append(judge_growth(GROWTH, case.where, growth, tolerance, [f"degree {fastest}"]))
        if dim == 2 and beta <= largest_beta:
            counts = first_cluster_counts(dataset, beta, saturated)
            notes = _count_notes(counts, density_peak_counts(dataset, saturated), saturated)
            verdicts.append(
                judge(COUNT, case.where, counts, float(fastest), count, notes, statistic="median")
            )
    return verdicts


def _count_notes(counts: Array, peaks: Array, saturated: float) -> list[str]:
    """At which amplitude is counted, what the runs have, and how many maxima the density itself has."""
    known = np.isfinite(counts)
    if not known.any():
        return []
    return [
        f"at total amplitude {saturated:g}",
        f"{int(counts[known].min())} to {int(counts[known].max())} in single runs",
        f"local maxima of the density itself, noise included: median {np.median(peaks[known]):g}",
    ]
