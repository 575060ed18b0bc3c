"""How the modes around the uniform law grow, and how many clusters they form first.

All read the mode amplitudes that a dataset holds when its experiment sets ``mode_degrees``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import digamma, ive

from usaav.errors import DataError

Array = NDArray[np.float64]

#: angles of the circle at which maxima are looked for
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
    - theta_j))``, that is, the density smoothed by the kernel itself, is rebuilt from the recorded modes; its
    maxima are where tokens are drawn to. NaN where the amplitude never gets that far.

    Raises
    ------
    DataError
        No modes are recorded.
    """
    smoothing = np.asarray(ive(dataset["degree"].values, beta) / ive(0, beta), dtype=np.float64)
    return _maxima(dataset, smoothing, saturated)


def density_peak_counts(dataset: xr.Dataset, saturated: float) -> Array:
    """Local maxima ``(runs,)`` of the density itself on the circle at saturation.

    To be read beside :func:`first_cluster_counts`: the density has all recorded modes at full strength, also
    those that hold but the noise of a finite sample, ``n^(-1/2)`` each, so that most of its maxima are noise.
    NaN where the total amplitude does not reach `saturated`.

    Raises
    ------
    DataError
        No modes are recorded.
    """
    return _maxima(dataset, np.ones(dataset.sizes["degree"]), saturated)


def _maxima(dataset: xr.Dataset, smoothing: Array, saturated: float) -> Array:
    """Local maxima ``(runs,)`` of the density whose modes are multiplied by `smoothing` ``(degrees,)``."""
    total, recorded = total_amplitude(dataset), mode_amplitudes(dataset)
    phases = dataset["mode_phase"].transpose("run", "time", "degree").values
    degrees = dataset["degree"].values
    angles = np.linspace(0.0, 2.0 * np.pi, _ANGLES, endpoint=False)
    counts = np.full(len(total), np.nan)
    for run, amplitudes in enumerate(recorded):
        late = np.flatnonzero(total[run] >= saturated)
        if len(late) == 0:
            continue
        waves = np.cos(degrees[:, None] * angles[None, :] - phases[run, late[0]][:, None])
        height = (smoothing * amplitudes[late[0]]) @ waves
        counts[run] = np.sum((height > np.roll(height, 1)) & (height > np.roll(height, -1)))
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


def collapse_times(dataset: xr.Dataset, collapsed: float) -> Array:
    """First tau ``(runs,)`` at which the mean token, in gauge coordinates, is `collapsed` long.

    Its length is the amplitude of degree 1. NaN for a run that ends before.

    Raises
    ------
    DataError
        No modes are recorded.
    """
    times = np.asarray(dataset["time"].values, dtype=np.float64)
    return np.array([crossing_time(times, row, collapsed) for row in mode_amplitudes(dataset)[:, :, 0]])


def levelled_collapse_times(dataset: xr.Dataset, collapsed: float, rate: float) -> Array:
    """First tau ``(runs,)`` at which the mean token would be `collapsed` long from a start of typical length.

    While small the mean token grows at `rate` per tau, so that a run whose start is longer than that of most
    samples of its size collapses earlier by the logarithm of the ratio over the rate. What a run owes to its
    draw is reckoned out here: nine tenths of the scatter between runs, while the mean over runs stays, as for
    n independent uniform tokens ``sqrt(n d) |mean z|`` has, for large n, the chi law of d degrees of freedom,
    whatever n.

    Raises
    ------
    DataError
        No modes are recorded.
    """
    dim = dataset.sizes["component"]
    typical = 0.5 * (digamma(0.5 * dim) + np.log(2.0 / dim))  # mean of ln(sqrt(n) |mean z|)
    start = np.log(mode_amplitudes(dataset)[:, 0, 0]) - rate * float(dataset["time"].values[0])
    luck = start + 0.5 * np.log(dataset.attrs["n_tokens"]) - typical
    return np.asarray(collapse_times(dataset, collapsed) + luck / rate, dtype=np.float64)


class MeanTimes(NamedTuple):
    """Mean collapse times against ln n.

    Attributes
    ----------
    log_sizes, times : (sizes,)
        ln n, increasing, and the mean over runs.
    runs : (sizes,)
        Number of runs in each mean: its weight in a fit, as the scatter of runs does not depend on n.
    measured, censored
        Numbers of runs of all sizes that collapsed and that ended before.
    """

    log_sizes: Array
    times: Array
    runs: Array
    measured: int
    censored: int

    def slope(self) -> float:
        """Of the weighted least squares line; NaN with less than two sizes."""
        if len(self.times) < 2:
            return float("nan")
        return float(np.polyfit(self.log_sizes, self.times, 1, w=np.sqrt(self.runs))[0])

    def height(self, slope: float) -> float:
        """Of the weighted least squares line of that slope, at n = 1."""
        return float(np.average(self.times - slope * self.log_sizes, weights=self.runs))


def mean_times(times: Iterable[tuple[int, Array]], least: int) -> MeanTimes:
    """Mean over runs for each n of at least `least`, of pairs of n and its collapse times.

    A size with a run that did not collapse has no mean, as that of the others would be too small; its runs
    are counted.
    """
    by_size: dict[int, list[float]] = {}
    for size, values in times:
        if size >= least:
            by_size.setdefault(size, []).extend(np.asarray(values, dtype=np.float64))
    known = {size: np.isfinite(values) for size, values in sorted(by_size.items())}
    whole = [size for size, mask in known.items() if mask.all()]
    measured = sum(int(mask.sum()) for mask in known.values())
    return MeanTimes(
        np.log(np.array(whole, dtype=np.float64)),
        np.array([np.mean(by_size[size]) for size in whole]),
        np.array([len(by_size[size]) for size in whole], dtype=np.float64),
        measured,
        sum(len(mask) for mask in known.values()) - measured,
    )
