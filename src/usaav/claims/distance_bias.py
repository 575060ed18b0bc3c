"""Distance bias: a weight that is nowhere negative leads to collapse, soon or late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from usaav.claims.evidence import Evidence, matches
from usaav.claims.verdict import Statement, Verdict, judge

_PLACE = "(relative position bias that is nowhere negative)"
COLLAPSE = Statement("", f"With a wide bias the tokens collapse within the time that is looked at {_PLACE}.")
NO_RISE = Statement(
    "no_rise", f"The Dirac distance never ends above its start: end minus start {_PLACE}.", relation="<"
)
ENERGY = Statement(
    "energy",
    f"The energy of the runs that collapsed is that of a Dirac mass, as a fraction of it {_PLACE}.",
)


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    collapsed: Mapping[str, Any] | None = None,
    time: float | None = None,
    energy: float = 1e-5,
) -> list[Verdict]:
    """Collapse of the chosen cases; no rise in any; the energy of the runs that have collapsed.

    Parameters
    ----------
    cases
        Of weights that are nowhere negative.
    tolerance
        Dirac distance below which a run counts as collapsed.
    collapsed
        Fact -> wanted value(s) of the cases that must have collapsed; None: all.
    time
        tau by which they must have; None: the last.
    energy
        Largest relative gap of the energy of the runs that have collapsed.
    """
    verdicts = []
    for case in cases:
        if matches(case, collapsed):
            notes = [] if time is None else [f"at tau = {time:g}"]
            verdicts.append(
                judge(COLLAPSE, case.where, case.at("dirac_distance", time), 0.0, tolerance, notes)
            )
        end = case.at("dirac_distance")
        done = end < tolerance
        reached = f"collapsed by the end: {int(done.sum())} of {case.seeds} runs"
        # no row for the energy of no run: it would hold without having been tested
        notes = [reached if np.any(done) else f"{reached}, so no energy is judged"]
        start = case.at("dirac_distance", float(case.rows["time"].min()))
        verdicts.append(judge(NO_RISE, case.where, end - start, 0.0, 0.0, notes))
        if np.any(done):
            share = (case.at("energy") / case.at("energy_maximum"))[done]
            verdicts.append(judge(ENERGY, case.where, share, 1.0, energy, [reached]))
    return verdicts
