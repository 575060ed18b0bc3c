"""The O(n) field against the sum over pairs, alone and within runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import usaav
from physics import examples
from usaav import simulate
from usaav.flow import dormand_prince, spectral
from usaav.flow.cells import group_close
from usaav.flow.spectral import Moments, SpectralField, coefficients
from usaav.flow.spectral_system import SpectralSystem, crossover, products_of, tolerance_for
from usaav.flow.systems import LARGEST_MATRIX, ArraySystem, Interaction
from usaav.kernels import kernel
from usaav.kernels.low_rank import products


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
    stages, place = np.random.default_rng(0).normal(size=(12, 140, dim)), examples.tokens(1, dim, 2)[0]
    field = SpectralField(0.1, dim, 1e-6)

    def results() -> list[np.ndarray]:
        return [
            field.velocity(z, masses),
            np.array(field.energy(z, masses)),
            field.displaced(z, stages, dormand_prince.B, 0.1),
            np.array(field.largest_error(stages, 0.1)),
            np.array(spectral.local_mass(z, masses, place, -0.5)),
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


WEIGHTS: dict[str, dict[str, Any]] = {
    "one cosine": {"type": "toeplitz", "coefficients": {1: 1.0}},
    "signs": {"type": "toeplitz", "coefficients": {0: 0.2, 1: -0.6, 3: 0.7}},
    "positive": {"type": "toeplitz", "coefficients": {0: 0.5, 2: 0.5}},
    "gaussian on a line": {"type": "distance_bias", "profile": "gaussian", "length": 2.0},
    "gaussian on a circle": {
        "type": "distance_bias",
        "profile": "gaussian",
        "length": 0.4,
        "period": 2.0 * math.pi,
    },
}


def weighted(name: str, beta: float) -> dict[str, Any]:
    """A kernel with one of the weights above, and the exponential profile."""
    spec = WEIGHTS[name]
    return {**spec, "beta": beta, **({"phi": "exponential"} if spec["type"] == "toeplitz" else {})}


@pytest.mark.parametrize("beta", [0.1, 1.0, 9.0, 100.0])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_of_few_products_against_the_sum_over_pairs(name: str, dim: int, beta: float) -> None:
    """At the tolerance that the default rtol asks for, relative to the largest velocity.

    Where signs cancel, an energy has the scale of its terms.
    """
    n, tolerance = 2000, tolerance_for(1e-9)
    z, masses = examples.tokens(n, dim, 2), np.full(n, 1.0 / n)
    labels = np.random.default_rng(3).uniform(0.0, 2.0 * math.pi, n)
    direct, weight = examples.system(weighted(name, beta), labels), kernel(weighted(name, beta)).weight
    found = products(weight, labels, tolerance)
    assert found is not None
    field = SpectralField(beta, dim, tolerance, 1, found.signs, found.factors(labels))
    wanted = direct.velocity(z, masses)
    assert np.abs(field.velocity(z, masses) - wanted).max() < 1e-10 * np.abs(wanted).max()
    energy = 0.5 * field.energy(z, masses) * math.exp(beta) / beta
    terms = 0.5 * math.exp(beta) / beta * float(np.abs(weight.between(labels, labels)).mean())
    assert energy == pytest.approx(direct.energy(z, masses), abs=1e-11 * terms)


def test_threads_change_nothing_with_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectral, "CHUNK", 64)
    z, masses = examples.tokens(300, 3, 1), np.full(300, 1 / 300)
    factors = np.random.default_rng(0).normal(size=(3, 300))
    one, two = (SpectralField(3.0, 3, 1e-12, k, np.array([1.0, -1.0, 1.0]), factors) for k in (1, 2))
    assert np.array_equal(one.velocity(z, masses), two.velocity(z, masses))
    assert one.energy(z, masses) == two.energy(z, masses)


@pytest.mark.parametrize(("name", "dim"), [("signs", 2), ("gaussian on a line", 3)])
def test_a_weighted_run_on_the_spectral_field_is_one_on_the_direct_field(name: str, dim: int) -> None:
    """With labels that some tokens share, so that there are merges."""
    n, model = 600, kernel(weighted(name, 4.0))
    labels = np.round(np.random.default_rng(3).uniform(0.0, 2.0 * math.pi, n), 1)
    start, times = examples.tokens(n, dim, 0), [0.0, 0.1, 0.3, 0.6]
    spectral_run, direct_run = (
        simulate(model, start, labels, times, field=field, rtol=1e-10) for field in ("spectral", "direct")
    )
    assert spectral_run.attrs["weight_rank"] > 1
    assert np.abs(spectral_run["tokens"].values - direct_run["tokens"].values).max() < 1e-7
    assert spectral_run["energy"].values == pytest.approx(direct_run["energy"].values, rel=1e-9)


def test_more_labelled_tokens_than_a_matrix_takes() -> None:
    """They meet in one point, which ends the run although different labels do not merge."""
    n, model = LARGEST_MATRIX + 100, kernel(weighted("positive", 1.0))
    labels = usaav.labels({"law": "grid"}, n_tokens=n)
    start = examples.tokens(n, 3, 0)
    start[:, 2] = 3.0
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    run = simulate(model, start, labels, [0.0, 1e3], rtol=1e-6, snapshots=[1])
    assert (run.attrs["backend"], run.attrs["field"]) == ("numba", "spectral")
    ends = run["tokens"].values[0, -1]
    assert np.abs(ends - ends[0]).max() < 1e-12
    assert float(run["handover_time"][0]) == -1.0


def test_cells_keep_labels_apart() -> None:
    """Two pairs at two points; at one of them the labels differ."""
    z = np.repeat(np.eye(3)[:2], 2, axis=0)
    labels, still = np.array([1.0, 1.0, 1.0, 2.0]), np.zeros((4, 3))
    groups = group_close(z, np.full(4, 0.25), still, 1e-9, labels)
    assert groups is not None
    assert groups.tolist() == [0, 0, 1, 2]
    assert group_close(z, np.full(4, 0.25), still, 1e-9, np.arange(4.0)) is None


def test_the_matrix_of_weights_waits_for_the_hand_over() -> None:
    n = 200
    labels = np.random.default_rng(0).uniform(0.0, 6.0, n)
    interaction = Interaction(kernel(weighted("signs", 2.0)), labels, False)
    system = SpectralSystem(interaction, 3, 1e-9, 100, 1, products_of(interaction, 1e-9))
    z, masses, rows = examples.tokens(n, 3, 0), np.full(n, 1.0 / n), np.arange(0, n, 3)
    system.keep(rows)
    field = system.velocity(z[rows], masses[rows])
    assert system.spectral
    assert system.review(len(rows))
    assert np.abs(system.velocity(z[rows], masses[rows]) - field).max() < 1e-12
    many = Interaction(interaction.kernel, np.linspace(0.0, 6.0, LARGEST_MATRIX + 1), False)
    large = SpectralSystem(many, 3, 1e-9, LARGEST_MATRIX + 2, 1, products_of(many, 1e-9))
    assert large.review(LARGEST_MATRIX + 1)
    assert isinstance(large._direct, ArraySystem)


def test_forces_below_the_accuracy_are_handed_over() -> None:
    """Clusters on six axes do not feel one another at this beta; two that are 0.2 apart do."""
    interaction, axes = Interaction(kernel(examples.usa(100.0)), None, False), np.eye(3)
    near = np.array([math.cos(0.2), math.sin(0.2), 0.0])
    for last, faint in ((-axes[0], True), (near, False)):
        z, masses = np.concatenate([axes, -axes[1:], [last]]), np.full(6, 1.0 / 6.0)
        system = SpectralSystem(interaction, 3, 1e-9, 0, 1)
        system.neighbours(z, masses, system.velocity(z, masses), 1e-6, 1e-18)
        assert system.review(6) is faint


def test_the_time_of_the_hand_over_is_recorded() -> None:
    start, model = examples.tokens(600, 2, 0), kernel(examples.usa(9.0))
    run = simulate(model, start, times=[0.0, 1.0], field="spectral")
    assert 0.0 < float(run["handover_time"][0]) < 1.0
    assert run.attrs["field_crossover"] == crossover(9.0, 2, 1e-9)
    assert float(simulate(model, start, times=[0.0, 1.0], field="direct")["handover_time"][0]) == -1.0
