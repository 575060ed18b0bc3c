"""One trajectory against other integrators: n = 256, d = 3, beta = 9, from random tokens to tau = 20.

Each contender runs in its own process under a time limit (``--limit`` seconds) with the same start; what does
not finish is reported with how far it came. The reference is our own run at rtol 1e-13. Peers come from
``benchmarks/requirements-peers.txt`` (another environment: ``--peers-python``). Writes
``results/trajectory.json``.
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
        seen = stopped.stdout or b""
        lines = (seen.decode() if isinstance(seen, bytes) else seen).strip().splitlines()
        reached = json.loads(lines[-1]).get("tau") if lines else None
        return {
            "name": name,
            "finished": False,
            "seconds": time.perf_counter() - began,
            "tau_reached": reached,
        }
    if done.returncode:
        return {"name": name, "finished": False, "failed": done.stderr.strip().splitlines()[-1:]}
    return {"name": name, "finished": True, **json.loads(done.stdout.strip().splitlines()[-1])}


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=200.0, help="seconds a contender may take")
    parser.add_argument("--peers-python", default=sys.executable, help="interpreter that has the peers")
    parser.add_argument("--rtol", type=float, default=1e-8)
    arguments = parser.parse_args()
    reference = ours(1e-13, "numba")["tokens"]
    rows = [ours(arguments.rtol, backend) for backend in ("numba", "numpy")]
    rows += [peer(name, arguments.peers_python, arguments.limit, arguments.rtol) for name in PEERS]
    fastest = rows[0]["seconds"]
    for row in rows:
        if "tokens" in row:
            row["error"] = float(np.abs(np.asarray(row.pop("tokens")) - reference).max())
        row["times_ours"] = row["seconds"] / fastest if "seconds" in row else None
        sys.stdout.write(json.dumps(row) + "\n")
    keep("trajectory", {"n": N, "dim": DIM, "beta": BETA, "tau": TAU, "runs": rows})


if __name__ == "__main__":
    main()
