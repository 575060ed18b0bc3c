"""Looped network: layers of step eta follow the flow to first order in eta, with the same ends."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from usaav.claims.evidence import Evidence
from usaav.claims.orbit import largest_angles, prediction
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.errors import DataError
from usaav.metrics.flow_distance import flow_distance

Array = NDArray[np.float64]

_PLACE = "(looped network as discretised flow)"
ORDER = Statement(
    "order",
    f"The distance between layers and flow is of first order in the step eta: the order measured {_PLACE}.",
)
VERDICT = Statement(
    "",
    f"Layers with a small step end where the flow does: every token at G^T u of its label {_PLACE}.",
    "rad",
)


def check(
    cases: Sequence[Evidence], tolerance: float, *, largest_step: float = 0.1, order: float = 0.2
) -> list[Verdict]:
    """Order of convergence between the two smallest steps; tokens at their predictions for small steps.

    Parameters
    ----------
    cases
        For each kernel one with method adaptive and some with method layers, all else equal.
    tolerance
        Radians, for the tokens.
    largest_step
        Steps up to this one are judged by their ends.
    order
        Largest deviation of the order from 1.

    Raises
    ------
    DataError
        Layers without a flow beside them.
    """
    families: dict[str, list[Evidence]] = defaultdict(list)
    for case in cases:
        families[_family(case)].append(case)
    verdicts = []
    for members in families.values():
        flows = [case for case in members if case.case.settings.method == "adaptive"]
        looped = sorted(
            (case for case in members if case.case.settings.step is not None), key=_step, reverse=True
        )
        if not flows:
            raise DataError(
                f"{members[0].where}: no case with method adaptive and the same settings beside it"
            )
        verdicts += _orders(flows[0], looped, order)
        for case in looped:
            if _step(case) <= largest_step * (1.0 + 1e-12):
                final = case.final()
                gaps = largest_angles(final.tokens, prediction(case.kernel, final))
                verdicts.append(judge(VERDICT, case.where, gaps, 0.0, tolerance, [f"eta = {_step(case):g}"]))
    return verdicts


def _step(case: Evidence) -> float:
    return case.case.settings.step or 0.0


def _family(case: Evidence) -> str:
    """What layers and the flow beside them have in common."""
    settings = case.case.settings.model_dump(mode="json", exclude={"method", "step"})
    return json.dumps(settings, sort_keys=True)


def _orders(flow: Evidence, looped: Sequence[Evidence], tolerance: float) -> list[Verdict]:
    """One verdict, on the two smallest steps; none if there are not two."""
    if len(looped) < 2:
        return []
    coarse, fine = looped[-2:]
    errors = [distances(case, flow) for case in (coarse, fine)]
    measured = np.log(errors[0] / errors[1]) / np.log(_step(coarse) / _step(fine))
    far, near = (float(np.median(error)) for error in errors)
    note = f"eta = {_step(coarse):g}, {_step(fine):g}: median distances {far:.3g}, {near:.3g}"
    return [judge(ORDER, fine.where, measured, 1.0, tolerance, [note])]


def distances(case: Evidence, flow: Evidence) -> Array:
    """Largest root mean square distance between the tokens of two cases at any stored time, ``(runs,)``."""
    tokens, exact = (
        one.dataset()["tokens"].transpose("run", ..., "token", "component").values for one in (case, flow)
    )
    return flow_distance(tokens, exact)
