"""CSV files that a configuration names: found, sized and fingerprinted when it is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from usaav.config.label_models import PointsFile
from usaav.config.problems import Problem

MAX_FILE_BYTES = 100_000_000


class DataFiles:
    """Finds the files of ``law: points`` entries.

    A relative path is looked for in the working directory, then in the folder of each configuration file and
    in the folder above it. The settings then hold the path from the working directory and the digest of the
    content.
    """

    def __init__(self, config_files: Sequence[Path]) -> None:
        folders = [Path()]
        for file in reversed(config_files):
            folders += [file.parent, file.absolute().parent.parent]
        self._folders = folders
        self._known: dict[str, tuple[str, str] | str] = {}

    def located(self, node: Any, key: tuple[str, ...]) -> tuple[Any, list[Problem]]:
        """`node` (settings, raw or validated) with every file found, and problems with keys under `key`."""
        if isinstance(node, PointsFile):
            node = node.model_dump()
        elif isinstance(node, BaseModel):
            # of validated settings only prefix targets can hold a file further down
            if not isinstance(_targets(node), PointsFile):
                return node, []
            node = node.model_dump()
        if not isinstance(node, Mapping):
            return node, []
        if node.get("law") == "points":
            return self._with_digest(node, key)
        result, problems = dict(node), []
        for name, entry in node.items():
            if isinstance(entry, (Mapping, BaseModel)):
                result[name], found = self.located(entry, (*key, str(name)))
                problems += found
        return result, problems

    def _with_digest(self, node: Mapping[str, Any], key: tuple[str, ...]) -> tuple[Any, list[Problem]]:
        file = node.get("file")
        if not isinstance(file, str) or not file or "\0" in file:
            return node, []  # left to the model, which says what is wrong
        if file not in self._known:
            self._known[file] = self._read(file)
        found = self._known[file]
        if isinstance(found, str):
            return node, [Problem((*key, "file"), found, file)]
        path, digest = found
        if node.get("sha256") not in (None, digest):
            text = f"expected the digest of {path}, {digest}; the file has changed or is another one"
            return node, [Problem((*key, "sha256"), text, node["sha256"])]
        return {**node, "file": path, "sha256": digest}, []

    def _read(self, file: str) -> tuple[str, str] | str:
        candidates = list(dict.fromkeys(Path(os.path.normpath(folder / file)) for folder in self._folders))
        try:
            found = next((candidate for candidate in candidates if candidate.is_file()), None)
            if found is not None:
                return _fingerprint(found)
        except OSError as error:
            return f"expected a readable file: {error.strerror}"
        return f"expected an existing file; looked for {', '.join(map(str, candidates))}"


def _fingerprint(path: Path) -> tuple[str, str] | str:
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        return f"expected a file of at most {MAX_FILE_BYTES // 10**6} MB, not {size / 1e6:.0f} MB"
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Path(os.path.relpath(path)).as_posix(), digest


def _targets(node: BaseModel) -> Any:
    gauge = getattr(node, "gauge", None)
    return getattr(gauge, "targets", None)
