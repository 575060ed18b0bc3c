"""Gauges turn tokens by orthogonal matrices, batches and single runs alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from physics import examples, literal
from usaav.errors import DataError
from usaav.kernels import (
    DrawnReflections,
    Gauge,
    Identity,
    PlaneRotation,
    PlaneRotations,
    Reflections,
    kernel,
)
from usaav.kernels.gauges import gauge_matrices

GAUGED = [(name, dim) for name, dim in examples.ALL if name in ("rope", "generalized_rope", "prefix")]


@pytest.mark.parametrize(("name", "dim"), GAUGED)
def test_matrices_are_the_literal_ones(name: str, dim: int) -> None:
    spec = examples.kernels(dim)[name]
    labels = examples.labels_for(spec, 7, 0)
    assert labels is not None
    matrices = gauge_matrices(kernel(spec).gauge, labels, dim)
    expected = np.stack([literal.gauge_matrix(spec, label, dim) for label in labels])
    assert np.abs(matrices - expected).max() < 1e-14
    assert np.abs(matrices @ matrices.transpose(0, 2, 1) - np.eye(dim)).max() < 1e-14


@pytest.mark.parametrize(("name", "dim"), GAUGED)
def test_inverse(name: str, dim: int) -> None:
    spec, x = examples.kernels(dim)[name], examples.tokens(7, dim, 3)
    gauge, labels = kernel(spec).gauge, examples.labels_for(spec, 7, 0)
    assert np.abs(gauge.apply_inverse(gauge.apply(x, labels), labels) - x).max() < 1e-14
    assert np.abs(gauge.apply(gauge.apply_inverse(x, labels), labels) - x).max() < 1e-14
    assert np.abs(gauge.apply(x, labels) - x).max() > 0.1


@pytest.mark.parametrize(("name", "dim"), GAUGED)
def test_leading_axes(name: str, dim: int) -> None:
    """Runs share labels, or bring their own."""
    spec = examples.kernels(dim)[name]
    gauge = kernel(spec).gauge
    runs = np.stack([examples.tokens(6, dim, seed) for seed in range(3)])
    labels = np.stack([examples.labels_for(spec, 6, seed) for seed in range(3)])
    own, shared = gauge.apply(runs, labels), gauge.apply(runs, labels[0])
    for run in range(3):
        assert np.array_equal(own[run], gauge.apply(runs[run], labels[run]))
        assert np.array_equal(shared[run], gauge.apply(runs[run], labels[0]))


@pytest.mark.parametrize(("name", "dim"), GAUGED)
def test_tokens_are_left_as_they_were(name: str, dim: int) -> None:
    spec, x = examples.kernels(dim)[name], examples.tokens(4, dim, 3)
    before = x.copy()
    kernel(spec).gauge.apply(x, examples.labels_for(spec, 4, 0))
    assert np.array_equal(x, before)


def test_overlapping_planes_apply_the_last_factor_first() -> None:
    quarter = 0.5 * math.pi
    first, second = PlaneRotation((0, 1), quarter), PlaneRotation((1, 2), quarter)
    label, x = np.ones(1), np.array([[0.0, 1.0, 0.0]])
    # the factor on the right takes e_1 to e_2, where the other leaves it
    assert PlaneRotations((first, second)).apply(x, label) == pytest.approx(np.array([[0.0, 0.0, 1.0]]))
    assert PlaneRotations((second, first)).apply(x, label) == pytest.approx(np.array([[-1.0, 0.0, 0.0]]))


def test_a_rotation_turns_the_first_axis_towards_the_second() -> None:
    gauge = PlaneRotations((PlaneRotation((0, 1), 1.0),))
    turned = gauge.apply(np.array([[1.0, 0.0]]), np.array([0.3]))
    assert turned == pytest.approx(np.array([[math.cos(0.3), math.sin(0.3)]]))


def test_angle_of_a_generalised_rotation() -> None:
    rotation = PlaneRotation((0, 1), 0.5, ((2, 0.3, 0.1), (5, -1.0, 0.0)))
    label = 1.7
    expected = 0.5 * label + 0.3 * math.sin(2 * label + 0.1) - math.sin(5 * label)
    assert rotation.angle(np.array([label])) == pytest.approx(expected)


@given(st.integers(2, 6), st.integers(0, 1000))
def test_a_reflection_takes_its_target_to_the_reference_point(dim: int, seed: int) -> None:
    targets = examples.tokens(3, dim, seed)
    gauge, last = Reflections(targets), np.eye(dim)[-1]
    assert np.abs(gauge.apply(targets, np.arange(3.0)) - last).max() < 1e-14
    assert np.abs(gauge.apply(np.tile(last, (3, 1)), np.arange(3.0)) - targets).max() < 1e-14


def test_a_target_at_the_reference_point_reflects_nothing() -> None:
    x = examples.tokens(2, 3, 0)
    assert np.array_equal(Reflections(np.eye(3)[-1:]).apply(x, np.zeros(2)), x)


@pytest.mark.parametrize("tiny", [1e-8, 1e-12, 1e-16])
def test_a_target_next_to_the_reference_point(tiny: float) -> None:
    target = np.array([[math.sin(tiny), 0.0, math.cos(tiny)]])
    matrix = gauge_matrices(Reflections(target), np.zeros(1), 3)[0]
    assert np.abs(matrix @ matrix.T - np.eye(3)).max() < 1e-14
    assert np.abs(matrix @ target[0] - np.eye(3)[-1]).max() < 1e-15


@pytest.mark.parametrize("label", [-1.0, 3.0, 0.5])
def test_labels_that_name_no_prompt(label: float) -> None:
    gauge = Reflections(examples.tokens(3, 3, 0))
    with pytest.raises(DataError, match=rf"label {label} names no prompt.*0 \.\.\. 2"):
        gauge.apply(examples.tokens(2, 3, 1), np.array([0.0, label]))


def test_targets_of_another_dimension() -> None:
    with pytest.raises(DataError, match="tokens have dimension 2, but the prefix targets have 3"):
        Reflections(examples.tokens(3, 3, 0)).apply(examples.tokens(2, 2, 1), np.zeros(2))


@pytest.mark.parametrize(
    "gauge", [PlaneRotations((PlaneRotation((0, 1), 1.0),)), Reflections(examples.tokens(3, 3, 0))]
)
def test_missing_and_misshapen_labels(gauge: Gauge) -> None:
    x = examples.tokens(4, 3, 0)
    with pytest.raises(DataError, match="depends on labels: pass labels, one per token"):
        gauge.apply(x, None)
    with pytest.raises(DataError, match=r"4 tokens need as many labels, got labels of shape \(3,\)"):
        gauge.apply(x, np.zeros(3))
    assert not gauge.is_identity


def test_identity() -> None:
    x = examples.tokens(4, 3, 0)
    assert Identity().is_identity
    assert np.array_equal(Identity().apply(x, None), x)
    assert np.array_equal(Identity().apply_inverse(x, None), x)


def test_drawn_targets() -> None:
    """As many as there are prompts, or as the law says; the same for every call."""
    free = kernel({"type": "prefix", "beta": 1.0, "targets": {"law": "uniform"}}).gauge
    assert isinstance(free, DrawnReflections)
    assert not free.is_identity
    labels = np.array([0.0, 4.0, 2.0])
    resolved = free.resolve(labels, 3)
    assert resolved.targets.shape == (5, 3)
    assert np.array_equal(resolved.targets, free.resolve(labels, 3).targets)
    x = examples.tokens(3, 3, 0)
    assert np.array_equal(free.apply(x, labels), resolved.apply(x, labels))
    assert np.array_equal(free.apply_inverse(free.apply(x, labels), labels).round(14), x.round(14))
    fixed = kernel({"type": "prefix", "beta": 1.0, "targets": {"law": "uniform", "count": 7}}).gauge
    assert isinstance(fixed, DrawnReflections)
    assert fixed.resolve(None, 2).targets.shape == (7, 2)


@pytest.mark.parametrize("labels", [None, np.zeros(0)], ids=["none", "empty"])
def test_drawn_targets_without_prompts(labels: np.ndarray | None) -> None:
    gauge = kernel({"type": "prefix", "beta": 1.0, "targets": {"law": "uniform"}}).gauge
    with pytest.raises(DataError, match="pass labels, or give the law a count"):
        gauge.apply(examples.tokens(3, 3, 0), labels)
