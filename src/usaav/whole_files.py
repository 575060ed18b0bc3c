"""Text files that appear whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from usaav.errors import DataError


def write_text(path: Path | str, text: str) -> None:
    """Write `text` (UTF-8, line ends as they are) under a temporary name in the same folder, then rename it.

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
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(text.encode("utf-8"))
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise DataError(f"{target}: can't write ({error}); check free space and permissions") from error
