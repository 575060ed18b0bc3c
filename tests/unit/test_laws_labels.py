"""Laws of labels: shape, range, distribution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import usaav
from usaav.config.label_models import PromptsLabels
from usaav.errors import ConfigError, DataError
from usaav.laws.labels import draw
from usaav.seeds import generator

Array = NDArray[np.float64]
TURN = 2 * np.pi


def labels(law: dict[str, Any], n_tokens: int = 20_000, seed: int = 1) -> Array:
    return usaav.labels(law, n_tokens=n_tokens, seed=seed)


LAWS: list[dict[str, Any]] = [
    {"law": "grid"},
    {"law": "uniform"},
    {"law": "von_mises", "kappa": 4},
    {"law": "arcs", "arcs": [[0, 1]]},
    {"law": "atoms", "positions": [1, 2]},
    {"law": "cantor"},
    {"law": "prompts", "count": 3},
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law["law"])
def test_shape_and_seed(law: dict[str, Any]) -> None:
    found = labels(law, 50, seed=2)
    assert found.shape == (50,)
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, labels(law, 50, seed=2))
    assert law["law"] in ("grid", "prompts") or (found != labels(law, 50, seed=3)).any()


def test_grid_is_evenly_spaced_and_open_at_its_end() -> None:
    np.testing.assert_allclose(labels({"law": "grid"}, 8), TURN * np.arange(8) / 8, rtol=1e-15)
    np.testing.assert_allclose(labels({"law": "grid", "start": 1, "stop": 2}, 4), [1, 1.25, 1.5, 1.75])


def test_grid_with_a_count_repeats_labels() -> None:
    found = labels({"law": "grid", "count": 4, "stop": 4}, 10)
    np.testing.assert_array_equal(found, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1])


def test_prompts_go_round() -> None:
    np.testing.assert_array_equal(labels({"law": "prompts", "count": 3}, 7), [0, 1, 2, 0, 1, 2, 0])
    np.testing.assert_array_equal(labels({"law": "prompts"}, 3), [0, 1, 2])
    law = PromptsLabels(law="prompts")
    np.testing.assert_array_equal(draw(law, 5, generator("x"), 2), [0, 1, 0, 1, 0])


def test_uniform() -> None:
    assert stats.kstest(labels({"law": "uniform"}) / TURN, "uniform").pvalue > 1e-3
    found = labels({"law": "uniform", "start": -1, "stop": 3})
    assert stats.kstest((found + 1) / 4, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("kappa", "mean"), [(0.5, 0.0), (4.0, 3.0), (100.0, 6.0)])
def test_von_mises(kappa: float, mean: float) -> None:
    found = labels({"law": "von_mises", "kappa": kappa, "mean": mean})
    assert found.min() >= 0.0
    assert found.max() < TURN
    centred = np.mod(found - mean + np.pi, TURN) - np.pi
    assert stats.kstest(centred, stats.vonmises(kappa).cdf).pvalue > 1e-3


def test_arcs_are_filled_evenly() -> None:
    found = labels({"law": "arcs", "arcs": [[4, 5], [0, 0.5], [-2, -1.5]]})
    inside = (
        ((found >= 4) & (found <= 5)) | ((found >= 0) & (found <= 0.5)) | ((found >= -2) & (found <= -1.5))
    )
    assert inside.all()
    assert abs((found >= 4).mean() - 0.5) < 0.015
    assert stats.kstest(found[found >= 4] - 4, "uniform").pvalue > 1e-3


def test_atoms_have_their_weights() -> None:
    found = labels({"law": "atoms", "positions": [1, 2.5, 4], "weights": [1, 2, 1]})
    values, counts = np.unique(found, return_counts=True)
    np.testing.assert_array_equal(values, [1, 2.5, 4])
    assert stats.chisquare(counts, len(found) * np.array([0.25, 0.5, 0.25])).pvalue > 1e-3
    _, equal = np.unique(labels({"law": "atoms", "positions": [1, 2]}), return_counts=True)
    assert stats.chisquare(equal).pvalue > 1e-3


def test_cantor_has_the_moments_of_its_law() -> None:
    found = labels({"law": "cantor"}, 200_000) / TURN
    assert found.min() >= 0.0
    assert found.max() < 1.0
    assert abs(found.mean() - 0.5) < 0.005  # mean 1/2 and variance 1/8
    assert abs(found.var() - 0.125) < 0.002
    middle = (found > 1 / 3 + 1e-12) & (found < 2 / 3 - 1e-12)
    assert not middle.any()
    # self-similar: the left third, stretched, is the whole again
    assert stats.ks_2samp(3 * found[found < 0.5], found).pvalue > 1e-3


def test_cantor_of_depth_one_has_two_values() -> None:
    np.testing.assert_allclose(np.unique(labels({"law": "cantor", "depth": 1}, 100)), [0, TURN * 2 / 3])


def test_points_come_from_a_column(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("name,label\n0,1.5\n1,2.5\n2,3.5\n")
    law = {"law": "points", "file": str(file), "column": 1}
    np.testing.assert_array_equal(labels(law, 5), [1.5, 2.5, 3.5, 1.5, 2.5])
    with pytest.raises(DataError, match="no column 2; it has 2"):
        labels({**law, "column": 2}, 5)


@pytest.mark.parametrize(
    ("law", "n_tokens", "words"),
    [
        ({"law": "gird"}, 5, "Did you mean 'grid'"),
        ({"law": "grid", "stop": -1}, 5, "labels.stop = -1"),
        ({"law": "grid"}, 0, "n_tokens = 0"),
        ({}, 5, "labels.law"),
    ],
)
def test_wrong_arguments(law: Any, n_tokens: int, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        usaav.labels(law, n_tokens=n_tokens)
    assert words in str(caught.value)
