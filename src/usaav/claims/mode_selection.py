"""Mode selection.

The fastest mode of the linearised mean field grows at its rate and sets the first cluster count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from usaav.claims.evidence import Evidence
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.metrics.modes import first_cluster_counts, mode_growth
from usaav.theory import fastest_mode, mode_growth_rate

_PLACE = "(metastability: which number of clusters forms first)"
GROWTH = Statement(
    "",
    "From a uniform start the fastest mode grows at k^2 I_k(beta)/beta, or its counterpart on the sphere; "
    f"as a fraction of it {_PLACE}.",
)
COUNT = Statement(
    "count", f"The first cluster count on the circle is that of the fastest mode {_PLACE}.", "clusters"
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
        known = growth[np.isfinite(growth)]
        notes = [f"degree {fastest}; median of {len(known)} runs"]
        middle = float(np.median(known)) if len(known) else np.nan
        verdicts.append(judge(GROWTH, case.where, middle, 1.0, tolerance, notes))
        if dim == 2 and beta <= largest_beta:
            counts = first_cluster_counts(dataset, beta, saturated)
            known = counts[np.isfinite(counts)]
            notes = (
                [f"median of {len(known)} runs, {int(known.min())} to {int(known.max())}"]
                if len(known)
                else []
            )
            middle = float(np.median(known)) if len(known) else np.nan
            verdicts.append(judge(COUNT, case.where, middle, float(fastest), count, notes))
    return verdicts
