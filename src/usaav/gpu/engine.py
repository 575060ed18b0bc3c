"""The engine of one call: the device, the kernels, and how many runs go on together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from usaav.errors import BackendError
from usaav.flow.systems import Interaction, System
from usaav.gpu import device as devices
from usaav.gpu.batch import Batch
from usaav.gpu.device import Device
from usaav.gpu.field import Law
from usaav.gpu.launches import Launches
from usaav.gpu.system import DeviceSystem, bytes_for

#: runs that go on together, and tokens in all of them beyond which more runs fill a device no better
MOST_RUNS, ENOUGH_TOKENS = 256, 1 << 17


class Engine:
    """Makes the systems of the runs of one call.

    Parameters
    ----------
    device, law
        Where and what is computed.
    count, runs
        Tokens of a run, and number of runs.
    processor
        Makes the system that takes over when few clusters are left.

    Attributes
    ----------
    workers
        Threads, one for each run that is on the device at a time.

    Raises
    ------
    BackendError
        Not even one run fits into the memory of the device.
    """

    def __init__(
        self, device: Device, law: Law, count: int, runs: int, processor: Callable[[Interaction], System]
    ) -> None:
        needed, free = bytes_for(law, count), device.free_memory()
        if needed > free:
            raise BackendError(
                f"backend = cupy: {count} tokens in dimension {law.kind.dim} need {needed / 1e9:.1f} GB, "
                f"{device.name} has {free / 1e9:.1f} GB free: use fewer tokens, a device that is idle or "
                "larger, or backend numba"
            )
        self.device, self._law, self._count, self._processor = device, law, count, processor
        self._batch = Batch(Launches(device, law.kind))
        self.workers = max(1, min(runs, MOST_RUNS, ENOUGH_TOKENS // count, int(0.8 * free / needed)))

    def system(self, interaction: Interaction) -> DeviceSystem:
        """The right-hand side of one run."""
        return DeviceSystem(interaction, self._law, self._count, self.device, self._batch, self._processor)


@contextmanager
def opened(law: Law, count: int, runs: int, processor: Callable[[Interaction], System]) -> Iterator[Engine]:
    """An engine on the device of this process, which is given back at the end.

    Raises
    ------
    BackendError
        No device can be used, or it is too small.
    """
    with devices.claimed() as device:
        yield Engine(device, law, count, runs, processor)
