"""Gauges: every token ends where its label turns one common point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.claims.evidence import Evidence, Final, selected
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.kernels import Kernel
from usaav.metrics.dirac import chordal_distance
from usaav.metrics.token_data import angles
from usaav.theory import consensus, predicted_tokens

Array = NDArray[np.float64]

_PLACE = "(pushforward of the law of labels; orbit-wise universality)"
TOKENS = Statement("", f"Every token ends at G^T u of its label, for one point u of the run {_PLACE}.", "rad")
MARGINAL = Statement(
    "marginal", f"The Dirac distance of all tokens is sqrt(2 (1 - |mean|)) of the predicted law {_PLACE}."
)
ENERGY = Statement(
    "energy", f"Labels cost no energy: it reaches the maximum of the model without them {_PLACE}."
)


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    energy: float | None = 1e-6,
    select: Mapping[str, Any] | None = None,
) -> list[Verdict]:
    """Largest angle between a token and its prediction, the marginal's Dirac distance, the energy.

    Parameters
    ----------
    cases
        Of kernels with weight 1 and any gauge.
    tolerance
        Radians for the tokens; the same number for the Dirac distance.
    energy
        Largest relative gap of the energy to its maximum; None: not judged.
    select
        Fact -> wanted value(s) of the cases to judge; None: all.
    """
    verdicts = []
    for case in selected(cases, select):
        final = case.final()
        expected = prediction(case.kernel, final)
        verdicts.append(judge(TOKENS, case.where, largest_angles(final.tokens, expected), 0.0, tolerance))
        distances = chordal_distance(final.tokens), chordal_distance(expected)
        verdicts.append(judge(MARGINAL, case.where, *distances, tolerance))
        if energy is not None:
            share = case.at("energy") / case.at("energy_maximum")
            verdicts.append(judge(ENERGY, case.where, share, 1.0, energy))
    return verdicts


def prediction(kernel: Kernel, final: Final) -> Array:
    """Predicted tokens ``(runs, n, d)``, for the consensus of each run."""
    u = consensus(kernel, final.tokens, final.labels)
    if final.labels is None:
        return np.broadcast_to(u[:, None, :], final.tokens.shape)
    return predicted_tokens(kernel, final.labels, u)


def largest_angles(tokens: Array, expected: Array) -> Array:
    """Largest angle (radians) of each run, ``(runs,)``."""
    return np.asarray(angles(tokens, expected).max(axis=-1))
