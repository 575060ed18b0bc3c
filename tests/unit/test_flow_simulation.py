"""``simulate``: what it refuses, with what words, and what its Dataset holds."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from physics import examples
from usaav import simulate
from usaav.errors import ConfigError, DataError, SimulationError
from usaav.flow.variables import COORDINATES, VARIABLES
from usaav.kernels import Exponential, Kernel, kernel

USA = kernel(examples.usa(1.0))
ROPE = kernel(examples.kernels(3)["rope"])
START = examples.tokens(4, 3, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "euler"}, "method = 'euler': expected adaptive or layers"),
        ({"method": "layers"}, "step goes with method layers, and with no other"),
        ({"step": 0.1}, "step goes with method layers, and with no other"),
        ({"method": "layers", "step": 0.0}, r"step = 0\.0: expected a finite number > 0"),
        ({"method": "layers", "step": -1.0}, r"step = -1\.0: expected a finite number > 0"),
        ({"method": "layers", "step": math.inf}, "step = inf: expected a finite number > 0"),
        ({"method": "layers", "step": math.nan}, "step = nan: expected a finite number > 0"),
        ({"normalization": "l2"}, "normalization = 'l2': expected none or softmax"),
        ({"field": "tree"}, "field = 'tree': expected auto, direct or spectral"),
        ({"rtol": 1e-15}, r"rtol = 1e-15: expected a number from 1e-14 to 1e-2"),
        ({"rtol": 0.1}, r"rtol = 0\.1: expected a number from 1e-14 to 1e-2"),
        ({"rtol": math.nan}, "rtol = nan: expected a number"),
        ({"merge_angle": 1e-9}, "merge_angle = 1e-09: expected radians"),
        ({"merge_angle": 4.0}, r"merge_angle = 4\.0: expected radians"),
        ({"threads": 0}, "threads = 0: expected a whole number >= 1"),
        ({"times": []}, "times: expected a non-empty list of finite numbers"),
        ({"times": [0.0, math.nan]}, "times: expected a non-empty list of finite numbers"),
        ({"times": [0.0, math.inf]}, "times: expected a non-empty list of finite numbers"),
        ({"times": [[0.0, 1.0]]}, "times: expected a non-empty list of finite numbers"),
        ({"times": [-1.0, 1.0]}, "times: expected increasing numbers, the first >= 0"),
        ({"times": [0.0, 1.0, 1.0]}, "times: expected increasing numbers"),
        ({"times": [0.0, 2e300]}, "the last <= 1e300"),
        ({"snapshots": []}, "snapshots: expected increasing indices into the 2 times"),
        ({"snapshots": [0, 2]}, r"increasing indices into the 2 times, got \[0, 2\]"),
        ({"snapshots": [-1]}, "increasing indices into the 2 times"),
        ({"snapshots": [1, 0]}, "increasing indices into the 2 times"),
        ({"snapshots": [0, 0]}, "increasing indices into the 2 times"),
        ({"backend": "torch"}, "backend = 'torch'"),
        ({"method": "layers", "step": 0.3}, r"times: 20 is not a whole number of layers of step 0\.3"),
    ],
)
def test_bad_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        simulate(USA, START, **options)


def test_all_bad_settings_at_once() -> None:
    method: Any = "euler"
    with pytest.raises(ConfigError) as caught:
        simulate(USA, START, method=method, rtol=1.0, threads=0)
    for name in ("method", "rtol", "threads"):
        assert f"{name} = " in str(caught.value)


@pytest.mark.parametrize("beta", [700.5, 1e6, math.inf, math.nan])
def test_a_beta_that_does_not_fit(beta: float) -> None:
    with pytest.raises(ConfigError, match=r"expected 0\.01 to 700 \(exp\(beta\) must fit into a float64\)"):
        simulate(Kernel(Exponential(beta)), START)


@pytest.mark.parametrize("name", ["gaussian_circle", "toeplitz_linear", "prefix_with_bias_linear"])
def test_softmax_needs_the_exponential_profile_and_no_weight(name: str) -> None:
    model = kernel(examples.kernels(3)[name])
    with pytest.raises(ConfigError, match="softmax needs the exponential profile and the constant weight"):
        simulate(model, START, np.zeros(4), normalization="softmax")


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (np.ones(3), r"shape \(3,\): expected \(n, d\) or \(runs, n, d\)"),
        (np.ones((2, 2, 2, 2)), "expected"),
        (np.ones((4, 1)), "d >= 2"),
        (np.ones((0, 3)), "n >= 1"),
        (np.ones((0, 4, 3)), "expected"),
        ([[1.0, 0.0], [0.0, 1.1]], r"tokens\[0, 1\] has length 1\.1: expected unit vectors"),
        ([[1.0, 0.0], [0.0, 1.0 + 2e-8]], "divide each row by its length"),
        ([[1.0, 0.0], [0.0, math.nan]], r"tokens\[0, 1\] has length nan"),
        ([[0.0, 0.0], [0.0, 1.0]], r"tokens\[0, 0\] has length 0"),
        ([[[1.0, 0.0]], [[2.0, 0.0]]], r"tokens\[1, 0\] has length 2"),
    ],
)
def test_bad_tokens(tokens: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        simulate(USA, tokens)


def test_rows_that_are_nearly_unit_are_made_so() -> None:
    run = simulate(USA, START * (1.0 + 5e-9), times=[0.0, 1.0])
    assert np.abs(np.linalg.norm(run["tokens"].values, axis=-1) - 1.0).max() < 1e-15


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "labels is None: pass one number per token"),
        (np.zeros(3), r"labels have shape \(3,\): expected one per token"),
        (np.zeros((2, 4)), r"labels have shape \(2, 4\): expected \(4,\) or \(1, 4\)"),
        (np.zeros((1, 1, 4)), r"labels have shape \(1, 1, 4\): expected"),
        ([0.0, 1.0, math.nan, 2.0], "NaN or infinities"),
    ],
)
def test_bad_labels(labels: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        simulate(ROPE, START, labels)


def test_a_seed_for_each_run() -> None:
    with pytest.raises(DataError, match="seeds: 2 given for 1 runs; give one a run"):
        simulate(USA, START, seeds=[1, 2])


@dataclass(frozen=True)
class Broken:
    """A profile that returns NaN for tokens that come close."""

    beta: float = 0.0

    def value(self, inner: np.ndarray) -> np.ndarray:
        return inner

    def derivative(self, inner: np.ndarray) -> np.ndarray:
        return np.where(inner > 0.99, math.nan, 1.0)


@pytest.mark.parametrize("options", [{}, {"method": "layers", "step": 0.01}], ids=["adaptive", "layers"])
def test_a_run_that_fails_is_named(options: dict[str, Any]) -> None:
    starts = np.stack([[[1.0, 0.0], [-1.0, 0.0]], examples.pair(1.0, 2)])
    with pytest.raises(SimulationError, match=r"run 1 \(seed 17\): non-finite state .*tau = .*beta = 0"):
        simulate(Kernel(Broken()), starts, backend="numpy", seeds=[4, 17], **options)


def test_the_dataset_of_runs_with_labels() -> None:
    labels = np.array([0.0, 1.0, 0.0, 1.0])
    run = simulate(ROPE, np.stack([START, START]), labels, [0.0, 1.0, 1e300], seeds=[3, 5], mode_degrees=2)
    expected = set(VARIABLES) - {"merge_time"}
    assert expected <= set(run.data_vars) | {name for name in VARIABLES if name.startswith("merge_")}
    for name, variable in run.data_vars.items():
        dims, long_name, units = VARIABLES[str(name)]
        assert variable.dims == dims
        assert variable.attrs == {"long_name": long_name, "units": units}
        assert not name.startswith("merge") or run.sizes["merge"] == 3
    for name in run.coords:
        if name in COORDINATES:
            assert (run[name].attrs["long_name"], run[name].attrs["units"]) == COORDINATES[str(name)]
    assert run["seed"].values.tolist() == [3, 5]
    assert run["label"].values.tolist() == [labels.tolist()] * 2
    assert json.loads(run.attrs["kernel"]) == json.loads(json.dumps(ROPE.spec))
    wanted = {"method": "adaptive", "backend": "numba", "field": "direct", "merging": "all", "rtol": 1e-9}
    assert wanted.items() <= run.attrs.items()
    assert run.attrs["wall_seconds"] > 0.0


def test_observables_are_those_of_the_tokens() -> None:
    labels = np.array([0.0, 1.0, 0.0, 1.0])
    run = simulate(ROPE, START, labels, [0.0, 0.7, 3.0])
    for time in range(3):
        x = run["tokens"].values[0, time]
        mean = x.mean(axis=0)
        assert run["mean_token"].values[0, time] == pytest.approx(mean, abs=1e-15)
        centre = mean / np.linalg.norm(mean)
        spread = math.sqrt(np.mean(np.sum((x - centre) ** 2, axis=1)))
        assert float(run["dirac_distance"][0, time]) == pytest.approx(spread, abs=1e-13)
        slices = []
        for label in (0.0, 1.0):
            part = x[labels == label]
            centre = part.sum(axis=0) / np.linalg.norm(part.sum(axis=0))
            slices.append(math.sqrt(np.mean(np.sum((part - centre) ** 2, axis=1))))
        assert float(run["conditional_dirac_distance"][0, time]) == pytest.approx(max(slices), abs=1e-13)
        z = ROPE.to_gauge(x, labels)
        assert float(run["energy"][0, time]) == pytest.approx(
            0.5 * np.mean(ROPE.profile.value(z @ z.T)), rel=1e-13
        )


def test_what_is_left_out_where_it_means_nothing() -> None:
    run = simulate(USA, START, times=[0.0, 0.1])
    assert "conditional_dirac_distance" not in run  # no labels
    assert "merge_time" not in run  # nothing has merged yet
    assert "mode_amplitude" not in run
    assert run["label"].values.tolist() == [[0.0] * 4]
    distinct = simulate(ROPE, START, [0.0, 1.0, 2.0, 3.0], [0.0, 0.1])
    assert "conditional_dirac_distance" not in distinct  # each slice has one token
    layered = simulate(USA, START, times=[0.0, 1.0], method="layers", step=0.5)
    assert layered.attrs["merging"] == "none"


@pytest.mark.parametrize("dim", [2, 3])
def test_mode_amplitudes(dim: int) -> None:
    """Root of the mean Legendre (Chebyshev on the circle) polynomial of all pairs, in gauge coordinates."""
    spec = examples.kernels(dim)["rope"]
    labels, model = examples.labels_for(spec, 9, 0), kernel(spec)
    run = simulate(model, examples.tokens(9, dim, 1), labels, [0.0, 0.5], mode_degrees=6)
    assert run["degree"].values.tolist() == [1, 2, 3, 4, 5, 6]
    for time in range(2):
        z = model.to_gauge(run["tokens"].values[0, time], labels)
        inner = np.clip(z @ z.T, -1.0, 1.0)
        basis = np.polynomial.chebyshev.Chebyshev if dim == 2 else np.polynomial.legendre.Legendre
        expected = [math.sqrt(np.mean(basis.basis(degree)(inner))) for degree in range(1, 7)]
        assert run["mode_amplitude"].values[0, time] == pytest.approx(expected, rel=1e-9)
        if dim == 2:
            angles = np.arctan2(z[:, 1], z[:, 0])
            phases = [np.angle(np.mean(np.exp(1j * degree * angles))) for degree in range(1, 7)]
            assert np.exp(1j * run["mode_phase"].values[0, time]) == pytest.approx(
                np.exp(1j * np.array(phases))
            )


def test_mode_amplitudes_elsewhere() -> None:
    with pytest.raises(ConfigError, match="dimensions 2 and 3, not 5; set 0"):
        simulate(USA, examples.tokens(4, 5, 0), mode_degrees=3)


def test_inputs_are_left_as_they_were() -> None:
    start, labels, times = START.copy(), np.arange(4.0), np.array([0.0, 5.0])
    simulate(ROPE, start, labels, times)
    assert np.array_equal(start, START)
    assert labels.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert times.tolist() == [0.0, 5.0]
