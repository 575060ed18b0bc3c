"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from usaav.errors import DataError


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary name in the folder of `path`; when the block ends, that file takes its place.

    Folders above it are made. When the block fails, nothing is left behind.

    Raises
    ------
    DataError
        The folder or the file can't be written.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(target)
    except (OSError, RuntimeError) as error:  # the netCDF library raises both
        raise DataError(f"{target}: can't write ({error}); check free space and permissions") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(path: Path | str, text: str) -> None:
    """Write `text` (UTF-8, line ends as they are), all or nothing.

    Parameters
    ----------
    path
        The file; folders above it are made.
    text
        Its contents.

    Raises
    ------
    DataError
        The folder or the file can't be written.
    """
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def require_writable(paths: Iterable[Path | str]) -> None:
    """Raise unless a file can be made in the folder of each of the paths, or in the lowest one above it.

    Raises
    ------
    DataError
        One can't be written; it is named.
    """
    folders = dict.fromkeys(Path(path).absolute().parent for path in paths)
    for folder in folders:
        present = next((place for place in (folder, *folder.parents) if place.exists()), folder)
        if not present.is_dir() or not os.access(present, os.W_OK | os.X_OK):
            raise DataError(f"{present}: can't write into this folder; check its permissions and its disk")
