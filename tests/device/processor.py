"""The processor as a device: ``field.cu``, the very file, compiled by the C++ compiler at hand."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.gpu import field
from usaav.gpu.field import Kind

HERE = Path(__file__).parent
COMPILER = next((found for name in ("g++", "clang++", "c++") if (found := shutil.which(name))), None)


class ProcessorDevice:
    """See :class:`usaav.gpu.device.Device`; new arrays are full of NaN, so that nothing unset goes unseen.

    Parameters
    ----------
    folder
        Where compiled libraries are kept.
    memory
        Bytes that it says it has.
    """

    def __init__(self, folder: Path, memory: int = 1 << 30) -> None:
        self.name = "the processor"
        self.facts = {"device": self.name}
        self.launched: list[str] = []
        self.downloaded: list[int] = []
        self.folder, self._memory = folder, memory

    def empty(self, shape: Sequence[int], dtype: Any = np.float64) -> NDArray[Any]:
        array = np.empty(shape, dtype)
        array.view(np.uint8)[...] = 0xFF
        return array

    def upload(self, values: ArrayLike) -> NDArray[Any]:
        return np.array(values, copy=True, order="C")

    def download(self, array: NDArray[Any]) -> NDArray[Any]:
        self.downloaded.append(array.nbytes)
        return array.copy()

    def address(self, array: NDArray[Any]) -> int:
        return array.ctypes.data

    def free_memory(self) -> int:
        return self._memory

    def compiled(self, kind: Kind) -> ProcessorKernels:
        return ProcessorKernels(self, library(kind, self.folder))


class ProcessorKernels:
    def __init__(self, device: ProcessorDevice, compiled: ctypes.CDLL) -> None:
        self._device, self.library = device, compiled

    def launch(self, name: str, grid: tuple[int, int, int], *arguments: Any) -> None:
        self._device.launched.append(name)
        call = getattr(self.library, f"launch_{name}")
        call.restype = None
        call(*(ctypes.c_uint(blocks) for blocks in grid), *map(_argument, arguments))


def library(kind: Kind, folder: Path) -> ctypes.CDLL:
    """``field.cu`` compiled for `kind`; kept in `folder` under a name that tells what went into it."""
    assert COMPILER is not None
    parts = [HERE / "cuda_on_processor.h", Path(field.__file__).with_name("field.cu"), HERE / "launchers.h"]
    stamp = hashlib.sha256(" ".join(kind.options).encode())
    for part in [Path(__file__), *parts]:
        stamp.update(part.read_bytes())
    path = folder / f"{stamp.hexdigest()[:20]}.so"
    if not path.exists():
        text = "".join(f'#include "{part}"\n' for part in parts)
        made = path.with_suffix(f".{os.getpid()}")
        warnings = [
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unknown-pragmas",
            "-Wno-unused-function",
            "-Wno-unused-parameter",
        ]
        # hidden: else the libraries of a process share what the first one holds in static memory of
        # templates, which has another size for another dimension
        hidden = "-fvisibility=hidden"
        command = [COMPILER, "-x", "c++", "-", *kind.options, "-O1", "-fPIC", "-shared", hidden, *warnings]
        done = subprocess.run(
            [*command, "-o", str(made)], input=text, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        made.rename(path)
    return ctypes.CDLL(str(path))


def _argument(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    assert isinstance(value, np.int32)
    return ctypes.c_int(int(value))
