"""Pairs per second of the field on a CUDA device, against its own limits and against other libraries.

The limit of a pair is the time of its exponential and of its other multiply-adds, both measured in the same
run from registers alone. Contenders (torch and jax with CUDA, if they are installed) evaluate the same field
as their users would write it; where one is missing, or its n x n array does not fit, this is said. Run:
``python benchmarks/gpu.py [--quick]``; writes ``results/gpu.json``. Without a device it says why and writes
nothing; of several devices it takes the first of ``CUDA_VISIBLE_DEVICES``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from machine import best_of, keep

import usaav
from usaav.gpu import device as devices
from usaav.gpu.field import Kind, Law, Precision, law_of, source
from usaav.gpu.launches import RUN, Launches
from usaav.kernels import kernel

BETA, DIM = 9.0, 3
#: (tokens, runs in one launch)
SIZES = ((256, 256), (1024, 64), (4096, 8), (16384, 1), (65536, 1), (262_144, 1), (1_000_000, 1))
QUICK = ((256, 64), (4096, 1))
LIMITS = Path(__file__).with_name("limits.cu")
#: threads of a block, blocks for each multiprocessor, and dependent operations in each thread
THREADS, BLOCKS, CHAINS, PASSES = 256, 32, 8, 2048


def multiply_adds(dim: int) -> int:
    """Operations of a pair besides its exponential: differences, square, exponent, mass, and the sums."""
    return dim + dim + 1 + 1 + dim


def clouds(n: int, runs: int, dim: int) -> np.ndarray:
    """Uniform random unit rows ``(runs, n, dim)``."""
    rows = np.random.default_rng(0).standard_normal((runs, n, dim))
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def naive(xp: Any, z: Any) -> Any:
    """The velocity of rows ``(runs, n, d)``, or ``(n, d)``, as one writes it with arrays."""
    pull = xp.exp(BETA * (xp.matmul(z, xp.swapaxes(z, -1, -2)) - 1.0)) @ z / z.shape[-2]
    return pull - xp.sum(pull * z, axis=-1, keepdims=True) * z


def table(device: devices.Device, law: Law, tokens: np.ndarray) -> tuple[list[np.ndarray], list[Any]]:
    """Rows of the table for an evaluation of the field of each run, and the arrays behind them."""
    rows, arrays = [], []
    for cloud in tokens:
        count = len(cloud)
        held = {
            "points": device.upload(cloud),
            "masses": device.upload(np.full(count, 1.0 / count)),
            "partial": device.empty((law.kind.room(count),)),
            "end_velocity": device.empty(cloud.shape),
        }
        row = np.zeros(1, RUN)
        for name, array in held.items():
            row[name] = device.address(array)
        row["count"], row["splits"], row["slope"] = count, law.kind.splits(count), law.slope
        rows.append(row)
        arrays.append(held)
    return rows, arrays


def ours(device: devices.Device, tokens: np.ndarray, precision: Precision) -> dict[str, Any]:
    """Our evaluation of all runs in one launch, with its table there and back."""
    law = law_of(kernel({"type": "usa", "beta": BETA}), tokens.shape[-1], softmax=False, precision=precision)
    launches = Launches(device, law.kind)
    rows, arrays = table(device, law, tokens)
    seconds = best_of(lambda: launches.serve("velocity", rows))
    first = device.download(arrays[0]["end_velocity"])
    return {"name": f"usaav {precision}", "seconds": seconds, "velocity": first}


def contender(name: str, tokens: np.ndarray) -> dict[str, Any]:
    """Another library's evaluation in float64; why not, where there is none."""
    try:
        evaluate = CONTENDERS[name](tokens)
        seconds = best_of(evaluate)
        return {"name": name, "seconds": seconds, "velocity": np.asarray(evaluate(fetch=True))}
    except ImportError as error:
        return {"name": name, "why_not": f"not installed ({error})"}
    except (MemoryError, RuntimeError) as error:
        return {"name": name, "why_not": str(error).strip().splitlines()[0][:200]}


def with_cupy(tokens: np.ndarray) -> Callable[..., Any]:
    """Naive CuPy."""
    import cupy

    z = cupy.asarray(tokens)

    def evaluate(*, fetch: bool = False) -> Any:
        velocity = naive(cupy, z)
        cupy.cuda.runtime.deviceSynchronize()
        return velocity[0].get() if fetch else None

    return evaluate


def with_torch(tokens: np.ndarray) -> Callable[..., Any]:
    """PyTorch on the device, without gradients."""
    import torch

    torch.set_grad_enabled(False)
    z = torch.tensor(tokens, device="cuda")

    def evaluate(*, fetch: bool = False) -> Any:
        pull = torch.exp(BETA * (z @ z.transpose(-1, -2) - 1.0)) @ z / z.shape[-2]
        velocity = pull - (pull * z).sum(-1, keepdim=True) * z
        torch.cuda.synchronize()
        return velocity[0].cpu().numpy() if fetch else None

    return evaluate


def with_jax(tokens: np.ndarray) -> Callable[..., Any]:
    """JAX, jitted, on its default device, which must be a GPU."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # it would take the memory of the others
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        raise RuntimeError(f"the default device of jax is a {jax.default_backend()}")
    z = jnp.asarray(tokens)
    compiled = jax.jit(lambda rows: naive(jnp, rows))

    def evaluate(*, fetch: bool = False) -> Any:
        velocity = compiled(z).block_until_ready()
        return np.asarray(velocity[0]) if fetch else None

    return evaluate


CONTENDERS = {"cupy naive": with_cupy, "torch": with_torch, "jax": with_jax}


def limits(precision: Precision) -> dict[str, float]:
    """Nanoseconds of a multiply-add and of an exponential, with the whole device at work."""
    import cupy

    module = cupy.RawModule(
        code=source() + LIMITS.read_text(encoding="utf-8"), options=Kind(DIM, precision=precision).options
    )
    blocks = BLOCKS * cupy.cuda.Device().attributes["MultiProcessorCount"]
    out = cupy.empty(blocks * THREADS, dtype=precision)
    found = {}
    for name in ("multiply_adds", "exponentials"):
        function = module.get_function(name)

        def run(call: Any = function) -> None:
            call((blocks, 1, 1), (THREADS, 1, 1), (out, np.int32(PASSES)))
            cupy.cuda.runtime.deviceSynchronize()

        found[name] = 1e9 * best_of(run) / (blocks * THREADS * CHAINS * PASSES)
    return found


def limit_ns(measured: dict[str, float], dim: int) -> float:
    """Nanoseconds that an ordered pair takes at least."""
    return measured["exponentials"] + multiply_adds(dim) * measured["multiply_adds"]


def compared(rows: list[dict[str, Any]], n: int, runs: int, least: dict[str, float]) -> list[dict[str, Any]]:
    """The rows of one size, with pairs per second, part of the limit, and error against the first row."""
    reference = rows[0]["velocity"]
    scale = float(np.abs(reference).max())
    result = []
    for row in rows:
        facts = {key: value for key, value in row.items() if key != "velocity"}
        facts.update(n=n, runs=runs, dim=DIM, beta=BETA)
        if "seconds" in row:
            each = 1e9 * row["seconds"] / (float(n) ** 2 * runs)
            precision = "float32" if row["name"].endswith("float32") else "float64"
            facts["pairs_per_second"] = 1e9 / each
            facts["part_of_limit"] = least[precision] / each
            facts["largest_difference"] = float(np.abs(row["velocity"] - reference).max()) / scale
        result.append(facts)
    return result


def trajectories(runs: int) -> list[dict[str, Any]]:
    """Whole runs of 256 tokens to tau = 20, all runs together, on the device and on one core."""
    model, tokens = kernel({"type": "usa", "beta": BETA}), clouds(256, runs, DIM)
    rows = []
    for backend in ("cupy", "numba"):
        seconds = best_of(
            lambda name=backend: usaav.simulate(model, tokens, times=[0.0, 20.0], backend=name),
            repeats=2,
            at_least=0.0,
        )
        rows.append({"backend": backend, "n": 256, "runs": runs, "seconds": seconds})
    return rows


def line(row: dict[str, Any]) -> str:
    """A row to be read."""
    start = f"n={row['n']} x {row['runs']} {row['name']}: "
    if "why_not" in row:
        return start + row["why_not"]
    return (
        f"{start}{row['pairs_per_second']:.3g} pairs/s, {100.0 * row['part_of_limit']:.0f} % of the limit, "
        f"difference {row['largest_difference']:.1e}"
    )


def main() -> None:
    """Measure, print, and keep the numbers."""
    reason = devices.why_not()
    if reason is not None:
        sys.exit(f"nothing measured: {reason}")
    quick = "--quick" in sys.argv
    precisions: tuple[Precision, ...] = ("float64", "float32")
    with devices.claimed() as device, device.current():
        measured = {precision: limits(precision) for precision in precisions}
        least = {precision: limit_ns(found, DIM) for precision, found in measured.items()}
        sys.stdout.write(f"{device.name}: {measured}\n")
        rows: list[dict[str, Any]] = []
        for n, runs in QUICK if quick else SIZES:
            tokens = clouds(n, runs, DIM)
            here = [ours(device, tokens, precision) for precision in precisions]
            here += [contender(name, tokens) for name in CONTENDERS]
            rows += compared(here, n, runs, least)
            sys.stdout.write("".join(line(row) + "\n" for row in rows[-len(here) :]))
        results = {**device.facts, "limits": measured, "evaluations": rows}
    if not quick:
        results["trajectories"] = trajectories(64)
        keep("gpu", results)


if __name__ == "__main__":
    main()
