"""The compiled engine: its exponential, and its loops against plain sums and their source, interpreted."""

from __future__ import annotations

import math
import struct
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

from physics import examples
from usaav.flow import compiled, dormand_prince
from usaav.flow.warm_up import warm_up

LOG2_E = math.log2(math.e)
NO_COUPLING = np.zeros((1, 1))
KINDS = {
    "exponential": compiled.EXPONENTIAL,
    "softmax": compiled.EXPONENTIAL | compiled.SOFTMAX,
    "weighted": compiled.EXPONENTIAL | compiled.WEIGHTED,
    "linear": 0,
    "weighted linear": compiled.WEIGHTED,
}


def test_exp2_to_the_last_places() -> None:
    """2.5 units: rounding takes one, and the power series, cut after the twelfth, 1.5 where it is longest."""
    rng = np.random.default_rng(0)
    points = np.concatenate(
        [
            rng.uniform(-1000.0, 1020.0, 2000),
            rng.uniform(-2.0, 2.0, 400),
            rng.normal(size=100) * 1e-8,
            np.arange(-1000.0, 1020.0, 20.0),
            np.arange(-999.5, 1019.0, 37.0),  # where the split turns over
            [0.0, -0.0, 0.5, -0.5, -1000.0, 1019.999],
        ]
    )
    with localcontext() as context:
        context.prec = 40
        for x in points:
            got, exact = compiled.exp2(x), Decimal(2) ** Decimal(float(x))
            assert abs(Decimal(got) - exact) <= Decimal(2.5 * math.ulp(float(exact))), x


def test_exp2_far_below() -> None:
    """No denormals and no wrapped exponents: as good as zero, next to the nearest pair's 1."""
    for x in (-1000.5, -1100.0, -5000.0, -1e6, -1e300, -math.inf):
        assert compiled.exp2(x) == compiled.exp2(-1000.0) == pytest.approx(2.0**-1000, rel=1e-15)


def plain_velocity(
    z: np.ndarray, masses: np.ndarray, coupling: np.ndarray, kind: int, beta: float, shift: float
) -> np.ndarray:
    """The difference form with n x n x d temporaries."""
    gap = z[None, :, :] - z[:, None, :]
    factor = np.ones((len(z), len(z)))
    if kind & compiled.EXPONENTIAL:
        factor = np.exp(shift - 0.5 * beta * np.sum(gap**2, axis=-1))
    if kind & compiled.WEIGHTED:
        factor = factor * coupling
    pull = np.sum((factor * masses)[:, :, None] * gap, axis=1)
    if kind & compiled.SOFTMAX:
        pull /= np.sum(factor * masses, axis=1)[:, None]
    return pull - np.sum(pull * z, axis=1, keepdims=True) * z


def example(n: int, dim: int, kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n + dim)
    masses = rng.uniform(0.5, 1.5, n)
    coupling = rng.normal(size=(n, n)) if kind & compiled.WEIGHTED else NO_COUPLING
    return examples.tokens(n, dim, n), masses / masses.sum(), coupling + coupling.T


# around the block of 16 and the tile of 512
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 32, 33, 100, 511, 512, 513, 600])
@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_velocity(kind: int, dim: int, n: int) -> None:
    z, masses, coupling = example(n, dim, kind)
    beta, shift = 3.0, 0.7 if kind == compiled.EXPONENTIAL else 0.0
    got = compiled.velocity(z, masses, coupling, kind, -0.5 * beta * LOG2_E, shift * LOG2_E)
    assert got.shape == (n, dim)
    expected = plain_velocity(z, masses, coupling, kind, beta, shift)
    assert np.abs(got - expected).max() < 1e-14 * max(1.0, np.abs(expected).max())


def test_no_self_term_at_large_beta() -> None:
    """The force between far clusters, 1e-120 of the self term's size, comes out to relative accuracy."""
    beta, z = 200.0, examples.pair(1.8)
    got = compiled.velocity(z, np.full(2, 0.5), NO_COUPLING, 1, -0.5 * beta * LOG2_E, 0.0)
    expected = 0.5 * math.sin(1.8) * math.exp(beta * (math.cos(1.8) - 1.0))
    assert np.linalg.norm(got, axis=1) == pytest.approx([expected, expected], rel=1e-12)


@pytest.mark.parametrize("beta", [1.0, 700.0])
def test_nothing_overflows_and_a_shift_scales(beta: float) -> None:
    z = np.concatenate([examples.tokens(5, 3, 0), -examples.tokens(5, 3, 0)])
    masses = np.full(10, 0.1)
    slope = -0.5 * beta * LOG2_E
    plain = compiled.velocity(z, masses, NO_COUPLING, 1, slope, 0.0)
    shifted = compiled.velocity(z, masses, NO_COUPLING, 1, slope, 3.0)
    assert np.all(np.isfinite(plain))
    assert shifted == pytest.approx(8.0 * plain, rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_step_is_the_plain_step(kind: int, dim: int) -> None:
    n, beta, size = 40, 2.0, 0.8
    z, masses, coupling = example(n, dim, kind)
    slope = -0.5 * beta * LOG2_E

    def velocity(point: np.ndarray) -> np.ndarray:
        return compiled.velocity(point, masses, coupling, kind, slope, 0.0)

    new, speed, error = compiled.step(z, velocity(z), masses, coupling, kind, slope, 0.0, size, 1.0)
    expected, expected_error = dormand_prince.step(velocity, z, velocity(z), size)
    assert np.abs(new - expected).max() < 1e-14
    assert error == pytest.approx(expected_error, rel=1e-6, abs=1e-16)
    assert np.array_equal(speed, velocity(new))


def test_nan_does_not_pass_as_a_small_error() -> None:
    z, masses = examples.tokens(5, 3, 0), np.full(5, 0.2)
    velocity = np.zeros((5, 3))
    velocity[2, 1] = math.nan
    _, _, error = compiled.step(z, velocity, masses, NO_COUPLING, 1, -1.0, 0.0, 0.1, 1e-9)
    assert math.isnan(error)
    # nor where it stays with one token, because none feels another
    alone = np.zeros((5, 5))
    _, _, error = compiled.step(z, velocity, masses, alone, compiled.WEIGHTED, 0.0, 0.0, 0.1, 1e-9)
    assert math.isnan(error)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_pair_energy(kind: int) -> None:
    beta = 3.0
    z, masses, coupling = example(45, 4, kind)
    square = np.sum((z[None] - z[:, None]) ** 2, axis=-1)
    value = np.exp(-0.5 * beta * square) if kind & compiled.EXPONENTIAL else 1.0 - 0.5 * square
    if kind & compiled.WEIGHTED:
        value = value * coupling
    got = compiled.pair_energy(z, masses, coupling, kind, -0.5 * beta * LOG2_E)
    assert got == pytest.approx(masses @ value @ masses, rel=1e-13)


def test_neighbours() -> None:
    z = np.array([[1.0, 0.0], [math.cos(1e-3), math.sin(1e-3)], [math.cos(0.1), math.sin(0.1)], [0.0, 1.0]])
    velocity = np.array([[0.0, 1e-3], [0.0, 0.0], [0.0, -1.0], [0.0, 0.0]])
    smallest, fastest, widest, pairs, squares, rates = compiled.neighbours(z, velocity, 0.04, 0.002, 16)
    assert smallest == pytest.approx(1e-6, rel=1e-6)
    assert widest == math.inf
    assert pairs.tolist() == [[0, 1]]
    assert squares == pytest.approx([1e-6], rel=1e-6)
    assert rates == pytest.approx([1.0], rel=1e-5)
    # the pairs (0, 2) and (1, 2) are near too, and faster
    assert fastest == pytest.approx(1.0 / 0.099, rel=0.01)


def test_neighbours_of_few_and_of_equal_tokens() -> None:
    none = compiled.neighbours(np.eye(3)[:1], np.zeros((1, 3)), 1.0, 1.0, 1)
    assert none[:3] == (math.inf, 0.0, math.inf)
    assert none[3].shape == (0, 2)
    equal = np.tile(np.eye(3)[:1], (3, 1))
    smallest, fastest, widest, pairs, squares, rates = compiled.neighbours(
        equal, np.zeros((3, 3)), 1e-6, 1e-18, 9
    )
    assert (smallest, fastest, widest) == (0.0, 0.0, 0.0)
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert squares.tolist() == rates.tolist() == [0.0] * 3
    # a full list ends the list, and nothing else
    *others, pairs, _, _ = compiled.neighbours(equal, np.zeros((3, 3)), 1e-6, 1e-18, 2)
    assert others == [0.0, 0.0, 0.0]
    assert pairs.tolist() == [[0, 1], [0, 2]]


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The module with every compiled function replaced by its source, run by Python."""
    names = [name for name, item in vars(compiled).items() if hasattr(item, "py_func")]
    assert len(names) > 10
    warm_up()  # what is not compiled yet must not see what is replaced below
    compiled.exp2(0.0)
    originals = {name: getattr(compiled, name) for name in names}

    def bits_of(value: float) -> int:
        return int(struct.unpack("<q", struct.pack("<d", value))[0])

    def double_of(bits: int) -> float:
        return float(struct.unpack("<d", struct.pack("<Q", bits & 0xFFFF_FFFF_FFFF_FFFF))[0])

    monkeypatch.setattr(compiled, "_bits_of", bits_of)
    monkeypatch.setattr(compiled, "_double_of", double_of)
    for name in names:
        monkeypatch.setattr(compiled, name, originals[name].py_func)
    return originals


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_compiling_changes_only_the_order_of_sums(kind: int, interpreted: Any) -> None:
    """Fast-math flags and vectors against the same lines one after the other."""
    n, dim = 35, 2 if kind == compiled.EXPONENTIAL else 4
    z, masses, coupling = example(n, dim, kind)
    slope, shift = -0.5 * 3.0 * LOG2_E, 0.0
    velocity = compiled.velocity(z, masses, coupling, kind, slope, shift)
    assert np.abs(velocity - interpreted["velocity"](z, masses, coupling, kind, slope, shift)).max() < 1e-15
    arguments = (z, velocity, masses, coupling, kind, slope, shift, 0.5, 1.0)
    new, speed, error = compiled.step(*arguments)
    fast_new, fast_speed, fast_error = interpreted["step"](*arguments)
    assert np.abs(new - fast_new).max() < 1e-15
    assert np.abs(speed - fast_speed).max() < 1e-15
    assert error == pytest.approx(fast_error, rel=1e-6, abs=1e-16)
    energy = compiled.pair_energy(z, masses, coupling, kind, slope)
    assert energy == pytest.approx(interpreted["pair_energy"](z, masses, coupling, kind, slope), rel=1e-14)
    for one, other in zip(
        compiled.neighbours(z, velocity, 1.0, 0.5, n**2),
        interpreted["neighbours"](z, velocity, 1.0, 0.5, n**2),
        strict=True,
    ):
        assert np.asarray(one) == pytest.approx(np.asarray(other), rel=1e-12)


def test_exp2_interpreted(interpreted: Any) -> None:
    for x in (-1200.0, -999.7, -0.3, 0.0, 0.5, 77.1, 1019.0):
        assert compiled.exp2(x) == pytest.approx(interpreted["exp2"](x), rel=3e-16)


def test_self_terms_stay_nothing_at_any_shift() -> None:
    """The exponential of a token with itself is ``2^shift``, which may be infinity, or any bits beyond it."""
    slope = -0.5 * 700.0 * LOG2_E
    for shift in np.arange(1000.0, 2018.0, 0.25):
        square = -shift / slope  # of the pair's distance: its rate is one
        angle = 2.0 * np.arcsin(0.5 * np.sqrt(square))
        z = np.array([[1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0]])
        velocity = compiled.velocity(
            z, np.array([0.25, 0.75]), np.zeros((1, 1)), compiled.EXPONENTIAL, slope, shift
        )
        assert velocity[0, 1] == pytest.approx(0.75 * np.sin(angle), rel=1e-11)  # 1e-13 of the exponents
