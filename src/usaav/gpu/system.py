"""The right-hand side on the device, beside the compiled and the plain engine: see ``usaav.flow.systems``.

Tokens and velocities stay on the device while they are moved; a step brings back a few numbers. Merges are
rare and are made on the host. Once few clusters are left a step costs less on the processor than the launches
of one on the device, so the run goes on there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.flow.cells import group_close
from usaav.flow.dormand_prince import N_STAGES
from usaav.flow.systems import BaseSystem, Interaction, Neighbours, System
from usaav.gpu.batch import Batch
from usaav.gpu.device import Device
from usaav.gpu.field import Law
from usaav.gpu.launches import NEAR, RUN, Work
from usaav.gpu.rows import DeviceRows

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: clusters below which the processor takes over: some 25 launches a step cost about as much as 12 sums over
#: pairs of so many take a core. Reckoned, not measured.
HANDOVER = 128
#: pairs that are listed one by one when they meet; more are merged by cells
MOST_PAIRS = 16384
_LOG2_E = math.log2(math.e)


def bytes_for(law: Law, count: int) -> int:
    """Bytes of the device that a run of `count` tokens takes."""
    row = 8 * law.kind.dim
    # start, last start, end, points, velocities of the three, and the stages
    rows = (N_STAGES + 6) * row
    labels = 8 * (2 + max(1, 2 * law.kind.orders))
    return count * (rows + labels) + 8 * law.kind.room(count) + MOST_PAIRS * NEAR.itemsize


class DeviceSystem(BaseSystem):
    """One run on the device, in a batch with others.

    Parameters
    ----------
    interaction, law
        What acts, and how the kernels read it.
    count
        Number of tokens.
    device, batch
        Where it runs and with whom; the batch's launches are for ``law.kind``.
    processor
        Makes the system that takes over.
    """

    def __init__(
        self,
        interaction: Interaction,
        law: Law,
        count: int,
        device: Device,
        batch: Batch,
        processor: Callable[[Interaction], System],
    ) -> None:
        super().__init__(interaction)
        self._law, self._device, self._batch, self._processor = law, device, batch, processor
        # asked for by name the device computes few tokens too, but not the very last
        self._handover = min(HANDOVER, max(2, count // 4))
        self._host: System | None = None
        self._joined = False
        self._points = device.empty((count, law.kind.dim))
        self._stages = device.empty((N_STAGES - 1, count, law.kind.dim))
        self._partial = device.empty((law.kind.room(count),))
        self._found = device.empty((MOST_PAIRS * NEAR.itemsize,), np.uint8)
        self._constants = device.upload(np.array([*law.constants, 0.0]))
        self._uploaded: list[tuple[Array, Any]] = []
        self._labels: tuple[Any, Any] | None = None
        self._looks = (0.0, 0.0)
        self._looked: tuple[Any, NDArray[Any]] | None = None
        batch.join()
        self._joined = True

    def close(self) -> None:
        """See :class:`System`."""
        if self._joined:
            self._joined = False
            self._batch.leave()

    def keep(self, rows: Index) -> None:
        """See :class:`System`."""
        self._uploaded, self._labels, self._looked = [], None, None
        if self._host is None:
            self.interaction.keep(rows)
        else:
            self._host.keep(rows)

    def review(self, clusters: int) -> bool:
        """See :class:`System`."""
        if self._host is not None or clusters >= self._handover:
            return False
        self._host = self._processor(self.interaction)
        self._host.set_shift(self.shift)
        self._points = self._stages = self._partial = self._found = None
        self.close()
        return True

    def set_shift(self, shift: float) -> None:
        """See :class:`System`."""
        self.shift, self._looked = shift, None
        if self._host is not None:
            self._host.set_shift(shift)

    def speed(self, velocity: Any) -> float:
        """See :class:`System`."""
        if isinstance(velocity, DeviceRows) and velocity.speed is not None:
            return velocity.speed
        return super().speed(np.asarray(velocity))

    def velocity(self, tokens: Any, masses: Array) -> Any:
        """See :class:`System`."""
        if self._host is not None:
            return self._host.velocity(np.asarray(tokens), masses)
        run, _, velocity = self._run(tokens, masses)
        run["points"] = run["start"]
        self._ask("velocity", run)
        return self._rows(velocity, run)

    def step(
        self, tokens: Any, masses: Array, velocity: Any, size: float, tolerance: float
    ) -> tuple[Any, Any, float]:
        """See :class:`System`."""
        if self._host is not None:
            return self._host.step(np.asarray(tokens), masses, np.asarray(velocity), size, tolerance)
        run, end, end_velocity = self._run(tokens, masses)
        run["velocity"] = self._device.address(self._on_device(velocity))
        run["size"], run["tolerance"] = size, tolerance
        run["near"], run["report"] = self._looks
        self._ask("step", run)
        error = float(run["error"][0])
        if not error <= tolerance:
            return tokens, velocity, error
        new = DeviceRows(self._device, end, self._shape(run))
        self._looked = (new, run)
        return new, self._rows(end_velocity, run), error

    def layer(self, tokens: Any, masses: Array, size: float) -> tuple[Any, bool]:
        """See :class:`System`."""
        if self._host is not None:
            return self._host.layer(np.asarray(tokens), masses, size)
        run, end, velocity = self._run(tokens, masses)
        run["points"], run["velocity"], run["size"] = run["start"], self._device.address(velocity), size
        self._ask("layer", run)
        return DeviceRows(self._device, end, self._shape(run)), math.isfinite(run["speed"][0])

    def neighbours(self, tokens: Any, masses: Array, velocity: Any, near: float, report: float) -> Neighbours:
        """See :class:`System`; nothing is asked of the device where the last step has looked already."""
        if self._host is not None:
            return self._host.neighbours(np.asarray(tokens), masses, np.asarray(velocity), near, report)
        if self._looked is not None and self._looked[0] is tokens and self._looks == (near, report):
            run = self._looked[1]
        else:
            run, _, _ = self._run(tokens, masses)
            run["end"], run["end_velocity"] = run["start"], self._device.address(self._on_device(velocity))
            run["near"], run["report"] = self._looks = (near, report)
            self._ask("look", run)
        return self._told(run, tokens, masses, velocity)

    def energy(self, tokens: Any, masses: Array) -> float:
        """See :class:`System`."""
        if self._host is not None:
            return self._host.energy(np.asarray(tokens), masses)
        run, _, _ = self._run(tokens, masses)
        self._ask("energy", run)
        blocks = -(-len(tokens) // self._law.kind.targets) * int(run["splits"][0])
        total = float(np.sum(self._device.download(self._partial[:blocks])))
        return 0.5 * total * self.interaction.energy_unit

    def _run(self, tokens: Any, masses: Array) -> tuple[NDArray[Any], Any, Any]:
        """A row of the table for these tokens, and new arrays for where and how fast they will be."""
        count, dim = tokens.shape
        end, end_velocity = self._device.empty((count, dim)), self._device.empty((count, dim))
        columns, names = self._label_arrays()
        run = np.zeros(1, RUN)
        for name, array in (
            ("start", self._on_device(tokens)),
            ("masses", self._on_device(masses)),
            ("labels", columns),
            ("names", names),
            ("law", self._constants),
            ("points", self._points),
            ("stages", self._stages),
            ("partial", self._partial),
            ("end", end),
            ("end_velocity", end_velocity),
            ("found", self._found),
        ):
            run[name] = self._device.address(array)
        run["velocity"] = run["end_velocity"]
        run["count"], run["splits"], run["capacity"] = count, self._law.kind.splits(count), MOST_PAIRS
        run["slope"], run["shift"] = self._law.slope, 0.0 if self._unscaled else self.shift * _LOG2_E
        return run, end, end_velocity

    def _ask(self, work: Work, run: NDArray[Any]) -> None:
        if work in ("step", "look"):  # which write the list of pairs anew
            self._looked = None
        self._batch.ask(work, run)

    def _shape(self, run: NDArray[Any]) -> tuple[int, int]:
        return int(run["count"][0]), self._law.kind.dim

    def _rows(self, velocity: Any, run: NDArray[Any]) -> DeviceRows:
        return DeviceRows(self._device, velocity, self._shape(run), math.sqrt(run["speed"][0]))

    def _on_device(self, rows: Any) -> Any:
        """The device's copy of rows or masses. Arrays of the host are remembered until the next merge."""
        if isinstance(rows, DeviceRows):
            return rows.on_device
        for host, array in self._uploaded:
            if host is rows:
                return array
        array = self._device.upload(np.asarray(rows, dtype=np.float64))
        self._uploaded = [*self._uploaded[-3:], (rows, array)]
        return array

    def _label_arrays(self) -> tuple[Any, Any]:
        if self._labels is None:
            labels = self.interaction.labels
            if labels is None:
                self._labels = (self._constants, self._constants)  # never read
            else:
                self._labels = (
                    self._device.upload(self._law.columns(labels)),
                    self._device.upload(labels),
                )
        return self._labels

    def _told(self, run: NDArray[Any], tokens: Any, masses: Array, velocity: Any) -> Neighbours:
        """What the device saw, as the control reads it."""
        count, listed = int(run["count"][0]), int(run["listed"][0])
        smallest = float((~run["smallest"]).view(np.float64)[0]) if count > 1 else math.inf
        everyone = 0 < int(run["within"][0]) == count * (count - 1) // 2 and run["parting"][0] == 0
        seen = Neighbours(
            pairs=np.empty((0, 2), dtype=np.int64),
            squares=np.empty(0),
            rates=np.empty(0),
            fastest=float(run["fastest"][0]),
            unit_shift=self._unit_shift(smallest),
            widest=float(run["widest"][0]) if everyone else math.inf,
        )
        if listed > MOST_PAIRS:
            reach = math.sqrt(float(run["report"][0]))
            host = np.asarray(tokens), masses, np.asarray(velocity)
            return seen._replace(groups=group_close(*host, reach, self.interaction.labels))
        if listed == 0:
            return seen
        found = self._device.download(self._found[: listed * NEAR.itemsize]).view(NEAR)
        # the device lists pairs in the order in which its threads came to them
        found = found[np.lexsort((found["second"], found["first"]))]
        pairs = np.stack([found["first"], found["second"]], axis=1)
        return seen._replace(pairs=pairs, squares=found["square"].copy(), rates=found["rate"].copy())
