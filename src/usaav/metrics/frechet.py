"""The Frechet mean of points on a sphere: the point of least mean squared angle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from usaav.metrics.token_data import angles

Array = NDArray[np.float64]

_CANDIDATES = 64
_STARTS = 4
_MOST_STEPS = 2000
_SOME = 2048


def frechet_distance(cloud: Array) -> float:
    """Least root mean square angle (radians) from the unit rows ``(n, d)`` to a point of the sphere.

    On the circle it is exact: the mean turns with the place where the circle is cut open, so all n cuts are
    compared. On other spheres the function can have several minima; descent starts from the best few of the
    direction of the mean, tokens spread over the cloud and the principal axes.
    """
    if cloud.shape[1] == 2:
        return _on_circle(cloud)
    starts = _candidates(cloud)
    # good enough to rank them, though not to the last digit
    spreads = np.mean(np.arccos(np.clip(cloud @ starts.T, -1.0, 1.0)) ** 2, axis=0)
    best = np.argsort(spreads, kind="stable")[:_STARTS]
    # of very many tokens some, evenly spread over the list, tell where the deepest valley is
    some = cloud[:: max(1, len(cloud) // _SOME)]
    square, point = min((_descend(some, starts[index]) for index in best), key=lambda reached: reached[0])
    if len(some) < len(cloud):
        square, _ = _descend(cloud, point)
    return float(np.sqrt(square))


def _mean_square(cloud: Array, point: Array) -> float:
    return float(np.mean(angles(cloud, point) ** 2))


def _candidates(cloud: Array) -> Array:
    """Unit rows from which to descend."""
    mean = cloud.mean(axis=0)
    length = float(np.linalg.norm(mean))
    axes = np.linalg.svd(cloud, full_matrices=True)[2] if len(cloud) < cloud.shape[1] else _axes(cloud)
    spread = cloud[np.unique(np.linspace(0, len(cloud) - 1, _CANDIDATES).astype(np.int64))]
    rows = [spread, axes, -axes] if length == 0.0 else [mean[None] / length, spread, axes, -axes]
    return np.concatenate(rows)


def _axes(cloud: Array) -> Array:
    return np.asarray(np.linalg.eigh(cloud.T @ cloud)[1].T)


def _descend(cloud: Array, point: Array) -> tuple[float, Array]:
    """Least mean squared angle reached from `point`, and where: Newton steps if they lower it, else Karcher.

    A Newton step takes the absolute curvature, so that it leads down also where the curvature is negative. A
    Karcher step goes along the mean of the logarithms; the second derivative of half the squared angle is at
    most 1 in every direction, so it never raises the mean square, but in a flat valley it takes thousands.
    """
    square = _mean_square(cloud, point)
    for _ in range(_MOST_STEPS):
        gradient, curvature = _derivatives(cloud, point)
        # the mean square changes by about |gradient|^2 from here on
        if float(gradient @ gradient) <= 1e-14 * square:
            break
        for step in _steps(gradient, curvature):
            moved = _moved(point, step)
            reached = _mean_square(cloud, moved)
            if reached < square:
                break
        else:
            break
        point, square = moved, reached
    return square, point


def _steps(gradient: Array, curvature: Array) -> Iterator[Array]:
    """Tangent steps to try, boldest first."""
    values, vectors = np.linalg.eigh(curvature)
    # along a ridge the same length leads down from it; where it is flat, no further than sense allows
    newton = np.asarray(vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), 1e-3)))
    length = float(np.linalg.norm(newton))
    yield newton * min(1.0, 1.0 / length)
    yield newton * min(0.25, 0.25 / length)
    yield gradient


def _moved(point: Array, step: Array) -> Array:
    """The point of the sphere that `step`, a tangent vector at `point`, leads to."""
    length = float(np.linalg.norm(step))
    moved = np.cos(length) * point + np.sin(length) * step / length
    return np.asarray(moved / np.linalg.norm(moved))


def _derivatives(cloud: Array, point: Array) -> tuple[Array, Array]:
    """Mean tangent vector at `point` that leads to the rows, second derivative of half the mean square.

    The latter is 1 on `point` itself, which is not tangent. A row at the antipode has no direction.
    """
    chords = cloud - point
    tangents = chords + 0.5 * np.sum(chords**2, axis=1, keepdims=True) * point
    lengths = np.linalg.norm(tangents, axis=1, keepdims=True)
    away = lengths > 1e-300
    directions = np.divide(tangents, lengths, out=np.zeros_like(tangents), where=away)
    distances = angles(cloud, point)[:, None]
    # theta cot(theta), 1 where theta is 0
    across = np.divide(
        distances * (1.0 - 0.5 * np.sum(chords**2, axis=1, keepdims=True)),
        lengths,
        out=np.ones_like(lengths),
        where=away,
    )
    n, dim = cloud.shape
    curvature = np.mean(across) * np.eye(dim) + (directions * (1.0 - across)).T @ directions / n
    curvature += (1.0 - np.mean(across)) * np.outer(point, point)
    return np.asarray(np.mean(distances * directions, axis=0)), np.asarray(curvature)


def _on_circle(cloud: Array) -> float:
    # measured from the first point, so that a collapsed cloud keeps the digits of its size
    first = cloud[0]
    crossed = first[0] * cloud[:, 1] - first[1] * cloud[:, 0]
    inner = cloud @ first
    position = np.sort(np.arctan2(crossed, inner))
    n = len(position)
    cuts = np.arange(n)
    # cutting before point k moves the first k points up by a turn, and with them the mean
    sums = np.concatenate([[0.0], np.cumsum(position)[:-1]])
    means = position.mean() + 2.0 * np.pi * cuts / n
    spreads = (4.0 * np.pi * sums + 4.0 * np.pi**2 * cuts) / n - means**2
    turned = position + 2.0 * np.pi * (cuts < int(np.argmin(spreads)))
    return float(np.std(turned))
