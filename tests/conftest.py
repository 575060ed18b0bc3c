"""What every test may use."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

# Before numpy is imported: the arrays here are small, and the tests already run in parallel processes.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
# No test opens a window.
os.environ["MPLBACKEND"] = "Agg"

import pytest
from hypothesis import settings

# The suite gives the same answer every time; `--hypothesis-profile=explore` looks for new cases. Compiled
# code takes its time on the first call, hence no deadline.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes minutes unless it is asked for."""
    if os.environ.get("USAAV_TEST_FAULTS") == "1":
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.fixture
def count(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """A function: what, how many -> a sum over all tests that the summary shows."""
    return lambda what, number=1: record_property("count", [what, number])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the sums of what the tests that passed have counted."""
    sums: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "count":
                sums[value[0]] += value[1]
    if sums:
        terminalreporter.section("counts")
        for what, number in sorted(sums.items()):
            terminalreporter.line(f"{what}: {number}")
