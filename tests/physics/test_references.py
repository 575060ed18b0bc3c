"""Trajectories and closed forms that an independent high-precision program has left on file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from physics import examples, literal
from usaav import simulate
from usaav.kernels import kernel

FOLDER = Path(__file__).parent.parent / "data" / "reference"
TRAJECTORIES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "closed_forms")
CLOSED_FORMS = json.loads((FOLDER / "closed_forms.json").read_text())


def read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return data


def test_every_file_is_used() -> None:
    for name in TRAJECTORIES:
        assert {"kernel", "expected_tokens", "expected_energy", "oracle_error_estimate"} <= set(read(name)), (
            name
        )
    types = {read(name)["kernel"]["type"] for name in TRAJECTORIES}
    assert types == {"usa", "rope", "generalized_rope", "prefix", "distance_bias", "toeplitz"}
    assert len(TRAJECTORIES) >= 12
    assert set(CLOSED_FORMS) == {"two_cluster_time", "mode_growth_rate"}


def run_again(data: Any, **options: Any) -> Any:
    """The run of a reference file."""
    return simulate(kernel(data["kernel"]), data["tokens"], data["labels"], data["times"], **options)


@pytest.mark.parametrize("rtol", [1e-9, 1e-12])
@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("name", TRAJECTORIES)
def test_trajectory(name: str, backend: Any, rtol: float) -> None:
    data = read(name)
    run = run_again(data, normalization=data["normalization"], rtol=rtol, backend=backend)
    tolerance = 100.0 * data["oracle_error_estimate"] + rtol
    expected = np.array(data["expected_tokens"])
    assert np.abs(run["tokens"].values[0] - expected).max() < tolerance
    assert np.abs(run["energy"].values[0] / data["expected_energy"] - 1.0).max() < tolerance
    assert run["time"].values.tolist() == data["times"]


@pytest.mark.parametrize("name", ["usa", "usa_beta4_d2", "rope_d3", "generalized_rope", "prefix"])
def test_trajectory_on_the_spectral_field(name: str) -> None:
    data = read(name)
    run = run_again(data, field="spectral", backend="numba")
    assert run.attrs["field"] == "spectral"
    tolerance = 100.0 * data["oracle_error_estimate"] + 1e-9
    assert np.abs(run["tokens"].values[0] - np.array(data["expected_tokens"])).max() < tolerance
    assert np.abs(run["energy"].values[0] / data["expected_energy"] - 1.0).max() < tolerance


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("entry", CLOSED_FORMS["two_cluster_time"], ids=str)
def test_two_cluster_time(entry: dict[str, float], backend: Any) -> None:
    """The reported time at which two tokens cross an angle, from far below to far above one."""
    beta, start, end = entry["beta"], entry["phi0"], entry["phi1"]
    # the quadrature that other tests rely on
    assert literal.two_cluster_time(start, end, beta) == pytest.approx(entry["time"], rel=1e-13)
    run = simulate(
        kernel(examples.usa(beta)),
        examples.pair(start),
        times=[0.0, 1e300],
        merge_angle=end,
        rtol=1e-12,
        backend=backend,
    )
    # the contraction rate, seen up to a step after the crossing, is carried back to it with its dependence on
    # the angle, exact up to a part angle^4/32
    assert float(run["merge_time"][0, 0]) == pytest.approx(entry["time"], rel=max(1e-10, end**4 / 32.0))


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("entry", CLOSED_FORMS["mode_growth_rate"], ids=str)
def test_mode_growth_rate(entry: dict[str, float], backend: str) -> None:
    """A uniform cloud, displaced along the gradient of a harmonic, moves along it at the linear rate."""
    beta, degree, small = float(entry["beta"]), int(entry["k"]), 1e-5
    cloud, masses, gradient = (_circle if entry["dim"] == 2 else _sphere)(degree)
    right_hand_side = examples.system(examples.usa(beta), None, backend)

    def speed(displacement: float) -> float:
        displaced = cloud + displacement * gradient
        displaced /= np.linalg.norm(displaced, axis=1, keepdims=True)
        velocity = right_hand_side.rate * right_hand_side.velocity(displaced, masses)
        along = np.sum(masses[:, None] * velocity * gradient) / np.sum(masses[:, None] * gradient**2)
        return float(along)

    # to both sides, so that the quadratic response drops out
    rate = (speed(small) - speed(-small)) / (2.0 * small)
    # the cubic response is 1e-10 times a few thousand; below it the rounding of exp(beta) * 1e-16 / small
    assert rate == pytest.approx(entry["rate"], rel=1e-6, abs=1e-10 * math.exp(beta))


def _circle(degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    angle = np.arange(128) * 2.0 * math.pi / 128
    cloud = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    tangent = np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    return cloud, np.full(128, 1.0 / 128), np.sin(degree * angle)[:, None] * tangent


def _sphere(degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gauss-Legendre times equal angles: exact for harmonics up to degree 47; gradient of ``P_l(z)``."""
    height, share = np.polynomial.legendre.leggauss(24)
    angle = np.arange(48) * 2.0 * math.pi / 48
    z, turn = (grid.ravel() for grid in np.meshgrid(height, angle, indexing="ij"))
    flat = np.sqrt(1.0 - z**2)
    cloud = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)
    slope = np.polynomial.legendre.Legendre.basis(degree).deriv()(z)
    gradient = slope[:, None] * (np.eye(3)[2] - z[:, None] * cloud)
    return cloud, np.repeat(share / 2.0 / 48, 48), gradient
