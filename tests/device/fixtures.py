"""Fixtures: the processor as a device, and where there is one a CUDA device for the same tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from device.processor import COMPILER, ProcessorDevice
from usaav.gpu import device as devices
from usaav.gpu import field


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> ProcessorDevice:
    """The processor as a device, with blocks of 32 threads."""
    if COMPILER is None:
        pytest.skip("no C++ compiler, to compile the kernels for the processor")
    monkeypatch.setattr(field, "THREADS", 32)
    folder = Path(tmp_path_factory.getbasetemp().parent) / "kernels"
    folder.mkdir(exist_ok=True)
    return ProcessorDevice(folder)


@pytest.fixture
def cuda() -> Iterator[Any]:
    """A CUDA device; without one the test is skipped and says why."""
    reason = devices.why_not()
    if reason is not None:
        pytest.skip(f"no CUDA device: {reason}")
    with devices.claimed() as device:
        yield device


@pytest.fixture(params=["processor", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Any:
    """Both, one after the other."""
    return request.getfixturevalue(request.param)
