"""Growth and first clusters of modes, and angles on an orbit, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import usaav
from usaav.errors import DataError
from usaav.metrics.modes import (
    crossing_time,
    first_cluster_counts,
    growth_rate,
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
