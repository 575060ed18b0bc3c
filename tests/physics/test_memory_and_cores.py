"""What a run takes of the machine: memory in proportion to the tokens, and the cores it is given."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from physics import examples
from usaav import simulate
from usaav.config import from_mapping
from usaav.config.cases import Case
from usaav.flow.case import run_case
from usaav.kernels import kernel

# a matrix of all pairs of 6,000 tokens has 288 MB, a list of all pairs 2 GB
MANY = 6_000
GROWTH = """
import resource
import numpy as np
import usaav

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def simulate(tokens, **options):
    kernel = usaav.kernel({{"type": "usa", "beta": 4.0}})
    return usaav.simulate(kernel, tokens, field="direct", backend="numba", **options)

few = usaav.initial_tokens({{"law": "uniform"}}, n_tokens=20, dim=3, seed=0)
for options in ({options}, {{"times": [0.0, 0.1]}}):
    simulate(few, **options)
before = peak()
simulate({tokens}, **{options})
print(peak() - before)
"""
UNIFORM = f'usaav.initial_tokens({{"law": "uniform"}}, n_tokens={MANY}, dim=3, seed=0)'
EQUAL = f"np.tile(few[:1], ({MANY}, 1))"


@pytest.mark.parametrize(
    ("tokens", "options"),
    [
        # one layer: a field and two energies; all pairs are looked at from the start on
        (UNIFORM, '{"times": [0.0, 1e-3], "method": "layers", "step": 1e-3}'),
        (UNIFORM, '{"times": [0.0, 1e-6]}'),
        (EQUAL, '{"times": [0.0, 1.0]}'),
        (EQUAL, '{"times": [0.0, 1.0], "normalization": "softmax"}'),
    ],
    ids=["layer", "steps", "a cloud that meets", "the same with softmax"],
)
def test_the_direct_field_needs_no_matrix(tokens: str, options: str) -> None:
    """Twelve stages of six thousand tokens are 1.7 MB; compiled code and lists take some 30 more."""
    script = GROWTH.format(tokens=tokens, options=options)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 100.0


def case(**settings: Any) -> Case:
    entry = {
        "kernel": {"type": "usa", "beta": 9},
        "n_tokens": 300,
        "seeds": 4,
        "times": {"start": 0, "stop": 1e-3, "count": 20},
        "backend": "numpy",
    }
    return from_mapping({"experiments": {"one": {**entry, **settings}}}).cases()[0]


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_one_thread_keeps_one_core_busy(backend: str) -> None:
    """Linear algebra would take all; the seconds of all cores together are then more than those passed."""
    one = case(backend=backend)
    run_case(one, threads=1)
    spent, passed = time.process_time(), time.perf_counter()
    run_case(one, threads=1)
    spent, passed = time.process_time() - spent, time.perf_counter() - passed
    assert spent < 1.1 * passed


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(("threads", "together"), [(1, 1), (2, 2), (3, 3), (16, 4)])
def test_as_many_runs_at_a_time_as_threads(threads: int, together: int, backend: str) -> None:
    """No more threads than given, and no fewer while there are runs; none of them starts others."""
    lock, running, most, others = threading.Lock(), set(), [0], [0]
    barrier = threading.Barrier(together, timeout=60.0)

    def progress(run: int, fraction: float) -> None:
        if run < together and fraction < 0.06:
            barrier.wait()  # broken, were there fewer at a time
        with lock:
            running.add(run)
            most[0] = max(most[0], len(running))
            others[0] = max(others[0], *(pool["num_threads"] for pool in threadpool_info()))
            if fraction == 1.0:
                running.remove(run)

    run_case(case(backend=backend), threads, progress)
    assert most == [together]
    assert others[0] * together <= threads


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_single_run_of_many_tokens_takes_the_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the spectral field, whose sums are split into chunks; results do not depend on it."""
    from usaav.flow import spectral

    pools: list[int] = []
    original = spectral.ThreadPoolExecutor

    def counted(workers: int) -> Any:
        pools.append(workers)
        return original(workers)

    monkeypatch.setattr(spectral, "ThreadPoolExecutor", counted)
    start = examples.tokens(20_000, 2, 0)
    run = simulate(
        kernel(examples.usa(1.0)),
        start,
        times=[0.0, 1e-3],
        field="spectral",
        backend="numba",
        threads=threads,
    )
    assert set(pools) == ({threads} if threads > 1 else set())
    alone = simulate(kernel(examples.usa(1.0)), start, times=[0.0, 1e-3], field="spectral", backend="numba")
    assert np.array_equal(run["tokens"].values, alone["tokens"].values)
