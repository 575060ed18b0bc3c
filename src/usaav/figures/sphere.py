"""The sphere S^2 on paper: a fixed orthographic view in which near and far side can be told apart.

What lies on the near side is filled or solid, what lies on the far side hollow or dashed, and paler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.style import GREY, PALE

Array = NDArray[np.float64]

#: more tokens than this are drawn as pixels inside a PDF, which would otherwise become slow to open
MANY = 500


@dataclass(frozen=True)
class View:
    """From where the sphere is looked at; e_3 points up on paper.

    Attributes
    ----------
    elevation
        Angle of the eye above the equator, in degrees.
    azimuth
        Longitude of the eye, in degrees from e_1 towards e_2.
    """

    elevation: float = 24.0
    azimuth: float = -52.0

    def project(self, points: Array) -> tuple[Array, Array, Array]:
        """Right, up (on paper) and depth (> 0: near side) of points ``(..., 3)``, each ``(...)``."""
        azimuth, elevation = np.radians(self.azimuth), np.radians(self.elevation)
        outward = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        up = np.array([0.0, 0.0, 1.0])
        eye = np.cos(elevation) * outward + np.sin(elevation) * up
        upright = np.cos(elevation) * up - np.sin(elevation) * outward
        return points @ right, points @ upright, points @ eye


VIEW = View()


def best_view(points: Array) -> View:
    """The view from above the middle of `points` ``(n, 3)``; the usual one if they lie all around."""
    middle = points.mean(axis=0)
    length = float(np.linalg.norm(middle))
    if length < 0.5:
        return VIEW
    elevation = float(np.degrees(np.arcsin(middle[2] / length)))
    return View(elevation, float(np.degrees(np.arctan2(middle[1], middle[0]))))


def require_sphere(points: Array, where: str) -> None:
    """Refuse points that are not on S^2.

    Raises
    ------
    DataError
        The last dimension is not 3.
    """
    if points.shape[-1] != 3:
        raise DataError(
            f"{where}: tokens have dimension {points.shape[-1]}; a sphere shows dim: 3, so select that"
        )


def draw_sphere(axes: Axes, view: View = VIEW) -> None:
    """The empty sphere: silhouette, and a graticule of 30 degrees that is dotted on the far side."""
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_xlim(-1.09, 1.09)
    axes.set_ylim(-1.09, 1.09)
    axes.add_patch(Circle((0.0, 0.0), 1.0, facecolor="#F7F7F7", edgecolor=GREY, linewidth=0.7, zorder=0))
    around = np.linspace(0.0, 2.0 * np.pi, 181)
    for latitude in np.radians([-60.0, -30.0, 0.0, 30.0, 60.0]):
        height = np.full_like(around, np.sin(latitude))
        ring = np.cos(latitude) * np.stack([np.cos(around), np.sin(around)], axis=-1)
        _draw_line(axes, view, np.column_stack([ring, height]))
    for longitude in np.radians(np.arange(0.0, 180.0, 30.0)):
        direction = np.array([np.cos(longitude), np.sin(longitude), 0.0])
        meridian = np.cos(around)[:, None] * direction + np.sin(around)[:, None] * np.array([0.0, 0.0, 1.0])
        _draw_line(axes, view, meridian)


def draw_points(
    axes: Axes, points: Array, *, color: Any, marker: str = "o", size: float = 10.0, view: View = VIEW
) -> None:
    """Tokens ``(n, 3)``: filled on the near side, hollow on the far side.

    Parameters
    ----------
    color
        One colour, or an array ``(n, 3)`` of them.
    size
        Area of a marker in square points.
    """
    across, up, depth = view.project(points)
    colors: Any = np.broadcast_to(
        to_rgb(color) if isinstance(color, str) else np.asarray(color), (len(points), 3)
    )
    far, near = depth < 0.0, depth >= 0.0
    axes.scatter(
        across[far],
        up[far],
        s=0.8 * size,
        facecolors="#F7F7F7",
        edgecolors=0.35 * 1.0 + 0.65 * colors[far],
        linewidths=min(0.6, 0.27 * size**0.5),
        marker=marker,
        zorder=2,
        rasterized=len(points) > MANY,
    )
    axes.scatter(
        across[near],
        up[near],
        s=size,
        facecolors=colors[near],
        edgecolors="white",
        linewidths=min(0.3, 0.13 * size**0.5),
        marker=marker,
        zorder=5,
        rasterized=len(points) > MANY,
    )


def draw_curve(
    axes: Axes, curve: Array, *, color: str = "black", width: float = 1.1, view: View = VIEW, label: str = ""
) -> None:
    """A curve ``(m, 3)``: solid on the near side, dashed on the far side."""
    across, up, depth = view.project(curve)
    near, far = np.where(depth >= 0.0, up, np.nan), np.where(depth < 0.0, up, np.nan)
    axes.plot(across, far, color=color, linewidth=0.7 * width, linestyle=(0, (3, 2)), alpha=0.7, zorder=3)
    axes.plot(across, near, color=color, linewidth=width, zorder=4, label=label or None)


def mark_points(axes: Axes, points: Array, *, size: float = 60.0, view: View = VIEW, label: str = "") -> None:
    """Predicted places ``(m, 3)``: black rings, thin ones on the far side."""
    across, up, depth = view.project(points)
    for chosen, width, name in ((depth >= 0.0, 0.9, label), (depth < 0.0, 0.4, "")):
        axes.scatter(
            across[chosen],
            up[chosen],
            s=size,
            facecolors="none",
            edgecolors="black",
            linewidths=width,
            zorder=6,
            label=name or None,
        )


def count_if_one(axes: Axes, points: Array, view: View = VIEW) -> None:
    """Write beside a cloud that has become one point how many tokens lie there."""
    if np.max(np.linalg.norm(points - points[0], axis=-1)) > 0.05:
        return
    across, up, _ = view.project(points[0])
    sideways = 1.0 if across < 0.3 else -1.0
    axes.annotate(
        f"all {len(points)}",
        (float(across), float(up)),
        xytext=(9.0 * sideways, 7.0),
        textcoords="offset points",
        ha="left" if sideways > 0 else "right",
        va="center",
        fontsize=7,
        arrowprops={"arrowstyle": "-", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2},
        zorder=7,
    )


def _draw_line(axes: Axes, view: View, line: Array) -> None:
    across, up, depth = view.project(line)
    near, far = np.where(depth >= 0.0, up, np.nan), np.where(depth < 0.0, up, np.nan)
    axes.plot(across, far, color="#DDDDDD", linewidth=0.35, linestyle=":", zorder=1)
    axes.plot(across, near, color=PALE, linewidth=0.35, zorder=1)
