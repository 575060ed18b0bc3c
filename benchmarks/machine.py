"""Facts about the machine, and a way to keep results: every benchmark writes them beside its numbers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from usaav.provenance import provenance

RESULTS = Path(__file__).parent / "results"


def facts() -> dict[str, Any]:
    """Processor, cores, versions, commit and date."""
    return {**provenance(), "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d")}


def keep(name: str, numbers: Any) -> None:
    """Write ``results/<name>.json``."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": facts(), "results": numbers}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")


def best_of(work: Callable[[], Any], repeats: int = 7, at_least: float = 0.05) -> float:
    """Seconds of one call of `work`: the best of timings of calls that together last `at_least`.

    The best and not the mean: what disturbs a timing on a shared machine only ever adds to it.
    """
    work()
    best = float("inf")
    for _ in range(repeats):
        calls, began = 0, time.perf_counter()
        while calls == 0 or time.perf_counter() - began < at_least:
            work()
            calls += 1
        best = min(best, (time.perf_counter() - began) / calls)
    return best
