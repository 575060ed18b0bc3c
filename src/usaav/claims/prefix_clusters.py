"""Prefix: as many clusters as different targets, each at the image of u under its prompt's reflection."""

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
from usaav.metrics.clusters import components
from usaav.metrics.token_data import angles
from usaav.theory import predicted_tokens

Array = NDArray[np.float64]

#: radians below which two targets, or two tokens led to one, are the same
_SAME = 1e-9
#: largest angle at which clusters are told apart, whatever the tolerance
_WIDEST = 0.1
_PLACE = "(fixed prompt insertion; gauge-level universality)"
COUNT = Statement("count", f"The tokens end in as many clusters as there are different targets {_PLACE}.")
CENTRES = Statement("", f"The cluster of each prompt has its centre at G^T u, one u per run {_PLACE}.", "rad")


def check(
    cases: Sequence[Evidence],
    tolerance: float,
    *,
    angle: float | None = None,
    energy: float | None = 1e-6,
    select: Mapping[str, Any] | None = None,
) -> list[Verdict]:
    """Number of clusters, and the largest angle between a prompt's mean token and its prediction.

    The number is predicted by the targets alone. Where u happens to lie so that two of its images G_p^T u are
    nearer than `angle`, fewer clusters are counted, and the note says so.

    Parameters
    ----------
    cases
        Of prefix kernels.
    tolerance
        Radians, for the centres.
    angle
        Radians below which tokens share a cluster; None: the tolerance, and at most 0.1. Small, because the
        images of different targets may lie within a hundredth of a radian of one another.
    energy
        Largest relative gap of the energy to its maximum; None: not judged.
    select
        Fact -> wanted value(s) of the cases to judge; None: all.

    Raises
    ------
    DataError
        A case has no prompts.
    """
    near = min(tolerance, _WIDEST) if angle is None else angle
    verdicts = []
    for case in selected(cases, select):
        final = case.final()
        if final.labels is None:
            raise DataError(f"{case.where}: check prefix_clusters needs a kernel with prompts")
        expected = prediction(case.kernel, final)
        targets = predicted_tokens(case.kernel, final.labels, np.eye(final.tokens.shape[-1])[-1])
        notes = _near_images(targets, expected, near)
        counts = cluster_count(final.tokens, near), cluster_count(targets, _SAME)
        verdicts.append(judge(COUNT, case.where, *counts, 0.0, notes))
        gaps = [_widest_gap(*run) for run in zip(final.tokens, expected, final.labels, strict=True)]
        verdicts.append(judge(CENTRES, case.where, gaps, 0.0, tolerance))
        if energy is not None:
            share = case.at("energy") / case.at("energy_maximum")
            verdicts.append(judge(ENERGY, case.where, share, 1.0, energy))
    return verdicts


def _near_images(targets: Array, expected: Array, angle: float) -> list[str]:
    """A note on the runs in which the places of two different targets are nearer than `angle`."""
    gaps = [_smallest_gap(*run) for run in zip(targets, expected, strict=True)]
    close = [gap for gap in gaps if gap < angle]
    if not close:
        return []
    share = f"{len(close)} of {len(gaps)} runs"
    least = f"{angle:.3g} rad (least {min(close):.2g})"
    return [f"in {share} two predicted places are nearer than {least} and count as one"]


def _smallest_gap(targets: Array, expected: Array) -> float:
    """Smallest angle between the predicted places of two different targets, of one run; pi for one target."""
    from scipy.spatial import cKDTree

    _, first = np.unique(components(targets, _SAME), return_index=True)
    if len(first) < 2:
        return float(np.pi)
    distances, _ = cKDTree(expected[first]).query(expected[first], k=2)
    nearest = float(np.asarray(distances)[:, 1].min())
    return float(2.0 * np.arcsin(min(1.0, 0.5 * nearest)))


def _widest_gap(tokens: Array, expected: Array, prompts: Array) -> float:
    """Largest angle between the mean token of a prompt and its predicted place, for one run."""
    gaps = []
    for prompt in np.unique(prompts):
        mine = prompts == prompt
        centre = tokens[mine].mean(axis=0)
        gaps.append(float(angles(centre / np.linalg.norm(centre), expected[mine][0])))
    return max(gaps)
