"""Both engines answer alike, also about neighbours, energies and after merges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from physics import examples
from usaav.flow.systems import ArraySystem, CompiledSystem, Interaction
from usaav.kernels import kernel

SOFTMAX = ("usa", "rope", "prefix")


def both(name: str, n: int, dim: int, *, softmax: bool = False) -> tuple[CompiledSystem, ArraySystem]:
    spec = examples.kernels(dim)[name]
    labels = examples.labels_for(spec, n, 1)
    pair = [examples.system(spec, labels, backend, softmax=softmax) for backend in examples.BACKENDS]
    assert isinstance(pair[0], CompiledSystem)
    assert isinstance(pair[1], ArraySystem)
    return pair[0], pair[1]


def masses_of(n: int) -> np.ndarray:
    masses = np.random.default_rng(n).uniform(0.5, 1.5, n)
    return masses / masses.sum()


@pytest.mark.parametrize(
    ("name", "dim", "softmax"),
    [(*example, False) for example in examples.ALL] + [(name, 3, True) for name in SOFTMAX],
)
def test_engines_agree(name: str, dim: int, softmax: bool) -> None:
    n = 70
    z, masses = examples.tokens(n, dim, 5), masses_of(n)
    compiled, plain = both(name, n, dim, softmax=softmax)
    assert compiled.energy(z, masses) == pytest.approx(plain.energy(z, masses), rel=1e-13, abs=1e-14)
    speed, expected = compiled.velocity(z, masses), plain.velocity(z, masses)
    assert np.abs(speed - expected).max() < 1e-14
    new, after, error = compiled.step(z, masses, speed, 0.5, 1.0)
    plain_new, plain_after, plain_error = plain.step(z, masses, expected, 0.5, 1.0)
    assert np.abs(new - plain_new).max() < 1e-14
    assert np.abs(after - plain_after).max() < 1e-14
    assert error == pytest.approx(plain_error, rel=1e-5, abs=1e-15)
    assert (compiled.beta, compiled.rate, compiled.shift) == (plain.beta, plain.rate, plain.shift)


def test_tiles_of_the_plain_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in tiles are the same as all at once."""
    z, masses = examples.tokens(70, 3, 5), masses_of(70)
    for name in ("usa", "gaussian_circle", "toeplitz_linear"):
        _, plain = both(name, 70, 3)
        velocity, energy = plain.velocity(z, masses), plain.energy(z, masses)
        monkeypatch.setattr(ArraySystem, "_TILE", 70 * 9)
        assert np.abs(plain.velocity(z, masses) - velocity).max() < 1e-16
        assert plain.energy(z, masses) == pytest.approx(energy, rel=1e-14)
        monkeypatch.undo()


def test_a_rejected_step_computes_no_velocity() -> None:
    z, masses = examples.tokens(9, 3, 5), masses_of(9)
    _, plain = both("usa", 9, 3)
    velocity = plain.velocity(z, masses)
    _, after, error = plain.step(z, masses, velocity, 2.0, 0.0)
    assert error > 0.0
    assert after is velocity


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("name", ["usa", "gaussian_circle", "toeplitz_exponential"])
def test_heavy_tokens_are_many_equal_ones(name: str, backend: str) -> None:
    """What merging relies on: k coincident tokens act and are acted on like one of k times the mass."""
    spec, z = examples.kernels(3)[name], examples.tokens(4, 3, 2)
    copies, labels = np.array([1, 4, 2, 3]), np.array([0.0, 1.0, 2.5, 4.0])
    heavy = examples.system(spec, labels, backend)
    light = examples.system(spec, np.repeat(labels, copies), backend)
    one = np.full(10, 0.1)
    velocity = heavy.velocity(z, copies / 10.0)
    assert (
        np.abs(light.velocity(np.repeat(z, copies, axis=0), one) - np.repeat(velocity, copies, 0)).max()
        < 1e-14
    )
    assert light.energy(np.repeat(z, copies, axis=0), one) == pytest.approx(
        heavy.energy(z, copies / 10.0), rel=1e-13
    )


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_rows_that_are_kept(backend: str) -> None:
    spec, z, labels = examples.kernels(3)["gaussian_circle"], examples.tokens(8, 3, 2), np.arange(8.0)
    rows = np.array([0, 3, 4, 7])
    system, smaller = examples.system(spec, labels, backend), examples.system(spec, labels[rows], backend)
    system.keep(rows)
    masses = masses_of(4)
    assert np.array_equal(system.velocity(z[rows], masses), smaller.velocity(z[rows], masses))
    assert system.energy(z[rows], masses) == smaller.energy(z[rows], masses)


@pytest.mark.parametrize("softmax", [False, True], ids=["usa", "softmax"])
@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_a_shift_rescales_velocity_and_clock(backend: str, softmax: bool) -> None:
    z, masses = examples.tokens(6, 3, 2), masses_of(6)
    system = examples.system(examples.usa(5.0), None, backend, softmax=softmax)
    before = system.rate * system.velocity(z, masses)
    system.set_shift(2.0)
    assert system.rate == pytest.approx(math.exp(-2.0 if softmax else 3.0))
    assert system.rate * system.velocity(z, masses) == pytest.approx(before, rel=1e-13)


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_extreme_shifts_do_not_overflow(backend: str) -> None:
    """Two clusters, beta = 700, nearly antipodal: velocities of order one, at the clock's rate of e^-693."""
    z = examples.pair(3.0)
    system = examples.system(examples.usa(700.0), None, backend)
    seen = system.neighbours(z, np.full(2, 0.5), np.zeros((2, 3)), 1.0, 1.0)
    system.set_shift(seen.unit_shift)
    speed = np.linalg.norm(system.velocity(z, np.full(2, 0.5)), axis=1)
    assert speed == pytest.approx([0.5 * math.sin(3.0)] * 2, rel=1e-9)
    assert system.rate == pytest.approx(math.exp(700.0 * math.cos(3.0)), rel=1e-9)


def test_a_system_without_a_rate() -> None:
    """The linear profile is of order one as it is."""
    system = examples.system(examples.kernels(3)["toeplitz_linear"], np.zeros(2))
    assert system.rate == 1.0
    seen = system.neighbours(examples.pair(3.0), np.full(2, 0.5), np.zeros((2, 3)), 1.0, 1.0)
    assert seen.unit_shift == system.shift


@pytest.mark.parametrize("n", [2, 40, 300])
def test_neighbours_of_both_engines(n: int) -> None:
    """Including more rows than one tile holds."""
    rng = np.random.default_rng(n)
    centre = examples.tokens(max(1, n // 4), 3, 0)
    z = centre[rng.integers(0, len(centre), n)] + 1e-3 * rng.normal(size=(n, 3))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    compiled, plain = both("usa", n, 3)
    velocity = rng.normal(size=(n, 3))
    one, other = (system.neighbours(z, masses_of(n), velocity, 9e-6, 4e-6) for system in (compiled, plain))
    order = np.lexsort(other.pairs.T[::-1])
    assert np.array_equal(one.pairs, other.pairs[order])
    assert one.squares == pytest.approx(other.squares[order], rel=1e-12)
    assert one.rates == pytest.approx(other.rates[order], rel=1e-10)
    assert one.fastest == pytest.approx(other.fastest, rel=1e-10)
    assert one.unit_shift == pytest.approx(other.unit_shift, rel=1e-12)


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_pairs_with_unlike_labels_may_not_merge(backend: str) -> None:
    z = np.tile(np.eye(3)[0], (4, 1))
    system = examples.system(examples.kernels(3)["gaussian_circle"], np.array([0.0, 1.0, 0.0, 1.0]), backend)
    seen = system.neighbours(z, np.full(4, 0.25), np.zeros((4, 3)), 1e-6, 1e-18)
    assert sorted(map(tuple, seen.pairs.tolist())) == [(0, 2), (1, 3)]
    assert seen.widest == 0.0
    apart = np.concatenate([z[:3], -z[:1]])
    seen = system.neighbours(apart, np.full(4, 0.25), np.zeros((4, 3)), 1e-6, 1e-18)
    assert seen.widest == math.inf


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_a_cloud_that_meets_is_no_matrix_of_pairs(backend: str) -> None:
    """Of very many tokens that have met, a few pairs each are listed, which connect all of them."""
    n = 3000
    z, still = np.tile(np.eye(3)[:1], (n, 1)), np.zeros((n, 3))
    seen = examples.system(examples.usa(1.0), None, backend).neighbours(
        z, np.full(n, 1 / n), still, 1e-6, 1e-18
    )
    assert n - 1 <= len(seen.pairs) <= 16 * n
    assert seen.widest == 0.0
    # labels that couple unlike take no place of those that may merge
    labels = np.arange(float(n))
    labels[-1] = labels[-2]
    system = examples.system(examples.kernels(3)["gaussian_circle"], labels, backend)
    seen = system.neighbours(z, np.full(n, 1 / n), still, 1e-6, 1e-18)
    assert seen.pairs.tolist() == [[n - 2, n - 1]]
    assert seen.widest == 0.0
    # one that leaves is no consensus
    still[7, 1] = 1.0
    z[8, 1] = -1e-10
    assert system.neighbours(z, np.full(n, 1 / n), still, 1e-6, 1e-18).widest == math.inf


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("dim", [2, 3, 5, 8])
def test_a_radial_pull_moves_nothing(dim: int, backend: str) -> None:
    """Exactly antipodal tokens in a random direction: rounding must not become a force."""
    for seed in range(20):
        pole = examples.tokens(1, dim, seed)[0]
        for beta in (0.5, 9.0):
            system = examples.system(examples.usa(beta), None, backend)
            assert not system.velocity(np.array([pole, -pole]), np.array([0.3, 0.7])).any()


def test_interaction() -> None:
    model = kernel(examples.kernels(3)["gaussian_circle"])
    interaction = Interaction(model, np.array([0.0, 1.0, 0.0]), False)
    assert interaction.alike(np.array([[0, 1], [0, 2]])).tolist() == [False, True]
    interaction.keep(np.array([1, 2]))
    assert interaction.labels is not None
    assert interaction.labels.tolist() == [1.0, 0.0]
    assert interaction.energy_unit == pytest.approx(math.exp(1.2) / 1.2)
    free = Interaction(model, None, False)
    free.keep(np.array([0]))
    assert free.labels is None
    assert free.alike(np.array([[0, 1]])).tolist() == [True]
