"""What a job of the workflow needs: threads, memory, minutes, GPUs, from the size of its cases.

These are generous guesses for a scheduler, not promises; a profile with ``retries`` raises memory and time at
each further attempt. Facts about a site (partitions, accounts, how many GPUs) belong to profiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from usaav.config.cases import Case

__all__ = ["Needs", "of_reading", "of_simulation"]

#: megabytes of Python with its libraries, and of the two Snakemake processes that a cluster job also has
BASE_MB = 1000
#: pairs of tokens (or, for the spectral field, terms of the expansion) per second and thread, on a slow core
PAIRS_PER_SECOND = 2e8
TERMS_PER_TOKEN = 1000
#: evaluations of the right-hand side: of a smooth run, and for each output time
EVALUATIONS = (5000, 20)
#: one thread for each that many seconds of work
SECONDS_PER_THREAD = 120
MAX_THREADS = 32


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
    seconds = len(case.seeds) * _interactions(case) * _evaluations(case) / PAIRS_PER_SECOND
    threads = min(MAX_THREADS, len(case.seeds), 1 + int(seconds // SECONDS_PER_THREAD))
    # a weight that depends on labels is a matrix of all pairs
    matrix_mb = 0 if settings.kernel.weight.type == "constant" else 8e-6 * settings.n_tokens**2 * 2 * threads
    return Needs(
        threads=threads,
        mem_mb=math.ceil((BASE_MB + 3 * _stored_mb([case]) + matrix_mb) * attempt),
        runtime=math.ceil((10 + 3 * seconds / threads / 60) * attempt),
        gpu=1 if settings.backend == "cupy" else 0,
    )


def of_reading(cases: Iterable[Case], attempt: int = 1) -> Needs:
    """Needs of a job that measures, draws or checks `cases`; memory and time grow with `attempt` (1, ...)."""
    stored_mb = _stored_mb(cases)
    return Needs(
        threads=1,
        mem_mb=math.ceil((BASE_MB + 3 * stored_mb) * attempt),
        runtime=math.ceil((10 + stored_mb / 100) * attempt),
    )


def _interactions(case: Case) -> float:
    """Pairs of tokens, or terms of the expansion, in one evaluation of the right-hand side."""
    settings = case.settings
    pairs = float(settings.n_tokens) ** 2
    expands = settings.field != "direct" and settings.dim <= 3 and settings.kernel.weight.type == "constant"
    return min(pairs, float(settings.n_tokens) * TERMS_PER_TOKEN) if expands else pairs


def _evaluations(case: Case) -> float:
    settings = case.settings
    if settings.method == "layers" and settings.step is not None:
        return settings.times[-1] / settings.step
    return float(EVALUATIONS[0] + EVALUATIONS[1] * len(settings.times))


def _stored_mb(cases: Iterable[Case]) -> float:
    """Megabytes of the arrays in the data files of `cases`."""
    total = 0.0
    for case in cases:
        settings = case.settings
        tokens = len(settings.snapshots) * settings.n_tokens * settings.dim
        total += 8e-6 * len(case.seeds) * (tokens + len(settings.times) * (settings.dim + 3))
    return total
