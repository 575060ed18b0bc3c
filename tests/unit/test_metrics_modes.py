"""Growth and first clusters of modes, and angles on an orbit, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import usaav
from usaav.errors import DataError
from usaav.metrics.modes import (
    collapse_times,
    crossing_time,
    density_peak_counts,
    first_cluster_counts,
    growth_rate,
    levelled_collapse_times,
    mean_times,
    mode_amplitudes,
    mode_growth,
    total_amplitude,
)
from usaav.metrics.realised import orbit_angles, orbit_frequency

TIMES = np.linspace(0.0, 2.0, 21)


def dataset(rates, degrees=3, start=1e-3):
    """Runs in which mode k grows at rates[run][k - 1] from `start`."""
    amplitudes = start * np.exp(np.array(rates)[:, None, :degrees] * TIMES[None, :, None])
    return xr.Dataset(
        {
            "mode_amplitude": (("run", "time", "degree"), amplitudes),
            "mode_phase": (("run", "time", "degree"), np.zeros_like(amplitudes)),
        },
        coords={"time": TIMES, "degree": np.arange(1, degrees + 1)},
    )


def test_growth_is_measured_while_all_amplitudes_together_are_small():
    data = dataset([[1.0, 2.0, 0.0], [0.5, 3.0, 0.0]])
    np.testing.assert_allclose(mode_growth(data, 2, 0.25), [2.0, 3.0])
    np.testing.assert_allclose(total_amplitude(data)[:, 0], np.sqrt(3.0) * 1e-3)
    assert np.isnan(mode_growth(data, 1, 1e-3)).all()
    with pytest.raises(DataError, match="modes up to degree 3 are recorded, 4 is needed: raise mode_degrees"):
        mode_growth(data, 4, 0.25)
    with pytest.raises(DataError, match="no mode amplitudes are recorded"):
        mode_amplitudes(data.drop_vars("mode_amplitude"))


def test_growth_stops_at_the_first_large_value():
    amplitude = np.exp(3.0 * TIMES)
    small = TIMES < 1.0
    small[-1] = True
    assert growth_rate(TIMES, amplitude, small) == pytest.approx(3.0)
    assert growth_rate(TIMES, amplitude, np.ones(21, dtype=bool)) == pytest.approx(3.0)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_first_clusters_are_those_of_the_mode_that_saturates(k):
    rates = [[4.0 if degree == k else 0.0 for degree in (1, 2, 3)]]
    counts = first_cluster_counts(dataset(rates), beta=2.0, saturated=0.5)
    np.testing.assert_array_equal(counts, [k])


def test_a_run_that_does_not_saturate_has_no_count():
    assert np.isnan(first_cluster_counts(dataset([[0.1, 0.1, 0.1]]), beta=2.0, saturated=0.5)).all()


def test_the_density_has_the_maxima_of_its_noise_too():
    # modes 1 and 3 at equal strength: the kernel suppresses mode 3, the density does not
    data = dataset([[3.2, 0.0, 3.2]])
    np.testing.assert_array_equal(density_peak_counts(data, saturated=0.5), [3])
    np.testing.assert_array_equal(first_cluster_counts(data, beta=0.5, saturated=0.5), [1])
    assert np.isnan(density_peak_counts(data, saturated=5.0)).all()


def test_collapse_times_are_those_of_the_mean_token():
    times = collapse_times(dataset([[4.0, 9.0, 9.0], [0.1, 9.0, 9.0]]), 0.5)
    assert times[0] == pytest.approx(np.log(500.0) / 4.0, abs=0.01)
    assert np.isnan(times[1])


@pytest.mark.parametrize("dim", [2, 3])
def test_levelled_times_are_those_of_a_start_of_typical_length(dim: int):
    """Runs that differ in their starts alone all collapse at one time, the mean over many uniform draws."""
    rate, n, runs, tau = 2.0, 400, 1000, np.linspace(0.1, 6.1, 1201)
    draws = np.random.default_rng(0).normal(size=(runs, n, dim))
    means = (draws / np.linalg.norm(draws, axis=2, keepdims=True)).mean(axis=1)
    lengths = np.linalg.norm(means, axis=1)[:, None] * np.exp(rate * tau)
    data = xr.Dataset(
        {
            "mode_amplitude": (("run", "time", "degree"), lengths[:, :, None]),
            "mean_token": (("run", "time", "component"), np.zeros((runs, len(tau), dim))),
        },
        coords={"time": tau},
        attrs={"n_tokens": n},
    )
    times = levelled_collapse_times(data, 0.5, rate)
    assert np.ptp(times) < 1e-4
    plain = collapse_times(data, 0.5)
    error = plain.std() / np.sqrt(len(plain))
    assert times.mean() == pytest.approx(plain.mean(), abs=4.0 * error)


def test_mean_times_leave_out_sizes_with_a_run_that_ended_before():
    nan = float("nan")
    runs = [(16, [9.0]), (64, [2.0, 4.0]), (256, [5.0]), (256, [5.0, 5.0]), (1024, [6.0, nan, 6.0])]
    means = mean_times(((size, np.array(times)) for size, times in runs), least=64)
    np.testing.assert_allclose(means.log_sizes, np.log([64, 256]))
    np.testing.assert_allclose(means.times, [3.0, 5.0])
    np.testing.assert_allclose(means.runs, [2.0, 3.0])
    assert (means.measured, means.censored) == (7, 1)
    assert means.slope() == pytest.approx(2.0 / np.log(4.0))
    assert means.height(means.slope()) == pytest.approx(3.0 - 2.0 * np.log(64.0) / np.log(4.0))
    assert np.isnan(mean_times(iter([(64, np.array([1.0]))]), least=64).slope())


def test_a_mean_over_more_runs_counts_for_more():
    sizes, slopes = np.exp([1.0, 2.0, 3.0]), []
    for runs in (1, 100):
        times = [np.full(runs, 1.0), np.full(runs, 2.0), np.array([5.0])]
        slopes.append(mean_times(zip(sizes.round(9), times, strict=True), least=1).slope())
    assert slopes[0] == pytest.approx(2.0)
    assert slopes[1] < 1.1


def test_crossings_are_linear_between_outputs():
    assert crossing_time(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.2, 1.0]), 0.6) == pytest.approx(1.5)
    assert np.isnan(crossing_time(TIMES, np.full(21, 0.1), 0.5))
    assert np.isnan(crossing_time(TIMES, np.full(21, 0.9), 0.5))


def test_angles_on_the_orbit_are_those_of_the_labels():
    kernel = usaav.kernel({"type": "rope", "beta": 1, "planes": [[0, 1]], "frequencies": [2]})
    labels = np.array([0.0, 0.4, 1.0, 3.5])
    u = np.array([0.48, 0.64, 0.6])
    tokens = usaav.theory.predicted_tokens(kernel, labels, u)
    np.testing.assert_allclose(
        orbit_angles(kernel, tokens, labels), np.mod(2.0 * labels, 2 * np.pi), atol=1e-12
    )
    assert orbit_frequency(kernel) == 2.0
    with pytest.raises(DataError, match="need RoPE with one plane of rotation"):
        orbit_angles(usaav.kernel({"type": "usa", "beta": 1}), tokens, labels)
