"""One row of the table of claims, and how a row is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Relation = Literal["=", "<", ">"]
Statistic = Literal["worst", "median"]

#: columns of results/claims.csv
COLUMNS = (
    "id",
    "claim",
    "case",
    "seeds",
    "predicted",
    "measured",
    "median",
    "tolerance",
    "holds",
    "relation",
    "judged",
    "unit",
    "figure",
    "note",
)


@dataclass(frozen=True)
class Statement:
    """What is claimed, the same for all cases that it is checked on.

    Attributes
    ----------
    part
        Short name within its claim, part of the id; empty for a claim's main statement.
    claim
        A sentence, ending with the paper's place in brackets.
    unit
        Unit of predicted, measured, median and tolerance; 1 for plain numbers.
    relation
        ``=``: measured within the tolerance of predicted; ``<`` and ``>``: measured below or above predicted,
        or wrong by not more than the tolerance.
    """

    part: str
    claim: str
    unit: str = "1"
    relation: Relation = "="


@dataclass(frozen=True)
class Verdict:
    """A statement checked on one case.

    Attributes
    ----------
    statement
        What is claimed.
    case
        Experiment and case.
    seeds
        Number of runs that were looked at.
    predicted, measured
        Those of the worst run; NaN where no run could be measured.
    median
        Median of what was measured.
    tolerance
        Largest deviation that holds.
    holds
        Whether what is judged is within it, and enough runs could be measured (see :func:`judge`).
    note
        Counts and circumstances for the reader.
    judged
        What is: the worst run or the median.
    """

    statement: Statement
    case: str
    seeds: int
    predicted: float
    measured: float
    median: float
    tolerance: float
    holds: bool
    note: str
    judged: Statistic = "worst"

    def row(self, claim_id: str, figure: str) -> dict[str, object]:
        """The row of the table, by column."""
        statement = self.statement
        return {
            "id": f"{claim_id}.{statement.part}" if statement.part else claim_id,
            "claim": statement.claim,
            "case": self.case,
            "seeds": self.seeds,
            "predicted": self.predicted,
            "measured": self.measured,
            "median": self.median,
            "tolerance": self.tolerance,
            "holds": self.holds,
            "relation": statement.relation,
            "judged": self.judged,
            "unit": statement.unit,
            "figure": figure,
            "note": self.note,
        }


def judge(
    statement: Statement,
    case: str,
    values: ArrayLike,
    predicted: ArrayLike,
    tolerance: float,
    notes: Sequence[str] = (),
    *,
    statistic: Statistic = "worst",
    runs: int | None = None,
    missing: str = "did not get there",
) -> Verdict:
    """Judge what was measured in each run.

    Parameters
    ----------
    statement
        What is claimed.
    case
        Experiment and case.
    values
        Measured, one per run, shape ``(runs,)``; NaN where a run ended before it could be measured. Such runs
        are counted in the note and never averaged in.
    predicted
        One for all runs, or one per run.
    tolerance
        Largest deviation that holds.
    notes
        Remarks, joined with semicolons.
    statistic
        ``worst``: every run must be measured and within the tolerance. ``median``: the median of the runs
        must be, for what the theory says of many tokens and single runs scatter about, and at least half of
        the runs must be measured; the row still tells the worst of them.
    runs
        Number of runs behind the values, where it is not the number of values.
    missing
        Why runs have no value, for the note.
    """
    measured = np.atleast_1d(np.asarray(values, dtype=np.float64))
    wanted = np.broadcast_to(np.asarray(predicted, dtype=np.float64), measured.shape)
    seeds = len(measured) if runs is None else runs
    known = np.isfinite(measured) & np.isfinite(wanted)
    remarks = [*notes, *(["judged on the median"] if statistic == "median" else [])]
    if not np.all(known):
        remarks.append(counted(int(known.sum()), len(known), missing))
    note = "; ".join(remarks)
    if not np.any(known):
        return Verdict(statement, case, seeds, np.nan, np.nan, np.nan, tolerance, False, note, statistic)
    deviations = _deviations(statement.relation, measured[known], wanted[known])
    worst, middle = int(np.argmax(deviations)), float(np.median(measured[known]))
    if statistic == "median":
        off = _deviations(statement.relation, np.array([middle]), np.median(wanted[known], keepdims=True))
        holds = 2 * int(known.sum()) >= len(known) and float(off[0]) <= tolerance
    else:
        holds = bool(np.all(known)) and float(deviations[worst]) <= tolerance
    expected, extreme = float(wanted[known][worst]), float(measured[known][worst])
    return Verdict(statement, case, seeds, expected, extreme, middle, tolerance, holds, note, statistic)


def judge_growth(
    statement: Statement, where: str, growth: Array, tolerance: float, notes: Sequence[str] = ()
) -> Verdict:
    """The median over runs of growth rates as fractions of theory; NaN for a run not linear for long."""
    missing = "were linear for less than three outputs"
    return judge(statement, where, growth, 1.0, tolerance, notes, statistic="median", missing=missing)


def counted(known: int, runs: int, missing: str = "did not get there") -> str:
    """The remark on runs that have no value, and why."""
    return f"{known} of {runs} measured; {runs - known} {missing}"


def _deviations(relation: Relation, measured: Array, wanted: Array) -> Array:
    if relation == "=":
        return np.asarray(np.abs(measured - wanted))
    return measured - wanted if relation == "<" else wanted - measured
