"""How the modes around the uniform law grow, and how many clusters they form first.

All read the mode amplitudes that a dataset holds when its experiment sets ``mode_degrees``.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ive

from usaav.errors import DataError

Array = NDArray[np.float64]

#: angles of the circle at which the potential is looked at for maxima
_ANGLES = 4096


def mode_amplitudes(dataset: xr.Dataset) -> Array:
    """Amplitudes ``(runs, times, degrees)`` of degrees 1, 2, ... in gauge coordinates.

    Raises
    ------
    DataError
        None are recorded.
    """
    if "mode_amplitude" not in dataset:
        raise DataError("no mode amplitudes are recorded: set mode_degrees in the experiment")
    return np.asarray(dataset["mode_amplitude"].transpose("run", "time", "degree").values)


def total_amplitude(dataset: xr.Dataset) -> Array:
    """Root of the sum of squares over degrees, ``(runs, times)``."""
    return np.asarray(np.sqrt(np.sum(mode_amplitudes(dataset) ** 2, axis=2)))


def mode_growth(dataset: xr.Dataset, degree: int, linear: float) -> Array:
    """Growth rate ``(runs,)`` per tau of the mode of `degree` while the total amplitude is below `linear`.

    NaN for a run with less than three such times.

    Raises
    ------
    DataError
        The mode is not recorded.
    """
    amplitudes = mode_amplitudes(dataset)
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


def first_cluster_counts(dataset: xr.Dataset, beta: float, saturated: float) -> Array:
    """First cluster count ``(runs,)`` on the circle: maxima of the potential at saturation.

    Saturation is when the total amplitude passes `saturated`. The potential ``(1/n) sum_j exp(beta cos(theta
    - theta_j))`` is rebuilt from the recorded modes; its maxima are where tokens are drawn to, while the
    density itself has as many maxima as there is noise in it. NaN where the amplitude never gets that far.

    Raises
    ------
    DataError
        No modes are recorded.
    """
    total, recorded = total_amplitude(dataset), mode_amplitudes(dataset)
    phases = dataset["mode_phase"].transpose("run", "time", "degree").values
    degrees = dataset["degree"].values
    smoothing = ive(degrees, beta) / ive(0, beta)
    angles = np.linspace(0.0, 2.0 * np.pi, _ANGLES, endpoint=False)
    counts = np.full(len(total), np.nan)
    for run, amplitudes in enumerate(recorded):
        late = np.flatnonzero(total[run] >= saturated)
        if len(late) == 0:
            continue
        waves = np.cos(degrees[:, None] * angles[None, :] - phases[run, late[0]][:, None])
        potential = (smoothing * amplitudes[late[0]]) @ waves
        counts[run] = np.sum((potential > np.roll(potential, 1)) & (potential > np.roll(potential, -1)))
    return counts


def growth_rate(times: Array, amplitude: Array, linear: NDArray[np.bool_]) -> float:
    """Slope of ``ln amplitude`` over the leading stretch of `times` where `linear` holds.

    NaN below three times.
    """
    stretch = len(linear) if linear.all() else int(np.argmin(linear))
    if stretch < 3:
        return float("nan")
    return float(np.polyfit(times[:stretch], np.log(amplitude[:stretch]), 1)[0])


def crossing_time(times: Array, values: Array, level: float) -> float:
    """First time at which `values` pass `level`, linear between outputs; NaN if they never do."""
    above = np.flatnonzero(values >= level)
    if len(above) == 0 or above[0] == 0:
        return float("nan")
    after = int(above[0])
    share = (level - values[after - 1]) / (values[after] - values[after - 1])
    return float(times[after - 1] + share * (times[after] - times[after - 1]))
