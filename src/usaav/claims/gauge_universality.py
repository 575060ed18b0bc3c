"""Gauge-level universality: with a prompt per token, any points of the sphere are reached exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from usaav.claims.evidence import Evidence, selected
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.errors import DataError
from usaav.metrics.transport import wasserstein
from usaav.theory import predicted_tokens

REACHED = Statement(
    "",
    "From a start that is symmetric about the reference point, prompts lead the tokens to their targets: W2 "
    "between realised and target points is 0 (gauge-level universality of prompts).",
)


def check(
    cases: Sequence[Evidence], tolerance: float, *, select: Mapping[str, Any] | None = None
) -> list[Verdict]:
    """Chordal W2 distance between the tokens of each run and its targets.

    Parameters
    ----------
    cases
        Of prefix kernels, anchored at the start.
    tolerance
        Of the distance.
    select
        Fact -> wanted value(s) of the cases to judge; None: all.

    Raises
    ------
    DataError
        A case has no prompts.
    """
    verdicts = []
    for case in selected(cases, select):
        final = case.final()
        if final.labels is None:
            raise DataError(f"{case.where}: check gauge_universality needs a kernel with prompts")
        reference = np.eye(final.tokens.shape[-1])[-1]
        targets = predicted_tokens(case.kernel, final.labels, reference)
        distances = [wasserstein(*pair) for pair in zip(final.tokens, targets, strict=True)]
        verdicts.append(judge(REACHED, case.where, distances, 0.0, tolerance))
    return verdicts
