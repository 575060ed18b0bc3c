"""``simulate``: from a kernel, tokens and labels to a Dataset."""

from __future__ import annotations

import json
import time as wall
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from usaav.config.fits import COARSEST_SINGLE
from usaav.config.kernel_models import MAX_BETA, MIN_BETA
from usaav.errors import ConfigError, DataError, SimulationError
from usaav.flow import adaptive, layers
from usaav.flow.backends import Backend, Engine, Field, choose, choose_field, needs_no_matrix, opened
from usaav.flow.clusters import Clusters
from usaav.flow.modes import ModeAmplitudes
from usaav.flow.recording import Recording, dataset
from usaav.flow.systems import LARGEST_MATRIX, Interaction
from usaav.flow.variables import CONVENTIONS
from usaav.kernels import Kernel
from usaav.kernels.kernel import check_labels
from usaav.kernels.profiles import Exponential
from usaav.provenance import provenance

if TYPE_CHECKING:
    from usaav.gpu.field import Precision

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Method = Literal["adaptive", "layers"]
Normalization = Literal["none", "softmax"]
Progress = Callable[[int, float], None]

_UNIT_TOLERANCE = 1e-8
_LATEST = 1e300


@dataclass(frozen=True)
class _Plan:
    """What is common to all runs of one call."""

    kernel: Kernel
    times: Array
    snapshots: Sequence[int]
    softmax: bool
    options: adaptive.Options
    step: float | None
    stored: Index
    modes: ModeAmplitudes | None
    progress: Progress | None


def simulate(
    kernel: Kernel,
    tokens: ArrayLike,
    labels: ArrayLike | None = None,
    times: ArrayLike = (0.0, 20.0),
    *,
    method: Method = "adaptive",
    step: float | None = None,
    field: Field = "auto",
    rtol: float = 1e-9,
    backend: Backend = "auto",
    precision: Precision = "float64",
    normalization: Normalization = "none",
    merge_angle: float = 1e-3,
    snapshots: Sequence[int] | None = None,
    stored_tokens: int = 65536,
    mode_degrees: int = 0,
    seeds: Sequence[int] | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Run the flow (or the looped network) from `tokens` and return what happened.

    ``dx_i/dtau = P_{x_i} (1/n) sum_j w_ij phi'(<G_i x_i, G_j x_j>) G_i^T G_j x_j``, integrated in the gauge
    coordinates ``z_i = G_i x_i``.

    Parameters
    ----------
    kernel
        See :func:`usaav.kernel`.
    tokens
        Unit rows ``(n, d)``, or ``(runs, n, d)`` for independent runs.
    labels
        ``(n,)``, or ``(runs, n)``; None if the kernel needs none.
    times
        Output times tau: increasing, first >= 0, up to 1e300.
    method, step
        ``adaptive``, or ``layers`` with the step eta of a layer.
    field
        How sums over tokens are taken: ``direct``, ``spectral`` (O(n): d = 2 or 3, and w = 1 or a sum of few
        products, see :mod:`usaav.kernels.low_rank`), or ``auto``, which takes the faster.
    rtol
        Largest local error of a step, as an angle in radians.
    backend
        ``numba`` (compiled), ``numpy`` (plain), ``cupy`` (a CUDA device), or ``auto``: the first of numba
        and numpy that can.
    precision
        ``float64``, or with cupy ``float32``: of the terms of pair sums; all else stays float64. It needs
        ``rtol >= 1e-6``.
    normalization
        ``none`` (USA) or ``softmax`` (SA).
    merge_angle
        Angle (radians) whose crossing is reported as the time of a merge.
    snapshots
        Indices into `times` at which tokens are kept; None: all.
    stored_tokens
        Of more tokens than this only that many, evenly spread over the list, are kept; observables are always
        those of all tokens.
    mode_degrees
        Record the amplitudes of this many modes in gauge coordinates (d = 2, 3), see :mod:`usaav.flow.modes`.
    seeds
        A number for each run, stored as coordinate and named in errors; default 0, 1, ...
    threads
        Runs are spread over this many threads; with ``cupy`` as many go on together as fit on the device.
    progress
        Called as ``progress(run, fraction)`` whenever a run has passed an output time.

    Returns
    -------
    xarray.Dataset
        Dimensions run, time, token, component (and merge, snapshot); see
        :data:`usaav.flow.variables.VARIABLES`.

    Raises
    ------
    ConfigError, DataError, BackendError, SimulationError
        Bad settings; bad arrays; a backend that can't; a run that can't go on.
    """
    start = _unit_rows(tokens)
    runs, n, dim = start.shape
    times = _checked_times(times)
    kept = range(len(times)) if snapshots is None else _checked_snapshots(snapshots, len(times))
    labelled = _label_rows(kernel, labels, runs, n)
    _check_settings(kernel, method, step, field, rtol, normalization, merge_angle, threads)
    _check_precision(precision, backend, rtol if step is None else 1.0)
    numbers = list(range(runs)) if seeds is None else [int(seed) for seed in seeds]
    if len(numbers) != runs:
        raise DataError(f"seeds: {len(numbers)} given for {runs} runs; give one a run")
    softmax = normalization == "softmax"
    interaction = _interaction(kernel, None if labelled is None else labelled.reshape(-1), softmax)
    without_matrix = n > LARGEST_MATRIX and needs_no_matrix(field, interaction, dim, rtol)
    chosen = choose(backend, interaction, n, without_matrix=without_matrix)
    chosen_field = choose_field(field if chosen == "numba" else _direct(field), interaction, (n, dim), rtol)
    stored = np.unique(np.linspace(0, n - 1, min(n, stored_tokens)).astype(np.int64))
    # nearer than this, rounding of terms in float32 is what moves two tokens, in small steps
    nearest = 1e-7 if precision == "float32" else min(1e-9, max(1e-12, rtol))
    options = adaptive.Options(rtol=rtol, merge_tolerance=nearest, merge_angle=merge_angle)
    plan = _Plan(
        kernel,
        times,
        kept,
        softmax,
        options,
        step,
        stored,
        ModeAmplitudes(mode_degrees, dim) if mode_degrees > 0 else None,
        progress,
    )

    began = wall.perf_counter()
    with opened(chosen, chosen_field, interaction, start.shape, rtol, threads, precision) as engine:

        def one(run: int) -> Recording:
            marks = None if labelled is None else labelled[run]
            return _run(plan, engine, run, start[run], marks, numbers[run])

        if engine.workers == 1:
            recordings = [one(run) for run in range(runs)]
        else:
            with ThreadPoolExecutor(engine.workers) as pool:
                recordings = list(pool.map(one, range(runs)))
        facts = engine.facts
    attributes = {
        "Conventions": CONVENTIONS,
        "seed": numbers,
        "n_tokens": n,
        **provenance(),
        "kernel": json.dumps(dict(kernel.spec) or repr(kernel), sort_keys=True),
        "method": method,
        "normalization": normalization,
        "field": chosen_field,
        "backend": chosen,
        "precision": precision,
        **facts,
        "merging": "none" if step is not None else "all" if kernel.weight.is_constant else "equal labels",
        "rtol": rtol,
        "merge_angle": merge_angle,
        "step": 0.0 if step is None else step,
        "wall_seconds": wall.perf_counter() - began,
    }
    return dataset(
        recordings,
        None if labelled is None else labelled[:, stored],
        numbers,
        times,
        None if snapshots is None else list(kept),
        stored if len(stored) < n else None,
        attributes,
    )


def _run(plan: _Plan, engine: Engine, run: int, tokens: Array, labels: Array | None, seed: int) -> Recording:
    recording = Recording(
        plan.kernel, labels, len(plan.times), plan.snapshots, plan.stored, tokens.shape[1], plan.modes
    )
    gauge_tokens = plan.kernel.to_gauge(tokens, labels)
    system = engine.system(_interaction(plan.kernel, labels, plan.softmax))

    def passed(index: int) -> None:
        if plan.progress is not None:
            plan.progress(run, (index + 1) / len(plan.times))

    def observe_clusters(index: int, clusters: Clusters) -> None:
        energy = system.energy(clusters.tokens, clusters.masses)
        recording.observe(index, clusters.tokens[clusters.members], energy)
        passed(index)

    def observe_tokens(index: int, moved: Array) -> None:
        recording.observe(
            index, np.asarray(moved), system.energy(moved, np.full(len(moved), 1.0 / len(moved)))
        )
        passed(index)

    try:
        if plan.step is None:
            clusters, recording.step_count = adaptive.integrate(
                system, gauge_tokens, plan.times, plan.options, observe_clusters
            )
            recording.merges, recording.unrecorded_merges = clusters.merges, clusters.unrecorded
            recording.handover_time = clusters.handover_time
        else:
            recording.step_count = layers.integrate(
                system, gauge_tokens, plan.times, plan.step, observe_tokens
            )
    except SimulationError as error:
        raise SimulationError(f"run {run} (seed {seed}): {error}") from error
    finally:
        system.close()
    return recording


def _check_precision(precision: Any, backend: Backend, rtol: float) -> None:
    if precision not in ("float64", "float32"):
        raise ConfigError(f"precision = {precision!r}: expected float64 or float32")
    if precision == "float32" and backend != "cupy":
        raise ConfigError(f"precision = float32 needs the backend cupy, not {backend}; use float64")
    if precision == "float32" and rtol < COARSEST_SINGLE:
        raise ConfigError(
            f"rtol = {rtol:g}: expected at least {COARSEST_SINGLE:g} with precision float32, as smaller "
            "errors are rounding; raise rtol, or use float64"
        )


def _direct(field: Field) -> Field:
    """Only the compiled backend has a spectral field."""
    if field == "spectral":
        raise ConfigError("field = spectral needs the backend numba; use field auto or direct")
    return "direct"


def _interaction(kernel: Kernel, labels: Array | None, softmax: bool) -> Interaction:
    return Interaction(kernel, None if kernel.weight.is_constant else labels, softmax)


def _unit_rows(tokens: ArrayLike) -> Array:
    rows = np.array(tokens, dtype=np.float64)
    if rows.ndim == 2:
        rows = rows[None]
    if rows.ndim != 3 or rows.shape[-1] < 2 or 0 in rows.shape:
        raise DataError(
            f"tokens have shape {np.shape(tokens)}: expected (n, d) or (runs, n, d) with n >= 1 and d >= 2"
        )
    lengths = np.linalg.norm(rows, axis=-1)
    off = ~(np.abs(lengths - 1.0) <= _UNIT_TOLERANCE)
    if np.any(off):
        run, token = np.argwhere(off)[0]
        raise DataError(
            f"tokens[{run}, {token}] has length {lengths[run, token]:.10g}: expected unit vectors "
            "(within 1e-8); divide each row by its length"
        )
    return np.asarray(rows / lengths[..., None])


def _label_rows(kernel: Kernel, labels: ArrayLike | None, runs: int, n: int) -> Array | None:
    if labels is None:
        check_labels(kernel, None, n)
        return None
    rows = np.asarray(labels, dtype=np.float64)
    check_labels(kernel, rows, n)
    if rows.ndim > 2 or (rows.ndim == 2 and len(rows) != runs):
        raise DataError(f"labels have shape {rows.shape}: expected ({n},) or ({runs}, {n})")
    return np.array(np.broadcast_to(rows, (runs, n)))


def _checked_times(times: ArrayLike) -> Array:
    values = np.array(times, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.all(np.isfinite(values)):
        raise ConfigError("times: expected a non-empty list of finite numbers")
    if values[0] < 0.0 or np.any(np.diff(values) <= 0.0) or values[-1] > _LATEST:
        raise ConfigError("times: expected increasing numbers, the first >= 0 and the last <= 1e300")
    return values


def _checked_snapshots(snapshots: Sequence[int], n_times: int) -> list[int]:
    kept = [int(index) for index in snapshots]
    if not kept or sorted(set(kept)) != kept or kept[0] < 0 or kept[-1] >= n_times:
        raise ConfigError(f"snapshots: expected increasing indices into the {n_times} times, got {kept[:5]}")
    return kept


def _check_settings(
    kernel: Kernel,
    method: Any,
    step: float | None,
    field: Any,
    rtol: float,
    normalization: Any,
    merge_angle: float,
    threads: int,
) -> None:
    softmax = normalization == "softmax"
    rules = (
        (method in ("adaptive", "layers"), f"method = {method!r}: expected adaptive or layers"),
        (
            (step is None) == (method == "adaptive"),
            "step goes with method layers, and with no other: give step = eta > 0 there",
        ),
        (step is None or 0.0 < step < np.inf, f"step = {step!r}: expected a finite number > 0"),
        (
            normalization in ("none", "softmax"),
            f"normalization = {normalization!r}: expected none or softmax",
        ),
        (
            not softmax or (kernel.weight.is_constant and isinstance(kernel.profile, Exponential)),
            "normalization softmax needs the exponential profile and the constant weight",
        ),
        (
            field in ("auto", "direct", "spectral"),
            f"field = {field!r}: expected auto, direct or spectral",
        ),
        (1e-14 <= rtol <= 1e-2, f"rtol = {rtol!r}: expected a number from 1e-14 to 1e-2"),
        (
            1e-6 <= merge_angle <= 3.0,
            f"merge_angle = {merge_angle!r}: expected radians, from 1e-6 to 3",
        ),
        (threads >= 1, f"threads = {threads!r}: expected a whole number >= 1"),
        (
            MIN_BETA <= kernel.beta <= MAX_BETA or not isinstance(kernel.profile, Exponential),
            f"beta = {kernel.beta}: expected {MIN_BETA} to {MAX_BETA:g} (exp(beta) must fit into a float64)",
        ),
    )
    broken = [message for holds, message in rules if not holds]
    if broken:
        raise ConfigError("; ".join(broken))
