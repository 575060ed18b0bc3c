"""A scene: what stands still is drawn once, what moves is drawn anew for each frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from usaav.errors import DataError
from usaav.figures.sources import StoredCase

Picture = NDArray[np.uint8]

#: dots per inch of a film
DOTS_PER_INCH = 150


@dataclass(frozen=True)
class Scene:
    """A figure and what changes in it.

    Attributes
    ----------
    figure
        All that stands still; without a layout engine, or frames would jump.
    length
        Number of frames.
    move
        Adds what frame `index` shows on top.
    """

    figure: Figure
    length: int
    move: Callable[[int], None]

    def picture(self, index: int) -> Picture:
        """Frame `index` as pixels ``(height, width, 3)``, both even, as the codec of the MP4 asks for."""
        before = [set(axes.get_children()) for axes in self.figure.axes]
        texts: set[Artist] = set(self.figure.texts)
        self.move(index)
        self.figure.set_dpi(DOTS_PER_INCH)
        canvas: Any = FigureCanvasAgg(self.figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        added: set[Artist] = {text for text in self.figure.texts if text not in texts}
        for axes, old in zip(self.figure.axes, before, strict=True):
            added |= set(axes.get_children()) - old
        for artist in added:
            artist.remove()
        height, width = pixels.shape[0] // 2 * 2, pixels.shape[1] // 2 * 2
        return pixels[:height, :width]


def common_times(chosen: Sequence[StoredCase]) -> NDArray[np.float64]:
    """The times tau at which all cases store tokens.

    Raises
    ------
    DataError
        They store them at different times.
    """
    times = chosen[0].stored_times
    for stored in chosen[1:]:
        if not np.array_equal(stored.stored_times, times):
            raise DataError(
                f"{stored.where}: tokens are stored at other times than those of {chosen[0].where}; "
                "give both experiments the same times and snapshots"
            )
    return times
