"""Writing frames as GIF (pillow) and MP4 (the ffmpeg that imageio-ffmpeg brings)."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import imageio_ffmpeg
import numpy as np
from PIL import Image

from usaav.errors import DataError
from usaav.films.scenes import Picture
from usaav.whole_files import replacing

FRAMES_PER_SECOND = 10
#: bytes that a film keeps below, so that a page with several opens at once and each can be mailed
LARGEST = 5_000_000
#: frames for which the first and the last picture are held, so that a viewer of the loop sees where it starts
HOLD_FIRST, HOLD_LAST = 6, 20
#: colours of a GIF: background and the like exactly, the rest nearly
_EXACT_COLORS, _OTHER_COLORS = 16, 112


def write_film(pictures: Sequence[Picture], path: Path | str) -> None:
    """Write a film in the format that the ending of `path` names, ``.gif`` or ``.mp4``.

    A GIF loops and has one palette for all frames; an MP4 is H.264, which plays in every browser. Equal
    frames give equal bytes.

    Raises
    ------
    DataError
        Another ending, no frames, the file can't be written, or it would be larger than :data:`LARGEST`.
    """
    ending = Path(path).suffix
    if ending not in _WRITERS:
        raise DataError(
            f"{path}: no film can end with {ending or 'nothing'!r}; name it {' or '.join(_WRITERS)}"
        )
    if not pictures:
        raise DataError(f"{path}: a film of no frames; store tokens at more times (`snapshots:`)")
    with replacing(path) as temporary:
        _WRITERS[ending](pictures, temporary)
        _require_small(temporary, path, len(pictures))


def _gif(pictures: Sequence[Picture], path: Path) -> None:
    palette = _palette(pictures)
    images = [
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures
    ]
    duration = [1000 // FRAMES_PER_SECOND] * len(images)
    duration[0], duration[-1] = duration[0] * HOLD_FIRST, duration[-1] * HOLD_LAST
    images[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=duration,
        loop=0,
        disposal=1,
        optimize=False,
    )


def _mp4(pictures: Sequence[Picture], path: Path) -> None:
    """One thread and no metadata, so that equal frames give equal bytes."""
    height, width = pictures[0].shape[:2]
    held = [pictures[0]] * (HOLD_FIRST - 1) + list(pictures) + [pictures[-1]] * (HOLD_LAST - 1)
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y", "-f", "rawvideo"]
    command += ["-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(FRAMES_PER_SECOND), "-i", "-"]
    command += ["-c:v", "libx264", "-preset", "medium", "-crf", "20", "-pix_fmt", "yuv420p"]
    command += ["-threads", "1", "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
    command += ["-movflags", "+faststart", "-f", "mp4"]
    frames = b"".join(np.ascontiguousarray(picture).tobytes() for picture in held)
    done = subprocess.run([*command, str(path)], input=frames, capture_output=True, check=False)
    if done.returncode != 0:
        message = done.stderr.decode(errors="replace").strip()
        raise DataError(f"{path}: ffmpeg ended with {done.returncode}: {message}")


_WRITERS = {".gif": _gif, ".mp4": _mp4}


def _require_small(written: Path, path: Path | str, frames: int) -> None:
    size = written.stat().st_size
    if size > LARGEST:
        raise DataError(
            f"{path}: {size / 1e6:.1f} MB for {frames} frames, and a film may have {LARGEST / 1e6:.0f} MB: "
            "show fewer frames (the film's option `frames`, or fewer `snapshots:` of its experiments), or "
            "fewer cases by `select:`"
        )


def _palette(pictures: Sequence[Picture]) -> Image.Image:
    """The commonest colours of the first, middle and last frame as they are, and some near all the others."""
    shown = np.concatenate([pictures[0], pictures[len(pictures) // 2], pictures[-1]]).reshape(-1, 3)
    distinct, counts = np.unique(shown, axis=0, return_counts=True)
    common = distinct[np.argsort(-counts, kind="stable")[:_EXACT_COLORS]]
    near = Image.fromarray(distinct[None]).quantize(_OTHER_COLORS, method=Image.Quantize.MEDIANCUT)
    palette = Image.new("P", (1, 1))
    palette.putpalette([*common.reshape(-1).tolist(), *(near.getpalette() or [])])
    return palette
