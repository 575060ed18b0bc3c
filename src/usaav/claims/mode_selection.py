"""Mode selection.

The fastest mode of the linearised mean field grows at its rate and sets the first cluster count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ive

from usaav.claims.evidence import Evidence
from usaav.claims.mean_field import growth_rate
from usaav.claims.verdict import Statement, Verdict, judge
from usaav.errors import DataError
from usaav.theory import fastest_mode, mode_growth_rate

Array = NDArray[np.float64]

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
        growth = growth_of(dataset, fastest, linear) / mode_growth_rate(fastest, beta, dim)
        known = growth[np.isfinite(growth)]
        notes = [f"degree {fastest}; median of {len(known)} runs"]
        middle = float(np.median(known)) if len(known) else np.nan
        verdicts.append(judge(GROWTH, case.where, middle, 1.0, tolerance, notes))
        if dim == 2 and beta <= largest_beta:
            counts = first_counts(dataset, beta, saturated)
            known = counts[np.isfinite(counts)]
            notes = (
                [f"median of {len(known)} runs, {int(known.min())} to {int(known.max())}"]
                if len(known)
                else []
            )
            middle = float(np.median(known)) if len(known) else np.nan
            verdicts.append(judge(COUNT, case.where, middle, float(fastest), count, notes))
    return verdicts


def growth_of(dataset: xr.Dataset, degree: int, linear: float) -> Array:
    """Growth rate ``(runs,)`` of the mode of `degree` while the total amplitude is below `linear`."""
    amplitudes = _amplitudes(dataset)
    if degree > amplitudes.shape[2]:
        raise DataError(
            f"modes up to degree {amplitudes.shape[2]} are recorded, {degree} is needed: raise mode_degrees"
        )
    total = total_amplitude(dataset)
    times = dataset["time"].values
    return np.array(
        [
            growth_rate(times, run[:, degree - 1], here < linear)
            for run, here in zip(amplitudes, total, strict=True)
        ]
    )


def total_amplitude(dataset: xr.Dataset) -> Array:
    """Root of the sum of squares over degrees, ``(runs, times)``."""
    return np.asarray(np.sqrt(np.sum(_amplitudes(dataset) ** 2, axis=2)))


def first_counts(dataset: xr.Dataset, beta: float, saturated: float) -> Array:
    """First cluster count ``(runs,)`` on the circle: maxima of the potential at saturation.

    Saturation is when the total amplitude passes `saturated`. The potential ``(1/n) sum_j exp(beta cos(theta
    - theta_j))`` is rebuilt from the recorded modes; its maxima are where tokens are drawn to, while the
    density itself has as many maxima as there is noise in it. NaN where the amplitude never gets that far.
    """
    total = total_amplitude(dataset)
    phases = dataset["mode_phase"].transpose("run", "time", "degree").values
    degrees = dataset["degree"].values
    smoothing = ive(degrees, beta) / ive(0, beta)
    angles = np.linspace(0.0, 2.0 * np.pi, 4096, endpoint=False)
    counts = np.full(len(total), np.nan)
    for run, amplitudes in enumerate(_amplitudes(dataset)):
        late = np.flatnonzero(total[run] >= saturated)
        if len(late) == 0:
            continue
        waves = np.cos(degrees[:, None] * angles[None, :] - phases[run, late[0]][:, None])
        potential = (smoothing * amplitudes[late[0]]) @ waves
        counts[run] = np.sum((potential > np.roll(potential, 1)) & (potential > np.roll(potential, -1)))
    return counts


def _amplitudes(dataset: xr.Dataset) -> Array:
    if "mode_amplitude" not in dataset:
        raise DataError("no mode amplitudes are recorded: set mode_degrees in the experiment")
    return np.asarray(dataset["mode_amplitude"].transpose("run", "time", "degree").values)
