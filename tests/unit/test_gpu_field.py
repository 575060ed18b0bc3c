"""The kernels against the plain engine: on the processor, compiled from the very file, and on a device."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from device.processor import ProcessorDevice, library
from physics import examples
from usaav.flow.systems import ArraySystem, Interaction
from usaav.gpu import field, system
from usaav.gpu.batch import Batch
from usaav.gpu.field import Kind, Law
from usaav.gpu.launches import RUN, Launches
from usaav.gpu.system import DeviceSystem
from usaav.kernels import Kernel, kernel
from usaav.kernels.weights import Toeplitz

Pair = Callable[..., tuple[DeviceSystem, ArraySystem]]


@pytest.fixture
def pair(device) -> Pair:
    """Makes the same right-hand side on the device and on the plain engine."""

    def both(
        spec: dict[str, Any],
        labels: np.ndarray | None,
        shape: tuple[int, int],
        *,
        softmax: bool = False,
        precision: Any = "float64",
    ) -> tuple[DeviceSystem, ArraySystem]:
        model = kernel(spec)
        marks = None if model.weight.is_constant else labels
        law = field.law_of(model, shape[1], softmax=softmax, precision=precision)
        batch = Batch(Launches(device, law.kind))
        on_device = DeviceSystem(
            Interaction(model, marks, softmax), law, shape[0], device, batch, ArraySystem
        )
        return on_device, ArraySystem(Interaction(model, marks, softmax))

    return both


def masses_of(n: int) -> np.ndarray:
    masses = np.random.default_rng(n).uniform(0.5, 1.5, n)
    return masses / masses.sum()


def assert_equal(pair_of_systems: tuple[DeviceSystem, ArraySystem], z: np.ndarray) -> None:
    """Energy, velocity, speed and a step agree to 1e-13 or better."""
    ours, plain = pair_of_systems
    masses = masses_of(len(z))
    assert ours.energy(z, masses) == pytest.approx(plain.energy(z, masses), rel=1e-13, abs=1e-14)
    velocity, expected = ours.velocity(z, masses), plain.velocity(z, masses)
    assert np.abs(np.asarray(velocity) - expected).max() < 1e-14
    assert ours.speed(velocity) == pytest.approx(plain.speed(expected), rel=1e-13)
    new, after, error = ours.step(z, masses, velocity, 0.5, 1.0)
    plain_new, plain_after, plain_error = plain.step(z, masses, expected, 0.5, 1.0)
    assert np.abs(np.asarray(new) - plain_new).max() < 1e-14
    assert np.abs(np.asarray(after) - plain_after).max() < 1e-14
    assert ours.speed(after) == pytest.approx(plain.speed(plain_after), rel=1e-12)
    assert error == pytest.approx(plain_error, rel=1e-3, abs=1e-15)


@pytest.mark.parametrize(("name", "dim"), examples.ALL)
def test_every_kernel(pair: Pair, name: str, dim: int) -> None:
    spec = examples.kernels(dim)[name]
    # more than two tiles of sources, and a last one that is not full
    assert_equal(pair(spec, examples.labels_for(spec, 70, 1), (70, dim)), examples.tokens(70, dim, 5))


@pytest.mark.parametrize("dim", [4, 6, 7, 8, 9, 12, 16, 33])
@pytest.mark.parametrize("name", ["usa", "gaussian_circle", "toeplitz_linear"])
def test_every_dimension(pair: Pair, name: str, dim: int) -> None:
    spec = examples.kernels(3)[name]
    assert_equal(pair(spec, examples.labels_for(spec, 37, 1), (37, dim)), examples.tokens(37, dim, 5))


@pytest.mark.parametrize("shift", [0.0, 0.7])
@pytest.mark.parametrize("dim", [2, 3, 8, 12])
def test_softmax(pair: Pair, dim: int, shift: float) -> None:
    systems = pair(examples.usa(2.0), None, (70, dim), softmax=True)
    for each in systems:
        each.set_shift(shift)
    assert_equal(systems, examples.tokens(70, dim, 3))


@pytest.mark.parametrize(("beta", "angle"), [(3.0, 2.0), (700.0, 3.0)])
def test_softmax_with_a_shift(pair: Pair, beta: float, angle: float) -> None:
    """Between distant clusters, whose rate is far below that of close ones."""
    z, masses = examples.pair(angle), np.array([0.3, 0.7])
    systems = pair(examples.usa(beta), None, (2, 3), softmax=True)
    for one in systems:
        one.set_shift(one.neighbours(z, masses, np.zeros((2, 3)), 1.0, 1.0).unit_shift)
    ours, plain = systems
    assert ours.rate == pytest.approx(plain.rate, rel=1e-11)
    velocity, expected = np.asarray(ours.velocity(z, masses)), plain.velocity(z, masses)
    assert 0.01 < np.abs(expected).max() < 10.0
    assert velocity == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 257])
def test_any_number_of_tokens(pair: Pair, n: int) -> None:
    """One part of the sources, several, and parts that are empty."""
    assert_equal(pair(examples.usa(2.0), None, (n, 3)), examples.tokens(n, 3, 3))


def test_many_cosines(pair: Pair) -> None:
    """More than fit into a full tile of shared memory."""
    spec = {"type": "toeplitz", "coefficients": {m: 1.0 / (m + 1) for m in range(40)}}
    labels = np.random.default_rng(1).uniform(0.0, 6.0, 70)
    assert_equal(pair(spec, labels, (70, 3)), examples.tokens(70, 3, 5))


@pytest.mark.parametrize("dim", [3, 12])
@pytest.mark.parametrize("name", ["usa", "alibi_circle", "toeplitz_exponential"])
def test_terms_in_float32(pair: Pair, name: str, dim: int) -> None:
    """Each term has an error of some 1e-7; energies stay in float64."""
    spec, z, masses = examples.kernels(3)[name], examples.tokens(70, dim, 5), masses_of(70)
    ours, plain = pair(spec, examples.labels_for(spec, 70, 1), (70, dim), precision="float32")
    expected = plain.velocity(z, masses)
    error = np.abs(np.asarray(ours.velocity(z, masses)) - expected).max()
    assert 1e-12 < error < 1e-6 * np.abs(expected).max()
    assert ours.energy(z, masses) == pytest.approx(plain.energy(z, masses), rel=1e-13)


@pytest.mark.parametrize("dim", [3, 12])
def test_close_tokens_keep_their_digits_in_float32(pair: Pair, dim: int) -> None:
    """Differences are taken before rounding: two tokens 1e-6 apart attract each other to seven digits."""
    z = examples.tokens(2, dim, 3)
    z[1] = z[0] + 1e-6 * z[1]
    z[1] /= np.linalg.norm(z[1])
    ours, plain = pair(examples.usa(5.0), None, (2, dim), precision="float32")
    masses = np.full(2, 0.5)
    expected = plain_pull(z, masses, 5.0)
    assert plain.beta == ours.beta
    assert np.abs(np.asarray(ours.velocity(z, masses)) - expected).max() < 1e-6 * np.abs(expected).max()


def plain_pull(z: np.ndarray, masses: np.ndarray, beta: float) -> np.ndarray:
    """The velocity of two tokens in difference form."""
    gap = z[1] - z[0]
    pull = math.exp(-0.5 * beta * gap @ gap) * gap
    both = np.array([masses[1] * pull, -masses[0] * pull])
    return both - np.sum(both * z, axis=1)[:, None] * z


@pytest.mark.parametrize("dim", [2, 3, 5, 8, 12])
def test_a_radial_pull_moves_nothing(pair: Pair, dim: int) -> None:
    for seed in range(20):
        pole = examples.tokens(1, dim, seed)[0]
        ours, _ = pair(examples.usa(9.0), None, (2, dim))
        assert not np.asarray(ours.velocity(np.array([pole, -pole]), np.array([0.3, 0.7]))).any()


def test_extreme_shifts_do_not_overflow(pair: Pair) -> None:
    """Two clusters, beta = 700, nearly antipodal; the third part of a tile stays empty."""
    z, masses = examples.pair(3.0), np.full(2, 0.5)
    systems = pair(examples.usa(700.0), None, (2, 3))
    for one in systems:
        one.set_shift(one.neighbours(z, masses, np.zeros((2, 3)), 1.0, 1.0).unit_shift)
    ours, plain = systems
    assert ours.shift == pytest.approx(plain.shift, rel=1e-12)
    velocity, expected = np.asarray(ours.velocity(z, masses)), plain.velocity(z, masses)
    assert 0.01 < np.abs(expected).max() < 1.0
    assert velocity == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("dim", [3, 12])
@pytest.mark.parametrize("name", ["usa", "gaussian_circle"])
def test_a_look_at_all_pairs(pair: Pair, name: str, dim: int) -> None:
    spec, n = examples.kernels(3)[name], 60
    z, masses = examples.tokens(n, dim, 5), masses_of(n)
    z[40:] = z[:20] + 1e-4 * examples.tokens(20, dim, 6)  # twenty close pairs
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    labels = np.arange(float(n)) % 3.0
    labels[40:50] = labels[:10]
    ours, plain = pair(spec, labels, (n, dim))
    velocity = plain.velocity(z, masses)
    for near, report in ((4e-8, 1e-8), (1e-2, 1e-2), (1e-12, 1e-18), (5.0, 5.0)):
        seen, expected = (one.neighbours(z, masses, velocity, near, report) for one in (ours, plain))
        order = np.lexsort((expected.pairs[:, 1], expected.pairs[:, 0]))
        assert np.array_equal(seen.pairs, expected.pairs[order])
        assert seen.squares == pytest.approx(expected.squares[order], rel=1e-9)
        assert seen.rates == pytest.approx(expected.rates[order], rel=1e-7)
        assert seen.fastest == pytest.approx(expected.fastest, rel=1e-7)
        assert seen.unit_shift == pytest.approx(expected.unit_shift, rel=1e-9)
        assert seen.widest == pytest.approx(expected.widest, rel=1e-9)
        assert seen.groups is None


def test_coincident_tokens_whose_labels_do_not_couple_alike(pair: Pair) -> None:
    z = np.tile(np.eye(3)[0], (4, 1))
    ours, _ = pair(examples.kernels(3)["gaussian_circle"], np.array([0.0, 1.0, 0.0, 1.0]), (4, 3))
    seen = ours.neighbours(z, np.full(4, 0.25), np.zeros((4, 3)), 1e-6, 1e-18)
    assert seen.pairs.tolist() == [[0, 2], [1, 3]]
    assert seen.widest == 0.0
    assert ours.neighbours(z[:1], np.ones(1), np.zeros((1, 3)), 1e-6, 1e-18).widest == math.inf


@pytest.mark.parametrize("name", ["usa", "gaussian_circle"])
def test_more_close_pairs_than_are_listed_become_groups(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Three tight clouds: their tokens merge by cells; where labels count, those of equal labels."""
    monkeypatch.setattr(system, "MOST_PAIRS", 10)
    place = np.repeat(np.eye(3), 8, axis=0)
    labels = np.tile([0.0, 1.0], 12)
    ours, _ = pair(examples.kernels(3)[name], labels, (24, 3))
    seen = ours.neighbours(place, masses_of(24), np.zeros((24, 3)), 1e-6, 1e-18)
    assert len(seen.pairs) == 0
    expected = np.repeat([0, 1, 2], 8)
    if name != "usa":
        expected = 2 * expected + np.tile([0, 1], 12)
    assert seen.groups is not None
    assert seen.groups.tolist() == expected.tolist()
    apart = place + 1e-8 * examples.tokens(24, 3, 1)  # each in a cell of its own
    wide = ours.neighbours(apart, masses_of(24), np.zeros((24, 3)), 1e-6, 1e-6)
    assert wide.groups is not None
    spreading = ours.neighbours(apart, masses_of(24), apart - place, 1e-6, 1e-6)
    assert spreading.groups is None
    assert len(spreading.pairs) == 0


def test_a_rejected_step_changes_nothing(pair: Pair) -> None:
    z, masses = examples.tokens(9, 3, 5), masses_of(9)
    ours, _ = pair(examples.usa(3.0), None, (9, 3))
    velocity = ours.velocity(z, masses)
    new, after, error = ours.step(z, masses, velocity, 2.0, 1e-12)
    assert error > 1e-12
    assert new is z
    assert after is velocity


def test_a_nan_is_no_small_error(pair: Pair) -> None:
    z = examples.tokens(9, 3, 5)
    z[3] = np.nan
    ours, _ = pair(examples.usa(3.0), None, (9, 3))
    _, _, error = ours.step(z, masses_of(9), np.zeros((9, 3)), 0.1, 1.0)
    assert math.isnan(error)
    assert not ours.layer(z, masses_of(9), 0.1)[1]


def test_rows_of_one_look_are_not_looked_at_twice(pair: Pair, device) -> None:
    z, masses = examples.tokens(40, 3, 5), masses_of(40)
    ours, _ = pair(examples.usa(3.0), None, (40, 3))
    velocity = ours.velocity(z, masses)
    ours.neighbours(z, masses, velocity, 1e-6, 1e-18)
    new, after, _ = ours.step(z, masses, velocity, 0.1, 1.0)
    assert ours._looked is not None
    before = ours._looked[1]
    first = ours.neighbours(new, masses, after, 1e-6, 1e-18)
    assert ours._looked[1] is before
    again = ours.neighbours(np.asarray(new), masses, np.asarray(after), 1e-6, 1e-18)
    assert (first.fastest, first.unit_shift) == (again.fastest, again.unit_shift)


def test_kept_rows_take_their_labels_along(pair: Pair) -> None:
    spec, z, labels = examples.kernels(3)["gaussian_circle"], examples.tokens(8, 3, 2), np.arange(8.0)
    rows, masses = np.array([0, 3, 4, 7]), masses_of(4)
    larger, _ = pair(spec, labels, (8, 3))
    smaller, _ = pair(spec, labels[rows], (4, 3))
    larger.velocity(z, masses_of(8))
    larger.keep(rows)
    assert np.array_equal(
        np.asarray(larger.velocity(z[rows], masses)), np.asarray(smaller.velocity(z[rows], masses))
    )


def test_the_table_is_that_of_the_kernels(processor: ProcessorDevice, tmp_path_factory) -> None:
    compiled = library(Kind(3), processor.folder)
    assert compiled.size_of_run() == RUN.itemsize


@pytest.mark.parametrize("dim", [3, 12])
def test_parts_of_the_sources(dim: int) -> None:
    """Sums of any number of tokens fit into the room for as many or more."""
    kind = Kind(dim)
    largest = 0
    for count in [*range(1, 2000), 4096, 10_000, 100_000, 1_000_000]:
        splits = kind.splits(count)
        assert 1 <= splits <= -(-count // 64)
        largest = max(largest, splits * count * kind.width)
        assert largest <= kind.room(count)
    assert kind.splits(1_000_000) == 1


def test_laws() -> None:
    def law(name: str) -> Law:
        return field.law_of(kernel(examples.kernels(3)[name]), 3, softmax=False)

    assert law("usa").kind == Kind(3)
    assert "-DSINGLE=0" in Kind(3).options
    assert "-DSINGLE=1" in Kind(3, precision="float32").options
    bias = law("alibi_circle")
    assert bias.kind.periodic
    assert bias.columns(np.array([0.5, 3.5, -2.5])).ravel() == pytest.approx([0.5, 0.5, 0.5])
    waves = law("toeplitz_linear")
    assert (waves.orders, waves.constants) == ((0, 1, 3), (0.2, -0.6, 0.7))
    assert waves.columns(np.array([0.3]))[0] == pytest.approx(
        [1.0, 0.0, math.cos(0.3), math.sin(0.3), math.cos(0.9), math.sin(0.9)]
    )


def test_kernels_that_the_device_does_not_know() -> None:
    class Own:
        beta = 0.0
        is_constant = False

    own: Any = Own()
    usa = kernel(examples.usa(1.0))
    assert field.why_not(usa) is None
    assert field.why_not(Kernel(own)) == "the GPU engine knows no profile Own"
    assert field.why_not(Kernel(usa.profile, weight=own)) == "the GPU engine knows no weight Own"
    many = Kernel(usa.profile, weight=Toeplitz(tuple((m, 1.0) for m in range(257))))
    assert field.why_not(many) == "the GPU engine takes 1 to 256 coefficients, not 257"


def test_libraries_of_one_process_share_no_memory(pair: Pair) -> None:
    """The last of these once wrote beyond the arrays of the first."""
    for dim in (2, 33, 3, 16):
        assert_equal(pair(examples.usa(1.0), None, (37, dim)), examples.tokens(37, dim, 5))
