"""Prefix: as many clusters as prompts, in the figure of their targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.claims.evidence import Evidence, selected
from usaav.claims.orbit import ENERGY, prediction
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.errors import DataError
from usaav.metrics import cluster_count
from usaav.metrics.token_data import angles

Array = NDArray[np.float64]

_PLACE = "(fixed prompt insertion; gauge-level universality)"
COUNT = Statement("count", f"The tokens end in as many clusters as there are different targets {_PLACE}.")
CENTRES = Statement("", f"The cluster of each prompt has its centre at G^T u, one u per run {_PLACE}.", "rad")


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    angle: float = 0.1,
    energy: float | None = 1e-6,
    select: Mapping[str, Any] | None = None,
) -> list[Verdict]:
    """Number of clusters, and the largest angle between a prompt's mean token and its prediction.

    Parameters
    ----------
    cases
        Of prefix kernels.
    tolerance
        Radians, for the centres.
    angle
        Radians below which tokens share a cluster.
    energy
        Largest relative gap of the energy to its maximum; None: not judged.
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
            raise DataError(f"{case.where}: check prefix_clusters needs a kernel with prompts")
        expected = prediction(case.kernel, final)
        counts = cluster_count(final.tokens, angle), cluster_count(expected, angle)
        verdicts.append(judge(COUNT, case.where, *counts, 0.0))
        gaps = [_widest_gap(*run) for run in zip(final.tokens, expected, final.labels, strict=True)]
        verdicts.append(judge(CENTRES, case.where, gaps, 0.0, tolerance))
        if energy is not None:
            share = case.at("energy") / case.at("energy_maximum")
            verdicts.append(judge(ENERGY, case.where, share, 1.0, energy))
    return verdicts


def _widest_gap(tokens: Array, expected: Array, prompts: Array) -> float:
    """Largest angle between the mean token of a prompt and its predicted place, for one run."""
    gaps = []
    for prompt in np.unique(prompts):
        mine = prompts == prompt
        centre = tokens[mine].mean(axis=0)
        gaps.append(float(angles(centre / np.linalg.norm(centre), expected[mine][0])))
    return max(gaps)
