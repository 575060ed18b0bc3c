"""What costs n^2 to measure, on the device: energies, and the components of the graph of close tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usaav.errors import BackendError
from usaav.flow.systems import Interaction
from usaav.gpu import field
from usaav.gpu.device import Device, claimed
from usaav.gpu.launches import RUN, Launches, Work
from usaav.kernels import Kernel

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: tokens of the clouds that are on the device at a time
_MOST_TOKENS = 1 << 22


def energies(kernel: Kernel, clouds: Array, labels: Array | None) -> Array:
    """Energy ``(clouds,)`` of unit rows ``(clouds, n, d)`` in gauge coordinates, labels ``(clouds, n)``.

    Raises
    ------
    BackendError
        The kernel is none that the device knows, or there is no device.
    """
    why_not = field.why_not(kernel)
    if why_not is not None:
        raise BackendError(f"backend = cupy: {why_not}; use backend numpy")
    weighted = None if kernel.weight.is_constant else labels
    law = field.law_of(kernel, clouds.shape[-1], softmax=False)
    unit = Interaction(kernel, None, False).energy_unit

    def one(device: Device, cloud: Array, number: int) -> tuple[NDArray[Any], list[Any], Any]:
        count = len(cloud)
        partial = device.empty((law.kind.room(count),))
        arrays = {
            "start": device.upload(cloud),
            "masses": device.upload(np.full(count, 1.0 / count)),
            "law": device.upload(np.array([*law.constants, 0.0])),
            "partial": partial,
        }
        if weighted is not None:
            arrays["labels"] = device.upload(law.columns(weighted[number]))
        run = _row(device, law.kind, count, arrays)
        run["slope"] = law.slope
        blocks = -(-count // law.kind.targets) * int(run["splits"][0])
        return run, list(arrays.values()), partial[:blocks]

    sums = _measured("energy", law.kind, clouds, one)
    return np.array([0.5 * unit * float(np.sum(parts)) for parts in sums])


def components(clouds: Array, chord: float) -> Index:
    """Of each unit row ``(clouds, n, d)`` the first row of its component, ``(clouds, n)``.

    Rows closer than `chord` are joined.

    Raises
    ------
    BackendError
        There is no device.
    """
    kind = field.Kind(clouds.shape[-1])

    def one(device: Device, cloud: Array, _: int) -> tuple[NDArray[Any], list[Any], Any]:
        parents = device.upload(np.arange(len(cloud), dtype=np.int32))
        arrays = {"start": device.upload(cloud), "parents": parents}
        run = _row(device, kind, len(cloud), arrays)
        run["near"] = chord**2
        return run, list(arrays.values()), parents

    return np.stack(_measured("components", kind, clouds, one)).astype(np.int64)


def _row(device: Device, kind: field.Kind, count: int, arrays: dict[str, Any]) -> NDArray[Any]:
    run = np.zeros(1, RUN)
    for name, array in arrays.items():
        run[name] = device.address(array)
    run["count"], run["splits"] = count, kind.splits(count)
    return run


def _measured(
    work: Work,
    kind: field.Kind,
    clouds: Array,
    one: Callable[[Device, Array, int], tuple[NDArray[Any], list[Any], Any]],
) -> list[NDArray[Any]]:
    """The outcome of `work` for each cloud, as many at a time as the device holds.

    `one` gives a cloud's row of the table, the arrays behind it, and the array with its outcome.
    """
    at_once = max(1, _MOST_TOKENS // clouds.shape[1])
    outcomes: list[NDArray[Any]] = []
    with claimed() as device:
        launches = Launches(device, kind)
        for first in range(0, len(clouds), at_once):
            part = range(first, min(first + at_once, len(clouds)))
            rows = [one(device, np.ascontiguousarray(clouds[number]), number) for number in part]
            launches.serve(work, [row for row, _, _ in rows])
            outcomes += [device.download(outcome) for _, _, outcome in rows]
    return outcomes
