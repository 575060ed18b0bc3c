"""Baseline: without labels all tokens collapse into one point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from usaav.claims.evidence import Evidence, selected
from usaav.claims.verdict import Statement, Verdict, judge

_PLACE = "(mode collapse of the model without auxiliary variables)"
DISTANCE = Statement(
    "", f"Without labels the tokens collapse: their Dirac distance vanishes by the end {_PLACE}."
)
ENERGY = Statement(
    "energy", f"The energy reaches its maximum exp(beta)/(2 beta), as a fraction of it {_PLACE}."
)


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    beta: float | None = None,
    energy: float | None = 1e-6,
    select: Mapping[str, Any] | None = None,
    time: float | None = None,
) -> list[Verdict]:
    """Dirac distance 0 within `tolerance`, energy at its maximum.

    Parameters
    ----------
    cases
        Of an experiment without labels.
    tolerance
        Of the Dirac distance.
    beta
        Judge only cases of this inverse temperature; of the others the note counts the runs that are still
        in several clusters, which large beta predicts. None: judge all.
    energy
        Largest relative gap of the energy to its maximum; None: not judged.
    select
        Fact -> wanted value(s) of the cases to judge; None: all. The others are not even reported.
    time
        tau at which to judge; None: the last.
    """
    looked_at = selected(cases, select)
    verdicts = []
    for case in selected(looked_at, None if beta is None else {"beta": beta}):
        notes = _still_apart(case, looked_at)
        distance = case.at("dirac_distance", time)
        verdicts.append(judge(DISTANCE, case.where, distance, 0.0, tolerance, notes))
        if energy is not None:
            share = case.at("energy", time) / case.at("energy_maximum", time)
            verdicts.append(judge(ENERGY, case.where, share, 1.0, energy))
    return verdicts


def _still_apart(judged: Evidence, cases: Sequence[Evidence]) -> list[str]:
    """How many runs of the cases that differ from `judged` in beta alone are still in several clusters."""
    notes = []
    for case in cases:
        same = {key: value for key, value in case.facts.items() if "beta" not in key}
        if case.facts["beta"] != judged.facts["beta"] and same.items() <= judged.facts.items():
            apart = int(np.sum(case.at("cluster_count") > 1))
            notes.append(
                f"beta = {case.facts['beta']:g} (not judged): "
                f"{apart} of {case.seeds} runs still in several clusters"
            )
    return notes
