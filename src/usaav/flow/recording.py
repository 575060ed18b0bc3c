"""What is kept of a run, and the Dataset that holds all runs of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from usaav.flow.clusters import Merge
from usaav.flow.modes import ModeAmplitudes
from usaav.flow.variables import COORDINATES, NO_CLUSTER, VARIABLES
from usaav.kernels import Kernel
from usaav.metrics import conditional_dirac_distance, dirac_distance

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Recording:
    """What one run leaves behind: observables at all times, tokens at the snapshots.

    Parameters
    ----------
    kernel, labels
        Take gauge coordinates back to content; labels ``(n,)`` or None.
    n_times, snapshots
        Number of output times, and those at which tokens are kept.
    stored
        Indices of the tokens that are kept.
    dim
        Dimension d.
    modes
        Amplitudes to record, if any.
    """

    def __init__(
        self,
        kernel: Kernel,
        labels: Array | None,
        n_times: int,
        snapshots: Sequence[int],
        stored: Index,
        dim: int,
        modes: ModeAmplitudes | None = None,
    ) -> None:
        self._kernel, self._labels = kernel, labels
        self._row_of = {time: row for row, time in enumerate(snapshots)}
        self._slices = labels is not None and len(np.unique(labels)) < len(labels)
        self._stored = stored
        self.tokens = np.empty((len(snapshots), len(stored), dim))
        self.energy = np.empty(n_times)
        self.dirac_distance = np.empty(n_times)
        self.conditional_dirac_distance = np.empty(n_times) if self._slices else None
        self.mean_token = np.empty((n_times, dim))
        self._modes = modes
        self.mode_amplitude: list[Array] = []
        self.mode_phase: list[Array] = []
        self.merges: list[Merge] = []
        self.unrecorded_merges = 0
        self.step_count = 0
        self.handover_time = -1.0

    def observe(self, index: int, gauge_tokens: Array, energy: float) -> None:
        """Record output time `index`: all tokens ``(n, d)`` in gauge coordinates, and the energy."""
        tokens = self._kernel.from_gauge(gauge_tokens, self._labels)
        self.energy[index] = energy
        self.mean_token[index] = tokens.mean(axis=0)
        self.dirac_distance[index] = dirac_distance(tokens)
        if self.conditional_dirac_distance is not None:
            self.conditional_dirac_distance[index] = conditional_dirac_distance(tokens, self._labels)
        if self._modes is not None:
            amplitude, phase = self._modes.of(gauge_tokens)
            self.mode_amplitude.append(amplitude)
            self.mode_phase.append(phase)
        if index in self._row_of:
            self.tokens[self._row_of[index]] = tokens[self._stored]


def dataset(
    recordings: Sequence[Recording],
    labels: Array | None,
    seeds: Sequence[int],
    times: Array,
    snapshots: Sequence[int] | None,
    stored: Index | None,
    attributes: dict[str, Any],
) -> xr.Dataset:
    """Stack the recordings of all runs.

    Without `snapshots` the tokens lie on ``time``; with them (indices into `times`) on ``snapshot``, whose
    times are the coordinate ``snapshot_time``. Labels
    ``(runs, n)`` or None (then stored as zeros). `stored`: indices of the tokens if they are not all.
    """
    first = recordings[0]
    data: dict[str, Any] = {
        name: np.stack([getattr(recording, name) for recording in recordings])
        for name in (
            "tokens",
            "energy",
            "dirac_distance",
            "mean_token",
            "step_count",
            "unrecorded_merges",
            "handover_time",
        )
    }
    coordinates: dict[str, Any] = {"time": times, "seed": ("run", np.asarray(seeds, dtype=np.int64))}
    if first.mode_amplitude:
        for name in ("mode_amplitude", "mode_phase"):
            data[name] = np.stack([np.stack(getattr(recording, name)) for recording in recordings])
        coordinates["degree"] = np.arange(1, data["mode_amplitude"].shape[-1] + 1)
    slices = [r.conditional_dirac_distance for r in recordings if r.conditional_dirac_distance is not None]
    if slices:
        data["conditional_dirac_distance"] = np.stack(slices)
    data["label"] = np.zeros((len(recordings), first.tokens.shape[1])) if labels is None else labels
    data.update(_merge_table([recording.merges for recording in recordings]))
    variables = {}
    for name, values in data.items():
        dims, long_name, units = VARIABLES[name]
        if name == "tokens" and snapshots is not None:
            dims = ("run", "snapshot", "token", "component")
        variables[name] = (dims, values, {"long_name": long_name, "units": units})
    if snapshots is not None:
        coordinates["snapshot_time"] = ("snapshot", times[list(snapshots)])
    if stored is not None:
        coordinates["token"] = stored
    result = xr.Dataset(variables, coords=coordinates, attrs=attributes)
    for name in coordinates:
        long_name, units = COORDINATES[name]
        result[name].attrs = {"long_name": long_name, "units": units}
    return result


def _merge_table(merges: Sequence[list[Merge]]) -> dict[str, Array]:
    """Columns ``merge_*``, ``(runs, most merges)``, in the order of time; empty when nothing has merged."""
    most = max(len(events) for events in merges)
    if most == 0:
        return {}
    table: dict[str, Array] = {}
    for name in ("time", "mass_first", "mass_second", "duration", "angle_before"):
        table[f"merge_{name}"] = np.full((len(merges), most), np.nan)
    for name in ("first", "second"):
        table[f"merge_{name}"] = np.full((len(merges), most), NO_CLUSTER, dtype=np.int64)
    for run, events in enumerate(merges):
        for column, event in enumerate(sorted(events, key=lambda merge: merge.time)):
            for name in ("time", "first", "second", "mass_first", "mass_second", "duration", "angle_before"):
                table[f"merge_{name}"][run, column] = getattr(event, name)
    return table
