"""The CUDA device of this process: whether there is one, which, its memory, and the kernels compiled for it.

The only module that imports cupy. cupy imports well where there is no driver and fails when it is first used,
so that a successful import proves nothing.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from usaav.errors import BackendError
from usaav.gpu.field import Kind, source

Grid = tuple[int, int, int]

INSTALL = "pip install 'usaav[cuda12]' or 'usaav[cuda13]', to match the driver"
#: set it to 1 to let several processes of one user compute on one device
SHARE = "USAAV_SHARE_DEVICE"

_LOG = logging.getLogger("usaav")
# codes of cudaError_t
_NO_MEMORY, _INSUFFICIENT_DRIVER, _NO_DEVICE = 2, 35, 100
# seconds between two looks whether a device has become free
_WAIT = 0.5


class Kernels(Protocol):
    """The compiled kernels of one kind of interaction."""

    def launch(self, name: str, grid: Grid, *arguments: Any) -> None:
        """Start kernel `name` on `grid` blocks; `arguments` are device arrays and numpy scalars."""
        ...


class Device(Protocol):
    """Memory and kernels, as the engine uses them: a CUDA device, or in the tests the processor."""

    name: str
    facts: dict[str, str]

    def empty(self, shape: Sequence[int], dtype: Any = np.float64) -> Any:
        """An array on the device, not initialised."""
        ...

    def upload(self, values: ArrayLike) -> Any:
        """A copy on the device."""
        ...

    def download(self, array: Any) -> NDArray[Any]:
        """A copy on the host; what was launched before has ended then."""
        ...

    def address(self, array: Any) -> int:
        """Where the array begins."""
        ...

    def compiled(self, kind: Kind) -> Kernels:
        """The kernels for this kind of interaction."""
        ...

    def free_memory(self) -> int:
        """Bytes that can still be had."""
        ...


def why_not() -> str | None:
    """Why no device can be used here, with what to do about it; None if one can."""
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        return f"cupy can't be imported ({error}): {INSTALL}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
        if count > 0:
            cupy.cuda.runtime.memGetInfo()  # the first call that needs memory on the device
    except RuntimeError as error:
        return _reason(cupy, error)
    if count == 0:
        return _no_device()
    try:
        cupy.cuda.nvrtc.getVersion()
    except (RuntimeError, OSError) as error:
        first = str(error).strip().partition("\n")[0]
        return f"NVRTC, which compiles the kernels, can't be loaded ({first}): {INSTALL}"
    return None


def require() -> None:
    """Nothing, where a device can be used.

    Raises
    ------
    BackendError
        None can; the message has the reason and what to install.
    """
    reason = why_not()
    if reason is not None:
        raise BackendError(f"backend = cupy: {reason}; or use backend numba or numpy")


def _reason(cupy: Any, error: RuntimeError) -> str:
    status = getattr(error, "status", None)
    if status == _INSUFFICIENT_DRIVER:
        driver, runtime = (
            cupy.cuda.runtime.driverGetVersion(),
            cupy.cuda.runtime.runtimeGetVersion(),
        )
        if driver == 0:
            return "there is no NVIDIA driver on this machine: install one, or run where there is a device"
        return (
            f"the driver is for CUDA {_version(driver)}, cupy for {_version(runtime)}: "
            f"install a newer driver, or the cupy that fits ({INSTALL})"
        )
    if status == _NO_DEVICE:
        return _no_device()
    if status == _NO_MEMORY:
        return "the device has no memory left: see with nvidia-smi who has it, or choose another device"
    return f"the device can't be used ({error}): see whether nvidia-smi works"


def _no_device() -> str:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    seen = "is not set" if visible is None else f"= {visible!r}"
    return f"no device is visible (CUDA_VISIBLE_DEVICES {seen}): ask the scheduler for one, or correct it"


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


class CudaDevice:
    """A CUDA device through cupy.

    Parameters
    ----------
    cupy
        The module.
    number
        Which of the visible devices.

    Attributes
    ----------
    name
        As its maker calls it.
    facts
        What a file should tell about it.
    """

    def __init__(self, cupy: Any, number: int) -> None:
        self._cupy = cupy
        self._device = cupy.cuda.Device(number)
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.name = properties["name"].decode()
        runtime = cupy.cuda.runtime
        self.facts = {
            "device": self.name,
            "device_capability": f"{properties['major']}.{properties['minor']}",
            "cuda_driver": _version(runtime.driverGetVersion()),
            "cuda_runtime": _version(runtime.runtimeGetVersion()),
        }
        self._compiled: dict[Kind, Kernels] = {}
        self._lock = threading.Lock()

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make it this thread's device; what goes wrong on it becomes a BackendError."""
        try:
            with self._device:
                yield
        except OSError as error:
            raise BackendError(
                f"backend = cupy: compiled kernels can't be kept ({error}): "
                "set CUPY_CACHE_DIR to a folder that can be written"
            ) from error
        except MemoryError as error:
            raise BackendError(
                f"backend = cupy: {self.name} has too little memory ({error}): "
                "use fewer tokens, a larger device, or backend numba"
            ) from error
        except RuntimeError as error:
            raise BackendError(f"backend = cupy: {self.name} failed or was lost ({error})") from error

    def empty(self, shape: Sequence[int], dtype: Any = np.float64) -> Any:
        """See :class:`Device`."""
        with self.current():
            return self._cupy.empty(shape, dtype=dtype)

    def upload(self, values: ArrayLike) -> Any:
        """See :class:`Device`."""
        host = np.ascontiguousarray(values)
        with self.current():
            # bytes: cupy has no structured types, and needs none here
            array = self._cupy.empty(max(1, host.nbytes), dtype=np.uint8)
            array.set(np.frombuffer(host.tobytes() or b"\0", dtype=np.uint8))
            return array if host.dtype.names else array.view(host.dtype).reshape(host.shape)

    def download(self, array: Any) -> NDArray[Any]:
        """See :class:`Device`."""
        with self.current():
            host: NDArray[Any] = array.get()
            return host

    def address(self, array: Any) -> int:
        """See :class:`Device`."""
        return int(array.data.ptr)

    def compiled(self, kind: Kind) -> Kernels:
        """See :class:`Device`; cupy keeps what it has compiled on disk."""
        with self._lock, self.current():
            if kind not in self._compiled:
                module = self._cupy.RawModule(code=source(), options=kind.options)
                self._compiled[kind] = _CudaKernels(self, module, kind.block)
            return self._compiled[kind]

    def free_memory(self) -> int:
        """See :class:`Device`; what cupy's pool holds unused counts as free."""
        with self.current():
            free, _ = self._cupy.cuda.runtime.memGetInfo()
            return int(free) + int(self._cupy.get_default_memory_pool().free_bytes())

    def release(self) -> None:
        """Give the memory that is not in use back to the device."""
        with self.current():
            self._cupy.get_default_memory_pool().free_all_blocks()


class _CudaKernels:
    def __init__(self, device: CudaDevice, module: Any, block: int) -> None:
        self._device, self._module, self._block = device, module, block
        self._functions: dict[str, Any] = {}

    def launch(self, name: str, grid: Grid, *arguments: Any) -> None:
        with self._device.current():
            if name not in self._functions:
                self._functions[name] = self._module.get_function(name)
            self._functions[name](grid, (self._block, 1, 1), arguments)


class _Claim:
    """The device of this process, kept while anyone in it computes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._device: CudaDevice | None = None
        self._file: int | None = None

    def take(self) -> CudaDevice:
        with self._lock:
            if self._device is None:
                require()
                self._device = self._choose(import_module("cupy"))
            self._users += 1
            return self._device

    def give_back(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users > 0 or self._device is None:
                return
            device, self._device = self._device, None
            try:
                device.release()
            finally:
                if self._file is not None:
                    os.close(self._file)
                    self._file = None

    def _choose(self, cupy: Any) -> CudaDevice:
        numbers = range(cupy.cuda.runtime.getDeviceCount())
        if os.environ.get(SHARE, "") not in ("", "0") or os.name != "posix":
            return CudaDevice(cupy, 0)
        told = False
        while True:
            for number in numbers:
                self._file = _locked(cupy.cuda.Device(number).pci_bus_id)
                if self._file is not None:
                    return CudaDevice(cupy, number)
            if not told:
                _LOG.warning(
                    "backend cupy waits: each of %d devices is in use by another process of this user; "
                    "set %s=1 to share one",
                    len(numbers),
                    SHARE,
                )
                told = True
            time.sleep(_WAIT)


def _locked(bus: str) -> int | None:
    """An open file that holds the lock of the device on this bus, or None if another process has it.

    The bus and not the number names a device: CUDA_VISIBLE_DEVICES renumbers them for each process. The lock
    ends with the process, however that ends.
    """
    import fcntl

    name = f"usaav-{os.getuid()}-device-{bus.replace(':', '-')}.lock"
    file = os.open(Path(tempfile.gettempdir()) / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    os.close(file)
    return None


_CLAIM = _Claim()


@contextmanager
def claimed() -> Iterator[CudaDevice]:
    """The device of this process: the first visible one that no other process of this user has claimed.

    Waits until there is one. Afterwards its memory is given back.

    Raises
    ------
    BackendError
        There is none that can be used.
    """
    device = _CLAIM.take()
    try:
        yield device
    finally:
        _CLAIM.give_back()
