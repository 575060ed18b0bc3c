"""The compilers for devices that are at hand: NVRTC, from .cuda or the system, and nvcc; no device needed."""

from __future__ import annotations

import ctypes
import ctypes.util
import shutil
import subprocess
from pathlib import Path
from typing import Protocol

from usaav.gpu.field import Kind, source


class Compiler(Protocol):
    def architectures(self) -> set[int]:
        """Numbers of the architectures it compiles for: 70 for sm_70."""
        ...

    def compile(self, kind: Kind, architecture: int, more: str = "") -> tuple[bool, str]:
        """Whether it compiles, with `more` after it, and what the compiler said."""
        ...


class Nvrtc:
    """The library by which cupy compiles."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)

    def architectures(self) -> set[int]:
        count = ctypes.c_int()
        assert self._library.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
        numbers = (ctypes.c_int * count.value)()
        assert self._library.nvrtcGetSupportedArchs(numbers) == 0
        return set(numbers)

    def compile(self, kind: Kind, architecture: int, more: str = "") -> tuple[bool, str]:
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        text = (source() + more).encode()
        made = self._library.nvrtcCreateProgram(ctypes.byref(program), text, b"field.cu", 0, None, None)
        assert made == 0
        words = [*kind.options, f"--gpu-architecture=sm_{architecture}"]
        options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
        failed = self._library.nvrtcCompileProgram(program, len(words), options)
        self._library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self._library.nvrtcGetProgramLog(program, log)
        if not failed:
            self._library.nvrtcGetCUBINSize(program, ctypes.byref(size))
            failed = size.value == 0
        self._library.nvrtcDestroyProgram(ctypes.byref(program))
        return not failed, log.value.decode()


class Nvcc:
    """The compiler of a CUDA toolkit."""

    def __init__(self, path: str, folder: Path) -> None:
        self._path, self._folder = path, folder

    def architectures(self) -> set[int]:
        listed = subprocess.run([self._path, "--list-gpu-code"], capture_output=True, text=True, check=True)
        return {int(line.removeprefix("sm_")) for line in listed.stdout.split()}

    def compile(self, kind: Kind, architecture: int, more: str = "") -> tuple[bool, str]:
        file = self._folder / "field.cu"
        file.write_text(source() + more, encoding="utf-8")
        command = [
            self._path,
            *kind.options,
            f"-arch=sm_{architecture}",
            "-cubin",
            "-o",
            f"{file}.bin",
            str(file),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode == 0, done.stdout + done.stderr


def at_hand(repo: Path, folder: Path) -> list[Compiler]:
    """All that are found on this machine."""
    found: list[Compiler] = []
    bundled = sorted((repo / ".cuda").glob("lib/python*/site-packages/nvidia/*/lib/libnvrtc.so.*"))
    installed = ctypes.util.find_library("nvrtc")
    path = str(bundled[0]) if bundled else installed
    if path is not None:
        found.append(Nvrtc(path))
    nvcc = shutil.which("nvcc")
    if nvcc is not None:
        found.append(Nvcc(nvcc, folder))
    return found
