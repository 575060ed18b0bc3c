"""Writing frames as GIF (pillow) and MP4 (the ffmpeg that imageio-ffmpeg brings)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import imageio_ffmpeg
import numpy as np
from PIL import Image

from usaav.errors import DataError
from usaav.films.scenes import Picture

FRAMES_PER_SECOND = 10
#: frames for which the first and the last picture are held, so that a viewer of the loop sees where it starts
HOLD_FIRST, HOLD_LAST = 6, 20
#: colours of a GIF
_COLORS = 128


def write_gif(pictures: Sequence[Picture], path: Path) -> None:
    """Write a GIF that loops, with one palette for all frames.

    Raises
    ------
    DataError
        There are no frames, or the file can't be written.
    """
    _require_frames(pictures, path)
    palette = _palette(pictures)
    images = [
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures
    ]
    duration = [1000 // FRAMES_PER_SECOND] * len(images)
    duration[0], duration[-1] = duration[0] * HOLD_FIRST, duration[-1] * HOLD_LAST
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        images[0].save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=images[1:],
            duration=duration,
            loop=0,
            disposal=1,
            optimize=False,
        )
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"{path}: can't write ({error}); check free space and permissions") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_mp4(pictures: Sequence[Picture], path: Path) -> None:
    """Write an MP4 (H.264, plays in every browser).

    One thread and no metadata, so that equal frames give equal bytes.

    Raises
    ------
    DataError
        There are no frames, or the file can't be written.
    """
    _require_frames(pictures, path)
    height, width = pictures[0].shape[:2]
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    held = [pictures[0]] * (HOLD_FIRST - 1) + list(pictures) + [pictures[-1]] * (HOLD_LAST - 1)
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y"]
    shape = ["-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(FRAMES_PER_SECOND)]
    command += ["-f", "rawvideo", *shape]
    command += ["-i", "-", "-c:v", "libx264", "-preset", "medium", "-crf", "20", "-pix_fmt", "yuv420p"]
    command += ["-threads", "1", "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
    command += ["-movflags", "+faststart", "-f", "mp4", str(temporary)]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        frames = b"".join(np.ascontiguousarray(picture).tobytes() for picture in held)
        done = subprocess.run(command, input=frames, capture_output=True, check=False)
        if done.returncode != 0:
            message = done.stderr.decode(errors="replace").strip()
            raise DataError(f"{path}: ffmpeg ended with {done.returncode}: {message}")
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"{path}: can't write ({error}); check free space and permissions") from error
    finally:
        temporary.unlink(missing_ok=True)


def _require_frames(pictures: Sequence[Picture], path: Path) -> None:
    if not pictures:
        raise DataError(f"{path}: a film of no frames; store tokens at more times (`snapshots:`)")


def _palette(pictures: Sequence[Picture]) -> Image.Image:
    """Colours that come near all that the first, middle and last frame have, however few pixels have them."""
    shown = np.concatenate([pictures[0], pictures[len(pictures) // 2], pictures[-1]])
    distinct = np.unique(shown.reshape(-1, 3), axis=0)
    return Image.fromarray(distinct[None]).quantize(_COLORS, method=Image.Quantize.MEDIANCUT)
