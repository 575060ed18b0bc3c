"""Kernels put together from a configuration or in Python, and their profiles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from physics import examples
from usaav import simulate
from usaav.config.kernel_models import parse_kernel
from usaav.errors import ConfigError, DataError
from usaav.kernels import (
    Constant,
    DistanceBias,
    Exponential,
    Gauge,
    Identity,
    Kernel,
    Linear,
    PlaneRotations,
    Profile,
    Reflections,
    Toeplitz,
    Weight,
    kernel,
)
from usaav.kernels.kernel import check_labels

PARTS = {
    "usa": (Identity, Constant, Exponential),
    "rope": (PlaneRotations, Constant, Exponential),
    "generalized_rope": (PlaneRotations, Constant, Exponential),
    "prefix": (Reflections, Constant, Exponential),
    "gaussian_circle": (Identity, DistanceBias, Exponential),
    "exponential_line": (Identity, DistanceBias, Exponential),
    "alibi_circle": (Identity, DistanceBias, Exponential),
    "toeplitz_linear": (Identity, Toeplitz, Linear),
    "toeplitz_exponential": (Identity, Toeplitz, Exponential),
    "rope_with_toeplitz": (PlaneRotations, Toeplitz, Exponential),
    "generalized_rope_with_bias": (PlaneRotations, DistanceBias, Exponential),
    "prefix_with_bias_linear": (Reflections, DistanceBias, Linear),
}


@pytest.mark.parametrize("name", sorted(examples.kernels(3)))
def test_parts(name: str) -> None:
    spec = examples.kernels(3)[name]
    model = kernel(spec)
    assert (type(model.gauge), type(model.weight), type(model.profile)) == PARTS[name]
    assert model.beta == spec.get("beta", 0.0)
    assert model.needs_labels is (name != "usa")
    assert isinstance(model.gauge, Gauge)
    assert isinstance(model.weight, Weight)
    assert isinstance(model.profile, Profile)


@pytest.mark.parametrize("name", sorted(examples.kernels(3)))
def test_the_record_makes_the_same_kernel(name: str) -> None:
    model = kernel(examples.kernels(3)[name])
    again = kernel(model.spec)
    assert again.spec == model.spec
    x = examples.tokens(5, 3, 0)
    labels = examples.labels_for(examples.kernels(3)[name], 5, 0)
    assert np.array_equal(again.to_gauge(x, labels), model.to_gauge(x, labels))
    assert kernel(parse_kernel(examples.kernels(3)[name])).spec == model.spec


def test_coefficients_that_are_zero_are_left_out() -> None:
    weight = kernel({"type": "toeplitz", "coefficients": {3: 1.0, 1: 0.0, 0: 0.5}}).weight
    assert weight == Toeplitz(((0, 0.5), (3, 1.0)))


def test_targets_are_made_unit_to_the_last_digit() -> None:
    rows = (1.0 + 5e-9) * examples.tokens(4, 3, 0)
    gauge = kernel({"type": "prefix", "beta": 1.0, "targets": rows.tolist()}).gauge
    assert isinstance(gauge, Reflections)
    assert np.abs(np.linalg.norm(gauge.targets, axis=1) - 1.0).max() < 1e-15


def test_all_that_is_wrong_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        kernel({"type": "rope", "betta": 1.0, "planes": [[0, 0]], "frequencies": [1.0, 2.0]})
    assert "betta" in str(caught.value)
    assert "beta" in str(caught.value)
    assert "planes" in str(caught.value)


@pytest.mark.parametrize("beta", [700.1, 0.009, 0.0, -1.0])
def test_beta_out_of_range(beta: float) -> None:
    with pytest.raises(ConfigError, match=r"from 0\.01 to 700"):
        kernel(examples.usa(beta))


def test_profiles() -> None:
    s = np.linspace(-1.0, 1.0, 9)
    exponential = Exponential(2.5)
    assert exponential.value(s) == pytest.approx(np.exp(2.5 * s) / 2.5)
    assert exponential.derivative(s) == pytest.approx(np.exp(2.5 * s))
    assert exponential.beta == 2.5
    assert Linear().value(s) == pytest.approx(s)
    assert np.array_equal(Linear().derivative(s), np.ones(9))
    assert Linear().beta == 0.0
    # phi' of the exponential goes to that of the linear one
    assert Exponential(1e-9).derivative(s) == pytest.approx(Linear().derivative(s), abs=1e-8)


def test_labels_are_checked() -> None:
    rope = kernel(examples.kernels(3)["rope"])
    check_labels(kernel(examples.usa(1.0)), None, 3)
    check_labels(rope, np.zeros(3), 3)
    check_labels(rope, np.zeros((2, 3)), 3)
    with pytest.raises(DataError, match="labels is None: pass one number per token"):
        check_labels(rope, None, 3)
    with pytest.raises(DataError, match=r"shape \(4,\): expected one per token, \(3,\) or \(runs, 3\)"):
        check_labels(rope, np.zeros(4), 3)
    for bad in (math.nan, math.inf):
        with pytest.raises(DataError, match="NaN or infinities"):
            check_labels(rope, np.array([0.0, bad, 1.0]), 3)


@dataclass(frozen=True)
class Cubic:
    """A profile of one's own: ``phi(s) = s + s^3/3``."""

    beta: float = 0.0

    def value(self, inner: np.ndarray) -> np.ndarray:
        return inner + inner**3 / 3.0

    def derivative(self, inner: np.ndarray) -> np.ndarray:
        return 1.0 + inner**2


@dataclass(frozen=True)
class Swap:
    """A gauge of one's own: label 1 exchanges the first two axes."""

    is_identity: bool = False

    def apply(self, tokens: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
        swapped = tokens[..., [1, 0, *range(2, tokens.shape[-1])]]
        assert labels is not None
        return np.where(np.asarray(labels)[..., None] == 1, swapped, tokens)

    apply_inverse = apply


def test_parts_of_ones_own() -> None:
    """They run on the plain engine, and what holds for all kernels holds for them."""
    mine = Kernel(Cubic(), Swap(), DistanceBias("gaussian", 1.0))
    x, labels = examples.tokens(8, 3, 0), np.array([0.0, 1.0] * 4)
    run = simulate(mine, x, labels, np.linspace(0.0, 5.0, 6), backend="numpy", rtol=1e-11)
    energy = run["energy"].values[0]
    z = mine.to_gauge(x, labels)
    inner = z @ z.T
    weights = np.where(labels[:, None] == labels[None, :], 1.0, math.exp(-0.5))
    assert energy[0] == pytest.approx(0.5 * np.mean(weights * (inner + inner**3 / 3.0)), rel=1e-13)
    assert np.diff(energy).min() >= 0.0
    assert "Cubic" in run.attrs["kernel"]
