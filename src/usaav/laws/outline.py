"""The picture among the targets of gauge universality: a heart drawn on the sphere.

``python -m usaav.laws.outline`` writes ``config/targets/heart.csv``. Any CSV file of points works as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FILE = Path("config/targets/heart.csv")
POINTS = 400
#: angle on the sphere per unit of the plane curve, which is 32 wide: the picture spans 100 degrees
SCALE = np.radians(100.0) / 32.0


def heart(n_points: int = POINTS) -> Array:
    """Points ``(n_points, 3)`` of length 1, equally spaced along the curve.

    The plane curve is ``x = 16 sin^3 t, y = 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t``. A point at distance r
    from the origin goes to the point at angle ``SCALE * r`` from e_1, in the direction whose components along
    e_2 and e_3 are x and y (azimuthal equidistant projection), so the picture stands upright on the equator.
    """
    fine = np.linspace(0.0, 2.0 * np.pi, 20_001)
    curve = _curve(fine)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    parameter = np.interp(np.arange(n_points) * length[-1] / n_points, length, fine)
    flat = _curve(parameter)
    radius = np.linalg.norm(flat, axis=1)
    angle = SCALE * radius
    return np.column_stack([np.cos(angle), np.sin(angle)[:, None] * flat / radius[:, None]])


def _curve(t: Array) -> Array:
    height = 13.0 * np.cos(t) - 5.0 * np.cos(2.0 * t) - 2.0 * np.cos(3.0 * t) - np.cos(4.0 * t)
    return np.column_stack([16.0 * np.sin(t) ** 3, height])


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the CSV file."""
    parser = argparse.ArgumentParser(
        prog="python -m usaav.laws.outline", description="Write the heart's points."
    )
    parser.add_argument("--file", type=Path, default=FILE, help=f"default: {FILE}")
    file: Path = parser.parse_args(arguments).file
    rows = "".join(",".join(f"{value:.9f}" for value in row) + "\n" for row in heart())
    file.write_text(
        "# a heart on the sphere, written by python -m usaav.laws.outline\nx,y,z\n" + rows, encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
