"""Laws on the sphere: shape, exact length, distribution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

import usaav
from usaav.errors import ConfigError, DataError
from usaav.laws.figures import vertices
from usaav.laws.outline import heart, main

ROOT = Path(__file__).parents[2]
Array = NDArray[np.float64]
LAWS: list[dict[str, Any]] = [
    {"law": "uniform"},
    {"law": "von_mises_fisher", "mean": [0, 3, 4], "kappa": 5},
    {"law": "hemisphere"},
    {"law": "hemisphere", "pole": [0, 3, -4], "angle": 0.5},
    {"law": "anchored"},
    {"law": "regular", "count": 6},
    {"law": "spiral"},
    {"law": "band"},
    {"law": "mixture", "components": [{"law": "band"}, {"law": "uniform"}], "weights": [3, 1]},
]


def draw(law: dict[str, Any], n_tokens: int = 20_000, dim: int = 3, seed: int = 1) -> Array:
    return usaav.initial_tokens(law, n_tokens=n_tokens, dim=dim, seed=seed)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law["law"])
@pytest.mark.parametrize("n_tokens", [1, 2, 7, 100])
def test_rows_have_length_one(law: dict[str, Any], n_tokens: int) -> None:
    points = draw(law, n_tokens)
    assert points.shape == (n_tokens, 3)
    assert points.dtype == np.float64
    assert np.abs(np.linalg.norm(points, axis=1) - 1.0).max() < 4e-16


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law["law"])
def test_seed_decides(law: dict[str, Any]) -> None:
    np.testing.assert_array_equal(draw(law, 50, seed=3), draw(law, 50, seed=3))
    if law["law"] != "regular":
        assert np.abs(draw(law, 50, seed=3) - draw(law, 50, seed=4)).max() > 1e-3


def beta_law(points: Array, axis: int) -> float:
    """p-value of one coordinate of uniform points: (1 + x)/2 has the Beta((d-1)/2, (d-1)/2) law."""
    shape = (points.shape[1] - 1) / 2
    return float(stats.kstest((1 + points[:, axis]) / 2, stats.beta(shape, shape).cdf).pvalue)


@pytest.mark.parametrize("dim", [2, 3, 4, 7])
def test_uniform(dim: int) -> None:
    points = draw({"law": "uniform"}, dim=dim)
    assert min(beta_law(points, axis) for axis in range(dim)) > 1e-3
    np.testing.assert_allclose(points.T @ points / len(points), np.eye(dim) / dim, atol=0.02)


@pytest.mark.parametrize(("dim", "kappa"), [(2, 3.0), (3, 0.5), (3, 50.0), (5, 4.0)])
def test_von_mises_fisher_has_the_mean_of_theory(dim: int, kappa: float) -> None:
    mean = np.arange(1.0, dim + 1.0)
    points = draw({"law": "von_mises_fisher", "mean": list(mean), "kappa": kappa}, dim=dim)
    # |E x| = I_{d/2}(kappa)/I_{d/2-1}(kappa)
    length = special.ive(dim / 2, kappa) / special.ive(dim / 2 - 1, kappa)
    np.testing.assert_allclose(points.mean(axis=0), length * mean / np.linalg.norm(mean), atol=0.02)


@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize("angle", [1e-6, 0.3, np.pi / 2, 2.5, np.pi])
def test_cap_is_uniform_within_its_angle(dim: int, angle: float) -> None:
    pole = np.arange(dim, 0.0, -1.0) / np.linalg.norm(np.arange(dim, 0.0, -1.0))
    points = draw({"law": "hemisphere", "pole": list(pole), "angle": angle}, dim=dim)
    separation = 2 * np.arcsin(np.minimum(np.linalg.norm(points - pole, axis=1) / 2, 1))
    assert separation.max() <= angle * (1 + 1e-9)
    shape = (dim - 1) / 2
    whole = special.betainc(shape, shape, np.sin(angle / 2) ** 2)
    share = special.betainc(shape, shape, np.sin(separation / 2) ** 2) / whole
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_half_sphere_stands_on_the_last_axis() -> None:
    points = draw({"law": "hemisphere"}, dim=4)
    assert points[:, -1].min() >= 0.0
    np.testing.assert_allclose(points.mean(axis=0)[:-1], 0.0, atol=0.02)


@pytest.mark.parametrize("dim", [2, 3, 4])
def test_band_lies_between_its_latitudes(dim: int) -> None:
    points = draw({"law": "band", "width": 0.4, "latitude": 0.3}, dim=dim)
    latitude = np.arcsin(points[:, -1])
    assert latitude.min() >= 0.1 - 1e-12
    assert latitude.max() <= 0.5 + 1e-12
    if dim == 3:  # height is uniform on S^2 (Archimedes)
        uniform = stats.uniform(np.sin(0.1), np.sin(0.5) - np.sin(0.1))
        assert stats.kstest(points[:, 2], uniform.cdf).pvalue > 1e-3
        angle = np.arctan2(points[:, 1], points[:, 0])
        assert stats.kstest((angle + np.pi) / (2 * np.pi), "uniform").pvalue > 1e-3


def test_band_reaches_the_pole() -> None:
    points = draw({"law": "band", "width": 0.5, "latitude": np.pi / 2 - 0.25})
    assert 2 * np.arcsin(np.linalg.norm(points - [0, 0, 1], axis=1) / 2).max() <= 0.5 + 1e-12


@pytest.mark.parametrize("n_tokens", [1, 2, 7, 100])
@pytest.mark.parametrize("dim", [2, 3, 6])
def test_anchored_is_symmetric_about_the_reference(n_tokens: int, dim: int) -> None:
    points = draw({"law": "anchored"}, n_tokens, dim)
    reference = np.eye(dim)[-1]
    mirrored = 2 * (points @ reference)[:, None] * reference - points
    order = np.lexsort(points.T)
    np.testing.assert_allclose(points[order], mirrored[np.lexsort(mirrored.T)], atol=4e-16)
    mean = points.mean(axis=0)
    assert mean[-1] > 0.0
    assert np.abs(mean[:-1]).max() < 1e-16
    if n_tokens % 2:
        np.testing.assert_array_equal(points[-1], reference)


def test_anchored_half_is_uniform() -> None:
    points = draw({"law": "anchored"})
    assert stats.kstest(points[::2, 2], "uniform").pvalue > 1e-3


def test_spiral_lies_on_its_curve() -> None:
    points = draw({"law": "spiral", "turns": 3})
    assert stats.kstest((points[:, 2] + 1) / 2, "uniform").pvalue > 1e-3
    angle = 3 * np.pi * (1 - points[:, 2])
    radius = np.sqrt(1 - points[:, 2] ** 2)
    np.testing.assert_allclose(
        points[:, :2], np.c_[radius * np.cos(angle), radius * np.sin(angle)], atol=1e-12
    )


def test_mixture_has_its_weights() -> None:
    poles = [{"law": "hemisphere", "pole": [0, 0, sign], "angle": 0.1} for sign in (1, -1)]
    points = draw({"law": "mixture", "components": poles, "weights": [3, 1]})
    assert abs((points[:, 2] > 0).mean() - 0.75) < 0.015
    equal = draw({"law": "mixture", "components": poles})
    assert abs((equal[:, 2] > 0).mean() - 0.5) < 0.015
    only = draw({"law": "mixture", "components": poles, "weights": [0, 1]})
    assert (only[:, 2] < 0).all()


@pytest.mark.parametrize(
    ("count", "dim"),
    [
        (2, 2),
        (3, 2),
        (7, 2),
        (2, 3),
        (4, 3),
        (6, 3),
        (8, 3),
        (12, 3),
        (2, 5),
        (6, 5),
        (10, 5),
        (5, 4),
        (8, 4),
    ],
)
def test_regular_figures_are_regular(count: int, dim: int) -> None:
    corners = vertices(count, dim)
    assert corners.shape == (count, dim)
    np.testing.assert_allclose(np.linalg.norm(corners, axis=1), 1.0, atol=4e-16)
    np.testing.assert_allclose(corners.sum(axis=0), 0.0, atol=1e-14)
    inner = np.sort(np.round(corners @ corners.T, 12), axis=1)
    assert (inner == inner[0]).all()  # every vertex sees the others alike
    assert inner[0, -2] < 1 - 1e-9  # no two vertices are one


def test_regular_tokens_take_the_vertices_in_turn() -> None:
    points = draw({"law": "regular", "count": 4}, 10)
    np.testing.assert_array_equal(points[:4], points[4:8])
    np.testing.assert_array_equal(points[:2], points[8:])


def test_figures_that_do_not_exist() -> None:
    with pytest.raises(ConfigError, match="regular figure in dimension 3"):
        vertices(7, 3)
    with pytest.raises(ConfigError, match="2, 4, 6, 8, 12"):
        draw({"law": "regular", "count": 7}, 7)
    with pytest.raises(ConfigError, match="2 or more"):
        draw({"law": "regular", "count": 1}, 7, dim=2)


def test_points_come_from_a_file_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    angles = np.linspace(0.0, 3.0, 10)
    rows = np.c_[2 * np.cos(angles), 2 * np.sin(angles)]
    file.write_text("# comment\nx,y\n\n" + "\n".join(f"{x!r}, {y!r}" for x, y in rows.tolist()))
    law = {"law": "points", "file": str(file)}
    np.testing.assert_allclose(draw(law, 10, 2), rows / 2, atol=4e-16)
    few = draw(law, 4, 2)
    angle = np.arctan2(few[:, 1], few[:, 0])
    assert (np.diff(angle) > 0.3).all()
    many = draw(law, 25, 2)
    np.testing.assert_allclose(many[:20], np.r_[rows, rows] / 2, atol=4e-16)
    assert len(np.unique(many[20:], axis=0)) == 5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no numbers"),
        (b"# only a comment\n", "no numbers"),
        (b"x,y,z\n", "no numbers"),
        (b"1,0\n", "expected 3 numbers a row"),
        (b"1,0,0\n1,0\n", "line 2: expected 3 numbers as in the first row, got 2"),
        (b"1,0,0\n0,nan,1\n", "line 2: expected finite numbers"),
        (b"1,0,0\n\n0,1e999,1\n", "line 3: expected finite numbers"),
        (b"1,0,0\n0,a,1\n", "line 2: '0,a,1' is no row of numbers"),
        (b"1;0;0\n0;0;1\n", "line 2: '0;0;1' is no row of numbers"),
        (b"1,0,0\n0,0,0\n", "row 2 of the data is zero"),
        (b"\xff\xfe", "UTF-8"),
        (b"1," * 10_001 + b"1\n", "at most 10000 numbers"),
    ],
)
def test_files_that_hold_no_points(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        draw({"law": "points", "file": str(file)}, 4)
    assert words in str(caught.value)
    assert str(file) in str(caught.value)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        draw({"law": "points", "file": str(tmp_path / "absent.csv")}, 4)
    file = tmp_path / "points.csv"
    file.write_text("1,0,0\n")
    with pytest.raises(DataError, match="not the one"):
        draw({"law": "points", "file": str(file), "sha256": "0" * 64}, 4)
    with file.open("wb") as stream:
        stream.truncate(100_000_001)
    with pytest.raises(DataError, match="at most 100 MB"):
        draw({"law": "points", "file": str(file)}, 4)


def test_picture_is_the_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = ROOT / "config/targets/heart.csv"
    points = draw({"law": "points", "file": str(shipped)}, 400)
    np.testing.assert_allclose(points, heart(), atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(heart(50), axis=1), 1.0, atol=4e-16)
    steps = np.linalg.norm(np.diff(heart(), axis=0), axis=1)
    assert steps.max() / steps.min() < 1.6  # evenly spaced in the plane, so nearly so on the sphere
    assert main(["--file", str(tmp_path / "heart.csv")]) == 0
    assert (tmp_path / "heart.csv").read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize(
    ("law", "arguments", "words"),
    [
        ({"law": "unifrom"}, {}, "Did you mean 'uniform'"),
        ({"law": "uniform", "kapa": 1}, {}, "initial.kapa"),
        ({"law": "uniform"}, {"n_tokens": 0}, "n_tokens = 0"),
        ({"law": "uniform"}, {"n_tokens": 2.5}, "n_tokens = 2.5"),
        ({"law": "uniform"}, {"n_tokens": True}, "n_tokens = True"),
        ({"law": "uniform"}, {"dim": 1}, "dim = 1"),
        ({"law": "uniform"}, {"seed": -1}, "seed = -1"),
        ({"law": "spiral"}, {"dim": 2}, "dim 3"),
        ({"law": "von_mises_fisher", "mean": [1, 0], "kappa": 1}, {}, "3 components"),
        (None, {}, "mapping"),
        ({"law": {1}}, {}, "set"),
    ],
)
def test_wrong_arguments(law: Any, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        usaav.initial_tokens(law, **{"n_tokens": 5, "dim": 3, **arguments})
    assert words in str(caught.value)
