"""What the engine uses of cupy, in the memory of the host and with the kernels of the processor."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from device.processor import ProcessorDevice
from usaav.gpu.field import Kind


class CudaError(RuntimeError):
    """As cupy raises it: with the number of cudaError_t."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class HostArray(np.ndarray):
    """An array with cupy's methods, in the memory of the host."""

    @property
    def data(self) -> Any:
        return types.SimpleNamespace(ptr=self.ctypes.data)

    def set(self, values: np.ndarray) -> None:
        self[...] = values

    def get(self) -> np.ndarray:
        return np.array(self)


class Cupy(types.ModuleType):
    """The module.

    Parameters
    ----------
    processor
        Runs the kernels.
    count
        Number of devices.
    fault
        What the first use raises.
    driver
        The CUDA version of the driver.
    compiles
        Whether NVRTC is there.
    """

    def __init__(
        self,
        processor: ProcessorDevice | None = None,
        *,
        count: int = 1,
        fault: Exception | None = None,
        driver: int = 0,
        compiles: bool = True,
    ) -> None:
        super().__init__("cupy")
        self.fault, self.freed, self.used = fault, 0, []
        self._processor, self._compiles = processor, compiles

        def device_count() -> int:
            if fault is not None:
                raise fault
            return count

        self.cuda = types.SimpleNamespace(
            Device=lambda number: Bus(self, number),
            runtime=types.SimpleNamespace(
                getDeviceCount=device_count,
                driverGetVersion=lambda: driver,
                runtimeGetVersion=lambda: 12090,
                memGetInfo=lambda: (1 << 30, 1 << 31),
                getDeviceProperties=lambda number: {
                    "name": f"Device {number}".encode(),
                    "major": 9,
                    "minor": 0,
                },
            ),
            nvrtc=types.SimpleNamespace(getVersion=self.nvrtc_version),
        )

    def nvrtc_version(self) -> tuple[int, int]:
        if not self._compiles:
            raise RuntimeError("No such file: libnvrtc\nand more")
        return 12, 9

    def get_default_memory_pool(self) -> Any:
        def free_all_blocks() -> None:
            self.freed += 1

        return types.SimpleNamespace(free_bytes=lambda: 5, free_all_blocks=free_all_blocks)

    def empty(self, shape: Any, dtype: Any) -> HostArray:
        return np.zeros(shape, dtype).view(HostArray)

    def RawModule(self, *, code: str, options: tuple[str, ...]) -> Any:  # noqa: N802  cupy's name
        assert "__global__ void pairs" in code
        known = Kind(3), Kind(3, precision="float32")
        kind = next(kind for kind in known if kind.options == options)
        assert self._processor is not None
        kernels = self._processor.compiled(kind)

        def get_function(name: str) -> Any:
            def call(grid: Any, block: Any, arguments: Any) -> None:
                assert block == (kind.block, 1, 1)
                kernels.launch(name, grid, *arguments)

            return call

        return types.SimpleNamespace(get_function=get_function)


class Bus:
    def __init__(self, cupy: Cupy, number: int) -> None:
        self._cupy, self._number = cupy, number
        self.pci_bus_id = f"0000:0{number}:00.0"

    def __enter__(self) -> None:
        self._cupy.used.append(self._number)

    def __exit__(self, *_: object) -> None:
        pass
