"""Starts and kernels that several tests share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.flow.systems import ArraySystem, CompiledSystem, Interaction, System
from usaav.kernels import kernel

Array = NDArray[np.float64]

#: both engines, for ``@pytest.mark.parametrize("backend", BACKENDS)``
BACKENDS = ("numba", "numpy")


def tokens(n: int, dim: int, seed: int) -> Array:
    """Uniform unit rows ``(n, dim)``."""
    rows = np.random.default_rng(seed).normal(size=(n, dim))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def pair(angle: float, dim: int = 3) -> Array:
    """Two tokens at this angle, in a plane that contains no axis."""
    frame, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(dim, dim)))
    return np.array([frame[0], math.cos(angle) * frame[0] + math.sin(angle) * frame[1]])


def usa(beta: float) -> dict[str, Any]:
    """The baseline."""
    return {"type": "usa", "beta": beta}


def labels_for(spec: dict[str, Any], n: int, seed: int) -> Array | None:
    """Labels that fit: none for the baseline, four prompts, else angles of which some are equal."""
    gauge = spec["gauge"] if spec["type"] == "combined" else spec
    if spec["type"] == "usa":
        return None
    rng = np.random.default_rng((seed, 1))
    if gauge["type"] == "prefix":
        return rng.integers(0, len(gauge["targets"]), n).astype(float)
    angles = rng.uniform(0.0, 2.0 * math.pi, n)
    angles[-1] = angles[0]
    return angles


def kernels(dim: int) -> dict[str, dict[str, Any]]:
    """One mapping or more of each type, for this dimension."""
    planes = {2: [(0, 1)], 3: [(0, 1), (1, 2)], 5: [(0, 1), (2, 4), (1, 2)]}[dim]
    rope = {"type": "rope", "planes": planes, "frequencies": [1.0, math.sqrt(2.0), -0.4][: len(planes)]}
    general = {
        "type": "generalized_rope",
        "rotations": [
            {"plane": plane, "linear": 0.7 - k, "harmonics": [(1, 0.8, 0.3), (3, -0.2, k)]}
            for k, plane in enumerate(planes)
        ],
    }
    # the first target is the reference point itself, whose reflection is the identity
    prefix = {"type": "prefix", "targets": [*np.eye(dim)[-1:].tolist(), *tokens(3, dim, 11).tolist()]}
    bias = {"type": "distance_bias", "profile": "gaussian", "length": 0.9, "period": 2.0 * math.pi}
    toeplitz = {"type": "toeplitz", "coefficients": {0: 0.2, 1: -0.6, 3: 0.7}}
    return {
        "usa": usa(1.3),
        "rope": {**rope, "beta": 1.3},
        "generalized_rope": {**general, "beta": 0.8},
        "prefix": {**prefix, "beta": 1.1},
        "gaussian_circle": {**bias, "beta": 1.2},
        "exponential_line": {"type": "distance_bias", "beta": 1.2, "profile": "exponential", "length": 1.5},
        "alibi_circle": {
            "type": "distance_bias",
            "beta": 0.6,
            "profile": "alibi",
            "slope": 0.5,
            "period": 3.0,
        },
        "toeplitz_linear": toeplitz,
        "toeplitz_exponential": {**toeplitz, "phi": "exponential", "beta": 1.4},
        "rope_with_toeplitz": {"type": "combined", "beta": 1.0, "gauge": rope, "weight": toeplitz},
        "generalized_rope_with_bias": {"type": "combined", "beta": 0.9, "gauge": general, "weight": bias},
        "prefix_with_bias_linear": {"type": "combined", "phi": "linear", "gauge": prefix, "weight": bias},
    }


#: (name, dim) of every example
ALL = [(name, dim) for dim in (2, 3, 5) for name in kernels(dim)]


def system(
    spec: dict[str, Any], labels: Array | None, backend: str = "numba", *, softmax: bool = False
) -> System:
    """The right-hand side on one of the engines."""
    model = kernel(spec)
    interaction = Interaction(model, None if model.weight.is_constant else labels, softmax)
    return CompiledSystem(interaction) if backend == "numba" else ArraySystem(interaction)
