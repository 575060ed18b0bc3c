"""Kernel settings: every type answers for its gauge, weight and profile, also from Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from usaav.config import load, parse_kernel
from usaav.errors import ConfigError

ROPE = {"planes": [[0, 1]], "frequencies": [1]}
ROTATIONS = {"rotations": [{"plane": [0, 1], "linear": 1, "harmonics": [[3, 0.5, 0]]}]}
TARGETS = {"targets": [[1, 0, 0], [0, 1, 0]]}
ALIBI = {"profile": "alibi", "slope": 2}


@pytest.mark.parametrize(
    ("spec", "gauge", "weight", "phi", "beta"),
    [
        ({"type": "usa", "beta": 1}, "identity", "constant", "exponential", 1.0),
        ({"type": "rope", "beta": "2", **ROPE}, "rope", "constant", "exponential", 2.0),
        (
            {"type": "generalized_rope", "beta": 1, **ROTATIONS},
            "generalized_rope",
            "constant",
            "exponential",
            1.0,
        ),
        ({"type": "prefix", "beta": 1, **TARGETS}, "prefix", "constant", "exponential", 1.0),
        ({"type": "distance_bias", "beta": 1, **ALIBI}, "identity", "distance_bias", "exponential", 1.0),
        ({"type": "toeplitz", "coefficients": {"1": 1}}, "identity", "toeplitz", "linear", None),
        (
            {"type": "toeplitz", "coefficients": {1: 1}, "phi": "exponential", "beta": 3},
            "identity",
            "toeplitz",
            "exponential",
            3.0,
        ),
        ({"type": "combined", "phi": "linear"}, "identity", "constant", "linear", None),
        (
            {
                "type": "combined",
                "beta": 1,
                "gauge": {"type": "prefix", **TARGETS},
                "weight": {"type": "distance_bias", **ALIBI},
            },
            "prefix",
            "distance_bias",
            "exponential",
            1.0,
        ),
    ],
)
def test_parts(spec: dict[str, Any], gauge: str, weight: str, phi: str, beta: float | None) -> None:
    kernel = parse_kernel(spec)
    assert (kernel.gauge.type, kernel.weight.type, kernel.phi, kernel.beta) == (gauge, weight, phi, beta)
    again = parse_kernel(kernel.model_dump())
    assert again == kernel
    assert parse_kernel(kernel) == kernel


def test_scale_is_length_or_slope() -> None:
    assert parse_kernel({"type": "distance_bias", "beta": 1, **ALIBI}).weight.scale == 2.0  # type: ignore[union-attr]
    gaussian = {"type": "distance_bias", "beta": 1, "profile": "gaussian", "length": "0.5"}
    assert parse_kernel(gaussian).weight.scale == 0.5  # type: ignore[union-attr]


def test_numpy_arrays_and_numbers_are_fine() -> None:
    rows = np.eye(3)[:2]
    kernel = parse_kernel({"type": "prefix", "beta": np.float64(2), "targets": rows})
    assert kernel == parse_kernel({"type": "prefix", "beta": 2, "targets": rows.tolist()})
    assert parse_kernel({"type": "usa", "beta": np.float32(0.5)}).beta == 0.5
    assert parse_kernel({"type": "usa", "beta": np.int64(3)}).beta == 3.0


def test_negative_zero_is_zero() -> None:
    texts = {
        parse_kernel({"type": "rope", "beta": 1, "planes": [[0, 1]], "frequencies": [zero]}).model_dump_json()
        for zero in (0, 0.0, -0.0, "-0")
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"type": "usa", "beta": 1, "betta": 2}, "kernel.betta = 2"),
        ({"type": "usa", "beta": {1, 2}}, "kernel: set"),
        ({"type": "usa", "beta": 1, 1: 2, "1": 3}, "kernel: key '1' stands twice"),
        ([], "kernel = []"),
        ({"type": "combined", "phi": "linear", "beta": 1}, "no beta with phi: linear"),
    ],
)
def test_wrong_kernels(spec: Any, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_kernel(spec)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("kernel", "labels"),
    [
        ({"type": "usa", "beta": 1}, {"law": "prompts", "count": 4}),
        ({"type": "usa", "beta": 1}, {"law": "grid", "count": 4}),
        ({"type": "prefix", "beta": 1, **TARGETS}, {"law": "atoms", "positions": [0, 1], "weights": [1, 3]}),
        (
            {
                "type": "combined",
                "beta": 1,
                "gauge": {"type": "prefix", **TARGETS},
                "weight": {"type": "distance_bias", **ALIBI},
            },
            {"law": "prompts"},
        ),
        (
            {"type": "combined", "beta": 1, "weight": {"type": "toeplitz", "coefficients": {1: 1}}},
            {"law": "cantor"},
        ),
    ],
)
def test_labels_that_fit(kernel: dict[str, Any], labels: dict[str, Any]) -> None:
    experiment = {"kernel": kernel, "labels": labels, "n_tokens": 8, "times": [0, 1]}
    assert len(load([], {"experiments": {"e": experiment}}).cases()) == 1


def test_prompts_may_come_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "prompts.csv"
    file.write_text("0\n1\n1\n")
    labels = {"law": "points", "file": str(file)}
    experiment = {
        "kernel": {"type": "prefix", "beta": 1, **TARGETS},
        "labels": labels,
        "n_tokens": 8,
        "times": [0],
    }
    assert len(load([], {"experiments": {"e": experiment}}).cases()) == 1
