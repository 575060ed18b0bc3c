"""What a job of the workflow needs: threads, memory, minutes, GPUs, from the size of its cases.

These are generous guesses for a scheduler, not promises; a profile with ``retries`` raises memory and time at
each further attempt. Facts about a site (partitions, accounts, how many GPUs) belong to profiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from usaav.config.cases import Case
from usaav.config.part_models import ToeplitzFields

__all__ = [
    "Needs",
    "held_gb",
    "of_batch",
    "of_gathering",
    "of_reading",
    "of_simulation",
    "of_table",
    "stored_mb",
    "work",
]

#: megabytes of Python with its libraries, and of the two Snakemake processes that a cluster job also has
BASE_MB = 1000
#: pairs of tokens (or, for the spectral field, terms of the expansion) per second and thread, on a slow core
PAIRS_PER_SECOND = 2e8
#: pairs per second of a device that is slow in float64, as those for displays are; reckoned, not measured
PAIRS_PER_SECOND_ON_DEVICE = 1e10
#: evaluations of the right-hand side: of a smooth run, and for each output time
EVALUATIONS = (5000, 20)
#: minutes for start and end of a job, whatever it does
BASE_MINUTES = 5
#: bytes in memory of a row of a table
BYTES_PER_ROW = 400
#: one thread for each that many seconds of work
SECONDS_PER_THREAD = 120
MAX_THREADS = 32
#: tokens that one thread of the spectral field takes at a time, as in usaav.flow.spectral, which needs numba
CHUNK = 16384
#: tokens up to which the compiled direct field makes a matrix of weights, and products up to which the
#: spectral field takes a weight apart, as in usaav.flow.systems and usaav.kernels.low_rank
LARGEST_MATRIX, LARGEST_RANK = 4096, 64
#: arrays of all tokens that a run holds at a time: the stages of a step, the points of old and new steps, and
#: what an observation makes; and that the job holds of each run from its start: drawn, checked, in content
ARRAYS_IN_STEP, ARRAYS_AT_START = 26, 3


@dataclass(frozen=True)
class Needs:
    """Resources of one job.

    Attributes
    ----------
    threads
        CPU threads.
    mem_mb
        Memory in megabytes.
    runtime
        Time limit in minutes.
    gpu
        Number of GPUs.
    """

    threads: int
    mem_mb: int
    runtime: int
    gpu: int = 0


def of_simulation(case: Case, attempt: int = 1) -> Needs:
    """Needs of the job that simulates `case`; memory and time grow with `attempt` (1, 2, ...)."""
    settings = case.settings
    seconds = work(case)
    # a run on the spectral field shares its tokens among threads, one on the direct field takes one
    each = math.ceil(settings.n_tokens / CHUNK) if _expands(case) else 1
    threads = min(MAX_THREADS, len(case.seeds) * each, 1 + int(seconds // SECONDS_PER_THREAD))
    return Needs(
        threads=threads,
        mem_mb=math.ceil((BASE_MB + 3 * stored_mb([case]) + _held_mb(case, threads)) * attempt),
        runtime=math.ceil((BASE_MINUTES + 3 * seconds / threads / 60) * attempt),
        gpu=1 if settings.backend == "cupy" else 0,
    )


def of_batch(cases: Sequence[Case], attempt: int = 1) -> Needs:
    """Needs of the job that simulates `cases` one after the other; memory and time grow with `attempt`."""
    each = [of_simulation(case) for case in cases]
    seconds = sum(3 * work(case) / needs.threads for case, needs in zip(cases, each, strict=True))
    return Needs(
        threads=max(needs.threads for needs in each),
        # all are kept until the file is written
        mem_mb=math.ceil((max(needs.mem_mb for needs in each) + 3 * stored_mb(cases)) * attempt),
        runtime=math.ceil((BASE_MINUTES + seconds / 60) * attempt),
        gpu=max(needs.gpu for needs in each),
    )


def of_gathering(batches: Iterable[Sequence[Case]], attempt: int = 1) -> Needs:
    """Needs of the job that copies the data of all `batches` of a sweep into one file, a batch at a time."""
    sizes = [stored_mb(cases) for cases in batches]
    return Needs(
        threads=1,
        mem_mb=math.ceil((BASE_MB + 3 * max(sizes)) * attempt),
        runtime=math.ceil((BASE_MINUTES + sum(sizes) / 100) * attempt),
    )


def of_table(cases: Iterable[Case], attempt: int = 1) -> Needs:
    """Needs of a job that reads the table of `cases`: a row for each seed and time."""
    rows = sum(len(case.seeds) * len(case.settings.times) for case in cases)
    table_mb = 1e-6 * BYTES_PER_ROW * rows
    return Needs(
        threads=1,
        mem_mb=math.ceil((BASE_MB + 3 * table_mb) * attempt),
        runtime=math.ceil((BASE_MINUTES + table_mb / 100) * attempt),
    )


def work(case: Case) -> float:
    """Seconds that one slow core, or device, takes for all seeds of `case`, a guess on the safe side."""
    rate = PAIRS_PER_SECOND_ON_DEVICE if case.settings.backend == "cupy" else PAIRS_PER_SECOND
    return len(case.seeds) * _interactions(case) * _evaluations(case) / rate


def of_reading(cases: Iterable[Case], attempt: int = 1) -> Needs:
    """Needs of a job that measures, draws or checks `cases`; memory and time grow with `attempt` (1, ...)."""
    size_mb = stored_mb(cases)
    return Needs(
        threads=1,
        mem_mb=math.ceil((BASE_MB + 3 * size_mb) * attempt),
        runtime=math.ceil((BASE_MINUTES + size_mb / 100) * attempt),
    )


def held_gb(case: Case) -> float:
    """Gigabytes that `case` can't do without: its data and, for weights of labels, a matrix of all pairs."""
    return (stored_mb([case]) + _matrix_mb(case)) / 1000


def _held_mb(case: Case, threads: int) -> float:
    """Megabytes that the runs of `case` hold while they go on, `threads` of them at a time at most."""
    runs = len(case.seeds)
    column_mb = 8e-6 * case.settings.n_tokens
    at_once = min(threads, runs)
    arrays = ARRAYS_AT_START * runs + ARRAYS_IN_STEP * at_once
    factors = (_rank(case) or 0) * at_once
    return (arrays * case.settings.dim + factors) * column_mb + 2 * at_once * _matrix_mb(case)


def _matrix_mb(case: Case) -> float:
    """Megabytes of the matrix of all pairs, if the weight depends on labels; a GPU needs none.

    Nor does the spectral field of more tokens than the compiled direct field takes.
    """
    settings = case.settings
    without = settings.kernel.weight.type == "constant" or settings.backend == "cupy"
    if without or (settings.n_tokens > LARGEST_MATRIX and _expands(case)):
        return 0.0
    return 8e-6 * settings.n_tokens**2


def _interactions(case: Case) -> float:
    """Pairs of tokens, or terms of the expansion, in one evaluation of the right-hand side."""
    pairs = float(case.settings.n_tokens) ** 2
    if not _expands(case):
        return pairs
    return min(pairs, float(case.settings.n_tokens) * _terms(case) * (_rank(case) or 1))


def _expands(case: Case) -> bool:
    """Whether the spectral field may be taken, and exists."""
    settings = case.settings
    plain = settings.normalization == "none" and settings.backend in ("auto", "numba")
    curved = settings.kernel.beta is not None
    return settings.field != "direct" and plain and curved and settings.dim <= 3 and _rank(case) is not None


def _rank(case: Case) -> int | None:
    """Products that the weight is a sum of, where that does not depend on the labels; else None."""
    weight = case.settings.kernel.weight
    if isinstance(weight, ToeplitzFields):
        rank = sum(2 if order else 1 for order, value in weight.coefficients.items() if value)
        return rank if rank <= LARGEST_RANK else None
    return 1 if weight.type == "constant" else None


def _terms(case: Case) -> float:
    """Harmonics up to the degree at which the expansion is cut, that of a tolerance of 1e-12."""
    degree = 5.0 + 7.9 * math.sqrt(case.settings.kernel.beta or 0.0)
    return degree if case.settings.dim == 2 else 0.5 * (degree + 1.0) * (degree + 2.0)


def _evaluations(case: Case) -> float:
    settings = case.settings
    if settings.method == "layers" and settings.step is not None:
        return settings.times[-1] / settings.step
    return float(EVALUATIONS[0] + EVALUATIONS[1] * len(settings.times))


def stored_mb(cases: Iterable[Case]) -> float:
    """Megabytes of the arrays in the data files of `cases`."""
    total = 0.0
    for case in cases:
        settings = case.settings
        tokens = len(settings.snapshots) * min(settings.n_tokens, settings.stored_tokens) * settings.dim
        observed = len(settings.times) * (settings.dim + 3 + 2 * settings.mode_degrees)
        total += 8e-6 * len(case.seeds) * (tokens + observed)
    return total
