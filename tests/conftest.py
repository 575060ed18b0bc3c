"""What every test may use."""

from __future__ import annotations

import os
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
