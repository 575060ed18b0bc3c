"""Sampling of points on the sphere S^{d-1}: initial tokens and prefix targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.config.law_models import (
    AnchoredPoints,
    BandPoints,
    FilePoints,
    HemispherePoints,
    MixturePoints,
    RegularPoints,
    SpiralPoints,
    TokenLaw,
    UniformPoints,
    VonMisesFisherPoints,
)
from usaav.errors import ConfigError, DataError
from usaav.laws.csv_files import read_numbers
from usaav.laws.figures import vertices

Array = NDArray[np.float64]


def draw(law: TokenLaw, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    """Points ``(n_points, dim)`` of `law`, rows of length 1.

    Where ``law.in_gauge`` is true (law `anchored`) they are gauge coordinates z; the tokens are x = G^T z.

    Raises
    ------
    ConfigError
        The law does not exist in `dim` dimensions.
    DataError
        The file of law `points` cannot be used.
    """
    wrong = [f"{'.'.join(map(str, key))}: expected {expected}" for key, expected in law.needs(dim)]
    if wrong:
        raise ConfigError(f"law {law.law} in dimension {dim}: {'; '.join(wrong)}")
    return normalised(_SAMPLERS[type(law)](law, n_points, dim, rng))


def normalised(points: Array) -> Array:
    """Rows scaled to length 1."""
    rows: Array = points / np.linalg.norm(points, axis=-1, keepdims=True)
    return rows


def _independent(_law: UniformPoints, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    return _uniform(n_points, dim, rng)


def _corners(law: RegularPoints, n_points: int, dim: int, _rng: np.random.Generator) -> Array:
    corners = vertices(law.count, dim)
    return corners[np.arange(n_points) % len(corners)]


def _uniform(n_points: int, dim: int, rng: np.random.Generator) -> Array:
    # a Gaussian vector has no preferred direction
    return normalised(rng.standard_normal((n_points, dim)))


def _von_mises_fisher(law: VonMisesFisherPoints, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    from scipy.stats import vonmises_fisher  # half a second to import, and most jobs do not need it

    mean = np.array(law.mean)
    # its type stubs want a whole number for kappa; any positive one is meant
    distribution = vonmises_fisher(mean / np.linalg.norm(mean), law.kappa)  # type: ignore[arg-type]
    return np.asarray(distribution.rvs(n_points, random_state=rng), dtype=np.float64).reshape(n_points, dim)


def _mixture(law: MixturePoints, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    weights = np.ones(len(law.components)) if law.weights is None else np.array(law.weights)
    chosen = rng.choice(len(weights), size=n_points, p=weights / weights.sum())
    points = np.empty((n_points, dim))
    for index, component in enumerate(law.components):
        here = chosen == index
        points[here] = draw(component, int(here.sum()), dim, rng) if here.any() else 0.0
    return points


def _heights(low: float, high: float, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    """``y = (1 - <x, axis>)/2`` of uniform points with low <= y <= high.

    On S^{d-1} that quantity has the Beta((d-1)/2, (d-1)/2) law; its distribution function is inverted. y
    rather than the inner product keeps all digits near the pole.
    """
    from scipy.special import betainc, betaincinv

    shape = (dim - 1) / 2.0
    share = rng.uniform(betainc(shape, shape, low), betainc(shape, shape, high), n_points)
    return np.clip(betaincinv(shape, shape, share), low, high)


def _around_last_axis(heights: Array, dim: int, rng: np.random.Generator) -> Array:
    """Points with the given ``y = (1 - x_d)/2``, uniform in the remaining directions."""
    n_points = len(heights)
    sideways = 2.0 * np.sqrt(heights * (1.0 - heights))
    return np.column_stack([sideways[:, None] * _uniform(n_points, dim - 1, rng), 1.0 - 2.0 * heights])


def _cap(law: HemispherePoints, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    # (1 - cos a)/2 = sin^2(a/2)
    points = _around_last_axis(
        _heights(0.0, float(np.sin(law.angle / 2.0)) ** 2, n_points, dim, rng), dim, rng
    )
    if law.pole is None:
        return points
    pole = np.array(law.pole) / np.linalg.norm(law.pole)
    normal = pole - np.eye(dim)[-1]
    length = np.linalg.norm(normal)
    if length < 1e-15:
        return points
    # the reflection that takes e_d to the pole; the cap's law does not notice the change of orientation
    normal /= length
    turned: Array = points - 2.0 * (points @ normal)[:, None] * normal
    return turned


def _band(law: BandPoints, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    # latitude l has height sin l; the polar angle of its upper edge is pi/2 - l
    polar = np.pi / 2.0 - law.latitude
    low, high = np.sin((np.clip([polar - law.width / 2.0, polar + law.width / 2.0], 0.0, np.pi)) / 2.0) ** 2
    return _around_last_axis(_heights(float(low), float(high), n_points, dim, rng), dim, rng)


def _anchored(_law: AnchoredPoints, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    half = _uniform(n_points // 2, dim, rng)
    half[:, -1] = np.abs(half[:, -1])
    # 2 <z, u0> u0 - z keeps the last component and turns the sign of the others, so the mean lies on u0
    # exactly
    mirrored = -half
    mirrored[:, -1] = half[:, -1]
    points = np.empty((n_points, dim))
    points[0 : 2 * len(half) : 2] = half
    points[1 : 2 * len(half) : 2] = mirrored
    if n_points % 2:
        points[-1] = np.eye(dim)[-1]
    return points


def _spiral(law: SpiralPoints, n_points: int, _dim: int, rng: np.random.Generator) -> Array:
    height = rng.uniform(-1.0, 1.0, n_points)
    angle = np.pi * law.turns * (1.0 - height)
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])


def _from_file(law: FilePoints, n_points: int, dim: int, rng: np.random.Generator) -> Array:
    rows = read_numbers(law.file, law.sha256)
    if rows.shape[1] != dim:
        raise DataError(f"{law.file}: expected {dim} numbers a row, as dim is {dim}, got {rows.shape[1]}")
    short = np.flatnonzero(np.linalg.norm(rows, axis=1) < 1e-12)
    if short.size:
        raise DataError(f"{law.file}: row {short[0] + 1} of the data is zero, which is no direction")
    copies, rest = divmod(n_points, len(rows))
    chosen = np.sort(rng.choice(len(rows), size=rest, replace=False))
    points: Array = rows[np.concatenate([np.tile(np.arange(len(rows)), copies), chosen])]
    return points


_SAMPLERS: dict[type, Callable[[Any, int, int, np.random.Generator], Array]] = {
    UniformPoints: _independent,
    VonMisesFisherPoints: _von_mises_fisher,
    MixturePoints: _mixture,
    HemispherePoints: _cap,
    AnchoredPoints: _anchored,
    RegularPoints: _corners,
    SpiralPoints: _spiral,
    BandPoints: _band,
    FilePoints: _from_file,
}
