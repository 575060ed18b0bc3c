"""Conditional Diracisation: each slice of equal label collapses, the whole does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from usaav.claims.evidence import Evidence, selected
from usaav.claims.verdict import Statement, Verdict, judge

_PLACE = "(conditional Diracisation)"
SLICES = Statement("", f"The tokens of each label collapse: the widest slice has Dirac distance 0 {_PLACE}.")
MARGINAL = Statement("marginal", f"All tokens together do not collapse {_PLACE}.", relation=">")


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    marginal: float = 0.1,
    select: Mapping[str, Any] | None = None,
) -> list[Verdict]:
    """Largest slice distance 0 within `tolerance` while the marginal distance stays above `marginal`.

    Parameters
    ----------
    cases
        With labels that repeat.
    tolerance
        Of the largest slice's Dirac distance.
    marginal
        What the Dirac distance of all tokens must exceed.
    select
        Fact -> wanted value(s) of the cases to judge; None: all.
    """
    verdicts = []
    for case in selected(cases, select):
        slices = case.at("conditional_dirac_distance")
        verdicts.append(judge(SLICES, case.where, slices, 0.0, tolerance))
        verdicts.append(judge(MARGINAL, case.where, case.at("dirac_distance"), marginal, 0.0))
    return verdicts
