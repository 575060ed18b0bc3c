"""What is launched for the runs of a batch: a step, a velocity, a look at all pairs, an energy.

One table says of each run where its arrays are. It goes to the device before, and comes back after the
launches of a step with all that the control decides by: the error, the speed, and what was seen of the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from usaav.flow.dormand_prince import E3, E5, N_STAGES, A, B
from usaav.gpu.device import Device
from usaav.gpu.field import Kind

Array = NDArray[np.float64]
Work = Literal["step", "velocity", "look", "layer", "energy", "components"]

#: the table of ``field.cu``: 8 bytes each
RUN = np.dtype(
    [
        *(
            (name, np.uint64)
            for name in (
                *("start", "velocity", "masses", "labels", "names", "law"),
                *("points", "stages", "partial", "end", "end_velocity", "found", "parents"),
            )
        ),
        *((name, np.int64) for name in ("count", "splits", "capacity")),
        *((name, np.float64) for name in ("slope", "shift", "size", "tolerance", "near", "report")),
        *((name, np.float64) for name in ("error", "speed")),
        ("smallest", np.uint64),
        *((name, np.float64) for name in ("fastest", "widest")),
        *((name, np.int64) for name in ("within", "parting", "listed")),
    ]
)
#: a pair that was listed
NEAR = np.dtype([("first", np.int64), ("second", np.int64), ("square", np.float64), ("rate", np.float64)])


class Launches:
    """The kernels of one kind of interaction on a device, and the order in which they are launched."""

    def __init__(self, device: Device, kind: Kind) -> None:
        self._device, self._kind = device, kind
        self._kernels = device.compiled(kind)
        self._table = device.upload(np.concatenate([A.ravel(), B, E5, E3]))
        self._one = device.upload(np.ones(1))

    def serve(self, work: Work, runs: Sequence[NDArray[Any]]) -> None:
        """Do `work` for `runs`, rows of the table, which afterwards hold the outcomes."""
        for first in range(0, len(runs), _MOST_RUNS):
            part = runs[first : first + _MOST_RUNS]
            table = np.concatenate(part)
            on_device = self._device.upload(table)
            getattr(self, f"_{work}")(on_device, table)
            filled = self._device.download(on_device).view(RUN)
            for number, run in enumerate(part):
                run[:] = filled[number : number + 1]

    def _step(self, runs: Any, table: NDArray[Any]) -> None:
        self._each_token("displaced", table, runs, self._row(1), np.int32(1), np.int32(0))
        for stage in range(1, N_STAGES - 1):
            self._pairs("pairs", table, runs)
            self._each_token("next_stage", table, runs, self._table, np.int32(stage))
        self._pairs("pairs", table, runs)
        self._each_token("arrive", table, runs, self._table)
        # of a rejected step nothing below is computed: the device looks at the error itself
        self._velocity(runs, table)
        self._look(runs, table)

    def _velocity(self, runs: Any, table: NDArray[Any]) -> None:
        self._pairs("pairs", table, runs)
        self._each_token("settle", table, runs)

    def _layer(self, runs: Any, table: NDArray[Any]) -> None:
        self._velocity(runs, table)
        self._each_token("displaced", table, runs, self._one, np.int32(1), np.int32(1))

    def _look(self, runs: Any, table: NDArray[Any]) -> None:
        self._pairs("look", table, runs)

    def _energy(self, runs: Any, table: NDArray[Any]) -> None:
        self._pairs("energy", table, runs)

    def _components(self, runs: Any, table: NDArray[Any]) -> None:
        self._pairs("join", table, runs)
        self._each_token("name_components", table, runs)

    def _row(self, stage: int) -> Any:
        return self._table[stage * N_STAGES :]

    def _pairs(self, name: str, table: NDArray[Any], runs: Any) -> None:
        blocks = -(-int(table["count"].max()) // self._kind.targets)
        self._kernels.launch(name, (blocks, int(table["splits"].max()), len(table)), runs)

    def _each_token(self, name: str, table: NDArray[Any], runs: Any, *arguments: Any) -> None:
        blocks = -(-int(table["count"].max()) // self._kind.block)
        self._kernels.launch(name, (blocks, len(table), 1), runs, *arguments)


# the last two dimensions of a grid end at 65535
_MOST_RUNS = 65535
