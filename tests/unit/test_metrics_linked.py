"""Compiled components against the graph of all pairs, and against the way that needs no compiler."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from usaav.metrics import clusters
from usaav.metrics.linked import linked


def cloud(n: int, dim: int, spread: float, seed: int) -> np.ndarray:
    """Tokens around a few centres, some of them equal to the last bit."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((5, dim))
    rows = centres[random.integers(5, size=n)] + spread * random.standard_normal((n, dim))
    rows[random.random(n) < 0.3] = rows[0]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("n", [1, 2, 3, 40, 300])
@pytest.mark.parametrize("dim", [2, 3, 7])
@pytest.mark.parametrize("spread", [1e-9, 0.05, 0.3, 3.0])
@pytest.mark.parametrize("angle", [1e-6, 0.1, 1.0])
def test_components_of_the_graph_of_all_pairs(
    n: int, dim: int, spread: float, angle: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = cloud(n, dim, spread, seed=n + dim)
    chord = 2.0 * np.sin(angle / 2.0)
    _, expected = connected_components(cdist(tokens, tokens) < chord, directed=False)
    assert linked(tokens, chord**2).tolist() == expected.tolist()
    assert clusters.components(tokens, angle).tolist() == expected.tolist()
    assert clusters.cluster_count(tokens, angle) == expected.max() + 1
    monkeypatch.setattr(clusters, "_compiled", lambda: None)
    assert clusters.components(tokens, angle).tolist() == expected.tolist()
    assert clusters.cluster_count(tokens, angle) == expected.max() + 1


def test_a_chain_is_one_cluster() -> None:
    angles = 0.09 * np.arange(60)
    chain = np.column_stack([np.cos(angles), np.sin(angles)])[np.random.default_rng(0).permutation(60)]
    assert linked(chain, (2 * np.sin(0.05)) ** 2).max() == 0
    assert linked(chain, (2 * np.sin(0.04)) ** 2).tolist() == list(range(60))
