"""One trajectory against other integrators: n = 256, d = 3, beta = 9, from random tokens to tau = 20.

Each contender runs in its own process under a time limit (``--limit`` seconds) with the same start; what does
not finish is reported with how far it came. The reference is our own run at rtol 1e-13. Peers come from
``benchmarks/requirements-peers.txt`` (another environment: ``--peers-python``). Ends with two ratios, and
writes ``results/trajectory.json``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import best_of, keep

import usaav

N, DIM, BETA, TAU = 256, 3, 9.0, 20.0
PEER_PACKAGES = ("numpy", "scipy", "jax", "jaxlib", "diffrax", "torch", "torchdiffeq")
PEERS = (
    "scipy-DOP853",
    "scipy-LSODA",
    "diffrax-Tsit5",
    "diffrax-Dopri8",
    "torchdiffeq-dopri5",
    "numpy-Euler-0.1",
)


def start() -> np.ndarray:
    """The common start ``(256, 3)``."""
    return usaav.initial_tokens({"law": "uniform"}, n_tokens=N, dim=DIM, seed=0)


def ours(rtol: float, backend: str) -> dict[str, Any]:
    """Our time (compiled code loaded) and last tokens."""
    kernel = usaav.kernel({"type": "usa", "beta": BETA})
    tokens = start()

    def run() -> Any:
        return usaav.simulate(kernel, tokens, times=[0.0, TAU], rtol=rtol, backend=backend)

    seconds = best_of(run, repeats=5, at_least=0.0)
    dataset = run()
    return {
        "name": f"usaav-{backend}",
        "rtol": rtol,
        "seconds": seconds,
        "steps": int(dataset.step_count[0]),
        "tokens": dataset.tokens.values[0, -1],
    }


def peer(name: str, python: str, limit: float, rtol: float) -> dict[str, Any]:
    """Time and last tokens of one contender, or how far it came within `limit` seconds."""
    script = Path(__file__).with_name("peers.py")
    job = json.dumps({"name": name, "tokens": start().tolist(), "beta": BETA, "tau": TAU, "rtol": rtol})
    began = time.perf_counter()
    try:
        done = subprocess.run(
            [python, str(script)], input=job, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired as stopped:
        elapsed = time.perf_counter() - began
        seen = stopped.stdout or b""
        said = progress(seen.decode() if isinstance(seen, bytes) else seen)
        return {
            "name": name,
            "finished": False,
            "seconds": elapsed - said.get("setup", elapsed),
            "tau_reached": said.get("tau"),
        }
    if done.returncode:
        return {"name": name, "finished": False, "failed": done.stderr.strip().splitlines()[-1:]}
    return {"name": name, "finished": True, **json.loads(done.stdout.strip().splitlines()[-1])}


def progress(text: str) -> dict[str, float]:
    """The last of each fact that a contender said in JSON lines, the last of which may be cut."""
    said: dict[str, float] = {}
    for line in text.splitlines():
        try:
            said.update(json.loads(line))
        except json.JSONDecodeError:
            continue
    return said


def new_process(rtol: float) -> list[dict[str, Any]]:
    """A process that imports usaav, simulates once and ends: its wall time, and that of the call alone.

    Compiled code is on the disk. The call loads it, numba, and what a dataset needs.
    """
    script = (
        "import time, usaav\n"
        f"tokens = usaav.initial_tokens({{'law': 'uniform'}}, n_tokens={N}, dim={DIM}, seed=0)\n"
        f"kernel = usaav.kernel({{'type': 'usa', 'beta': {BETA}}})\n"
        "simulate = usaav.simulate\n"
        "began = time.perf_counter()\n"
        f"simulate(kernel, tokens, times=[0.0, {TAU}], rtol={rtol}, backend='numba')\n"
        "print(time.perf_counter() - began)\n"
    )
    wall, call = float("inf"), float("inf")
    for _ in range(5):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        wall = min(wall, time.perf_counter() - began)
        call = min(call, float(done.stdout))
    return [
        {"name": "usaav-numba, first call in a process", "rtol": rtol, "seconds": call},
        {"name": "usaav-numba, new process from start to end", "rtol": rtol, "seconds": wall},
    ]


def versions(python: str) -> dict[str, str]:
    """Versions of the contenders' packages."""
    script = (
        "import importlib.metadata as m, json, sys\n"
        "found = {d.metadata['Name'].lower(): d.version for d in m.distributions()}\n"
        "print(json.dumps({name: found[name] for name in sys.argv[1:] if name in found}))"
    )
    command = [python, "-c", script, *PEER_PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def ratio(rows: list[dict[str, Any]], names: tuple[str, ...], label: str) -> str:
    """A line that says how many times longer the fastest of the contenders takes than our compiled engine.

    A contender that was stopped, or whose error is larger than ours, would take longer to get as far with as
    small an error; where such a one is the fastest, the ratio is a lower bound.
    """
    mine = rows[0]
    timed = [row for row in rows if row["name"].startswith(names) and row.get("seconds")]
    if not timed:
        return f"{label}: not measured, no contender ran"
    best = min(timed, key=lambda row: row["seconds"])
    stopped = not best["finished"]
    worse = not stopped and best["error"] > mine["error"]
    sign = ">=" if stopped or worse else "="
    remark = ", stopped at the limit" if stopped else ", with a larger error than ours" if worse else ""
    return f"{label}: {sign} {best['seconds'] / mine['seconds']:.3g} times ours ({best['name']}{remark})"


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=200.0, help="seconds a contender may take")
    parser.add_argument("--peers-python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--rtol", type=float, default=1e-8)
    arguments = parser.parse_args()
    reference = ours(1e-13, "numba")["tokens"]
    rows = [ours(arguments.rtol, backend) for backend in ("numba", "numpy")]
    rows += new_process(arguments.rtol)
    rows += [peer(name, arguments.peers_python, arguments.limit, arguments.rtol) for name in PEERS]
    fastest = rows[0]["seconds"]
    for row in rows:
        if "tokens" in row:
            row["error"] = float(np.abs(np.asarray(row.pop("tokens")) - reference).max())
        row["times_ours"] = row["seconds"] / fastest if "seconds" in row else None
        sys.stdout.write(json.dumps(row) + "\n")
    ratios = [
        ratio(rows, ("scipy-DOP853",), "scipy DOP853"),
        ratio(
            rows, ("diffrax", "torchdiffeq"), "best of diffrax and torchdiffeq, at our error or a smaller one"
        ),
    ]
    sys.stdout.write("\n".join(ratios) + "\n")
    results = {"n": N, "dim": DIM, "beta": BETA, "tau": TAU, "runs": rows, "ratios": ratios}
    keep("trajectory", {**results, "peers": versions(arguments.peers_python)})


if __name__ == "__main__":
    main()
