"""The O(n) field against the sum over pairs, alone and within runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from physics import examples
from usaav import simulate
from usaav.flow import dormand_prince, spectral
from usaav.flow.spectral import Moments, SpectralField, coefficients
from usaav.flow.spectral_system import SpectralSystem, crossover, tolerance_for
from usaav.flow.systems import Interaction
from usaav.kernels import kernel


@pytest.mark.parametrize("beta", [0.01, 1.0, 9.0, 100.0, 700.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_velocity_and_energy(dim: int, beta: float) -> None:
    """Unequal masses; the last block of tokens is not full."""
    n = 300
    z = examples.tokens(n, dim, 1)
    masses = np.random.default_rng(0).uniform(0.5, 1.5, n)
    masses /= masses.sum()
    field, direct = SpectralField(beta, dim, 1e-13), examples.system(examples.usa(beta), None)
    velocity = field.velocity(z, masses)
    assert np.abs(velocity - direct.velocity(z, masses)).max() < 2e-13
    assert np.abs(np.sum(velocity * z, axis=1)).max() < 1e-15
    energy = 0.5 * field.energy(z, masses) * math.exp(beta) / beta
    assert energy == pytest.approx(direct.energy(z, masses), rel=1e-11)


@pytest.mark.parametrize("beta", [0.1, 1.0, 9.0, 100.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_relative_accuracy_for_many_tokens(dim: int, beta: float) -> None:
    """At the tolerance that the default rtol asks for, relative to the largest velocity."""
    n = 2000
    z, masses = examples.tokens(n, dim, 2), np.full(n, 1.0 / n)
    wanted = examples.system(examples.usa(beta), None).velocity(z, masses)
    found = SpectralField(beta, dim, tolerance_for(1e-9)).velocity(z, masses)
    assert np.abs(found - wanted).max() < 1e-10 * np.abs(wanted).max()


@pytest.mark.parametrize("dim", [2, 3])
def test_poles_are_no_special_points(dim: int) -> None:
    z = np.concatenate([np.eye(dim), -np.eye(dim)])
    masses = np.arange(1.0, 2 * dim + 1)
    masses /= masses.sum()
    field, direct = SpectralField(4.0, dim, 1e-13), examples.system(examples.usa(4.0), None)
    assert np.abs(field.velocity(z, masses) - direct.velocity(z, masses)).max() < 1e-13


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10, 1e-13])
@pytest.mark.parametrize("dim", [2, 3])
def test_the_cut_keeps_the_tolerance(dim: int, tolerance: float) -> None:
    """Coincident tokens and one other, the worst case of a mean field."""
    for beta in (1.0, 25.0):
        for angle in (0.3 / math.sqrt(beta), 1.0 / math.sqrt(beta), 1.5):
            z, masses = examples.pair(angle, dim), np.array([0.999, 0.001])
            field, direct = SpectralField(beta, dim, tolerance), examples.system(examples.usa(beta), None)
            assert np.abs(field.velocity(z, masses) - direct.velocity(z, masses)).max() < max(
                tolerance, 1e-13
            )
    degrees = [len(coefficients(beta, dim, tolerance)) for beta in (0.1, 1.0, 10.0, 100.0)]
    assert degrees == sorted(degrees)


def test_the_expansion_exists_in_two_dimensions_and_three() -> None:
    with pytest.raises(ValueError, match="dim = 4: the spectral field exists for 2 and 3"):
        coefficients(1.0, 4, 1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_threads_change_nothing(dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are of fixed size, whatever the threads."""
    monkeypatch.setattr(spectral, "CHUNK", 64)
    z, masses = examples.tokens(300, dim, 1), np.full(300, 1 / 300)
    one, two = SpectralField(3.0, dim, 1e-12, 1), SpectralField(3.0, dim, 1e-12, 2)
    assert np.array_equal(one.velocity(z, masses), two.velocity(z, masses))
    assert one.energy(z, masses) == two.energy(z, masses)
    monkeypatch.undo()
    whole = SpectralField(3.0, dim, 1e-12).velocity(z, masses)
    assert np.abs(one.velocity(z, masses) - whole).max() < 1e-15


def test_stage_sums_are_the_plain_ones() -> None:
    z, rng = examples.tokens(150, 3, 1), np.random.default_rng(0)
    stages = rng.normal(size=(12, 150, 3))
    field = SpectralField(1.0, 3, 1e-10)
    row = dormand_prince.A[8, :8]
    one, other = field.displaced(z, stages[:8], row, 0.1), dormand_prince.displaced(z, stages[:8], row, 0.1)
    assert np.abs(one - other).max() < 1e-14
    expected = dormand_prince.largest_error(stages, 0.1)
    assert field.largest_error(stages, 0.1) == pytest.approx(expected, rel=1e-12)
    stages[4, 77, 1] = math.nan
    assert math.isnan(field.largest_error(stages, 0.1))
    assert field.largest_error(np.zeros((12, 4, 3)), 0.1) == 0.0


def test_moments_of_the_circle() -> None:
    angles, masses = np.array([0.3, 2.0, -1.0]), np.array([0.5, 0.2, 0.3])
    z = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    expected = [masses @ np.exp(-1j * degree * angles) for degree in range(5)]
    assert Moments(4, 2).of(z, masses) == pytest.approx(np.array(expected), abs=1e-15)


@pytest.mark.parametrize(("dim", "beta"), [(2, 9.0), (3, 4.0)])
def test_a_run_on_the_spectral_field_is_one_on_the_direct_field(dim: int, beta: float) -> None:
    """Through the first merges and the hand-over."""
    n, model = 700, kernel(examples.usa(beta))
    start, times = examples.tokens(n, dim, 0), [0.0, 0.05, 0.2, 0.6]
    spectral_run, direct_run = (
        simulate(model, start, times=times, field=field, rtol=1e-10) for field in ("spectral", "direct")
    )
    assert spectral_run.attrs["field"] == "spectral"
    assert direct_run.attrs["field"] == "direct"
    assert np.abs(spectral_run["tokens"].values - direct_run["tokens"].values).max() < 1e-7
    assert spectral_run["energy"].values == pytest.approx(direct_run["energy"].values, rel=1e-9)


def test_to_one_cluster_and_through_a_gauge() -> None:
    n, spec = 600, {"type": "rope", "beta": 9.0, "planes": [(0, 1)], "frequencies": [1.0]}
    labels, model = np.linspace(0.0, 6.0, n), kernel(spec)
    run = simulate(model, examples.tokens(n, 2, 3), labels, [0.0, 1e300], field="spectral")
    assert run.sizes["merge"] + int(run["unrecorded_merges"][0]) == n - 1
    z = model.to_gauge(run["tokens"].values[0, -1], labels)
    assert np.abs(z - z[0]).max() < 1e-14
    assert float(run["energy"][0, -1]) == pytest.approx(math.exp(9.0) / 18.0, rel=1e-12)


def test_layers_on_the_spectral_field() -> None:
    model, start = kernel(examples.usa(2.0)), examples.tokens(600, 3, 0)
    runs = [
        simulate(model, start, times=[0.0, 1.0], field=field, method="layers", step=0.1)["tokens"].values
        for field in ("spectral", "direct")
    ]
    assert np.abs(runs[0] - runs[1]).max() < 1e-10


def test_the_hand_over() -> None:
    interaction = Interaction(kernel(examples.usa(2.0)), None, False)
    system = SpectralSystem(interaction, 3, 1e-9, 100, 1)
    z, masses = examples.tokens(50, 3, 0), np.full(50, 0.02)
    field, energy = system.velocity(z, masses), system.energy(z, masses)
    assert not system.review(100)
    assert system.spectral
    assert system.review(99)
    assert not system.spectral
    assert not system.review(50)
    direct = examples.system(examples.usa(2.0), None)
    assert np.array_equal(system.velocity(z, masses), direct.velocity(z, masses))
    assert np.abs(field - direct.velocity(z, masses)).max() < 1e-10
    assert energy == pytest.approx(system.energy(z, masses), rel=1e-9)
    system.set_shift(1.0)
    direct.set_shift(1.0)
    assert np.array_equal(system.velocity(z, masses), direct.velocity(z, masses))
    system.keep(np.arange(3))
    seen = system.neighbours(z[:3], masses[:3], field[:3], 4.0, 4.0)
    assert len(seen.pairs) == 3


def test_the_fastest_contraction_is_bounded() -> None:
    """What caps the steps while pairs are not looked at."""
    system = SpectralSystem(Interaction(kernel(examples.usa(9.0)), None, False), 3, 1e-9, 0, 1)
    heavy = np.tile(examples.tokens(1, 3, 0), (2500, 1))
    seen = system.neighbours(heavy, np.full(2500, 1 / 2500), np.zeros((2500, 3)), 1e-6, 1e-18)
    assert seen.fastest == pytest.approx(1.0)
    assert seen.groups is not None
    assert not seen.groups.any()


@pytest.mark.parametrize("dim", [2, 3])
def test_compiling_changes_only_the_order_of_sums(dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled functions against their source, run by Python."""
    z, masses = examples.tokens(140, dim, 1), np.full(140, 1.0 / 140)
    stages, sample = np.random.default_rng(0).normal(size=(12, 140, dim)), examples.tokens(5, dim, 2)
    field = SpectralField(0.1, dim, 1e-6)

    def results() -> list[np.ndarray]:
        return [
            field.velocity(z, masses),
            np.array(field.energy(z, masses)),
            field.displaced(z, stages, dormand_prince.B, 0.1),
            np.array(field.largest_error(stages, 0.1)),
            np.array(spectral.largest_local_mass(z, masses, sample, -0.5)),
        ]

    fast = results()
    names = [name for name, item in vars(spectral).items() if hasattr(item, "py_func") and name != "exp2"]
    assert len(names) == 7
    for name in names:
        monkeypatch.setattr(spectral, name, getattr(spectral, name).py_func)
    for one, other in zip(results(), fast, strict=True):
        assert np.abs(one - other).max() < 1e-14


def test_tolerances() -> None:
    assert tolerance_for(1e-9) == pytest.approx(1e-12)
    assert tolerance_for(1e-2) == 1e-10
    assert tolerance_for(1e-14) == 1e-15
    assert crossover(1.0, 2, 1e-9) >= 512
