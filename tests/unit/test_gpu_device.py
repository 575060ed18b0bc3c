"""Which device a process takes, and what it says where none can be used."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from device.processor import ProcessorDevice
from device.stand_in import CudaError, Cupy
from physics import examples
from usaav import simulate
from usaav.errors import BackendError
from usaav.gpu import device
from usaav.kernels import kernel


@pytest.fixture(autouse=True)
def own_locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Locks in a folder of this test, and a process that has claimed nothing."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(device, "_CLAIM", device._Claim())
    monkeypatch.delenv(device.SHARE, raising=False)


def put(monkeypatch: pytest.MonkeyPatch, cupy: Cupy | None) -> Cupy | None:
    """`cupy` as what ``import cupy`` finds; None: nothing."""
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return cupy


@pytest.mark.parametrize(
    ("cupy", "reason"),
    [
        (None, r"cupy can't be imported \(.*\): pip install 'usaav\[cuda12\]' or 'usaav\[cuda13\]'"),
        (
            Cupy(compiles=False),
            r"NVRTC, which compiles the kernels, can't be loaded \(No such file: libnvrtc\): pip install",
        ),
        (
            Cupy(fault=CudaError(35, "cudaErrorInsufficientDriver")),
            "there is no NVIDIA driver on this machine: install one, or run where there is a device",
        ),
        (
            Cupy(fault=CudaError(35, "cudaErrorInsufficientDriver"), driver=11040),
            r"the driver is for CUDA 11\.4, cupy for 12\.9: install a newer driver, or the cupy that fits",
        ),
        (
            Cupy(fault=CudaError(100, "cudaErrorNoDevice")),
            r"no device is visible \(CUDA_VISIBLE_DEVICES = '7'\): ask the scheduler for one, or correct it",
        ),
        (Cupy(count=0), r"no device is visible \(CUDA_VISIBLE_DEVICES = '7'\)"),
        (
            Cupy(fault=CudaError(2, "cudaErrorMemoryAllocation")),
            "no memory left: see with nvidia-smi who has it",
        ),
        (
            Cupy(fault=CudaError(999, "unknown error")),
            r"can't be used \(unknown error\): see whether nvidia-smi",
        ),
    ],
    ids=[
        "no library",
        "no compiler",
        "no driver",
        "old driver",
        "no device",
        "none visible",
        "no memory",
        "unknown",
    ],
)
def test_why_there_is_none(monkeypatch: pytest.MonkeyPatch, cupy: Cupy | None, reason: str) -> None:
    put(monkeypatch, cupy)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    with pytest.raises(BackendError, match=f"^backend = cupy: .*{reason}.*; or use backend numba or numpy$"):
        device.require()
    with pytest.raises(BackendError, match=reason), device.claimed():
        pass
    usa = kernel(examples.usa(1.0))
    with pytest.raises(BackendError, match=reason):
        simulate(usa, examples.tokens(3, 3, 0), backend="cupy")
    assert simulate(usa, examples.tokens(3, 3, 0), times=[0.0]).attrs["backend"] == "numba"
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    if cupy is not None and reason.startswith("no device"):
        assert "(CUDA_VISIBLE_DEVICES is not set)" in str(device.why_not())


def test_a_run_through_the_interface_of_cupy(
    monkeypatch: pytest.MonkeyPatch, processor: ProcessorDevice
) -> None:
    """From the claim to the release, on the processor."""
    cupy = Cupy(processor, count=2)
    put(monkeypatch, cupy)
    options = {"times": [0.0, 1.0]}
    usa, tokens = kernel(examples.usa(2.0)), examples.tokens(12, 3, 0)
    ours = simulate(usa, np.stack([tokens, tokens]), backend="cupy", **options)
    plain = simulate(usa, tokens, backend="numpy", **options)
    assert ours.attrs["device"] == "Device 0"
    assert (ours.attrs["device_capability"], ours.attrs["cuda_runtime"]) == ("9.0", "12.9")
    assert np.abs(ours.tokens[1] - plain.tokens[0]).max() < 1e-12
    assert cupy.freed == 1
    assert set(cupy.used) == {0}


def test_what_fails_on_the_device_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = Cupy()
    put(monkeypatch, cupy)
    with device.claimed() as claimed:
        assert claimed.free_memory() == (1 << 30) + 5
        with pytest.raises(BackendError, match=r"Device 0 has too little memory.*use fewer tokens"):
            raising(cupy, claimed, MemoryError("out of memory"))
        with pytest.raises(BackendError, match=r"can't be kept \(read-only\): set CUPY_CACHE_DIR"):
            raising(cupy, claimed, PermissionError("read-only"))
        with pytest.raises(BackendError, match=r"Device 0 failed or was lost.*illegal address"):
            raising(cupy, claimed, CudaError(700, "illegal address"))


def raising(cupy: Cupy, claimed: device.CudaDevice, error: Exception) -> None:
    def empty(*_: Any, **__: Any) -> None:
        raise error

    cupy.empty = empty  # type: ignore[method-assign]
    claimed.empty((3,))


def test_a_process_keeps_its_device_while_anyone_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = Cupy(count=2)
    put(monkeypatch, cupy)
    with device.claimed() as first:
        with device.claimed() as second:
            assert second is first
        assert cupy.freed == 0
    assert cupy.freed == 1


OTHER = """
import fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="locks of files are those of POSIX")
def test_two_processes_take_two_devices(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One waits where there is but one; or shares it, if told to."""
    lock = tmp_path / f"usaav-{os.getuid()}-device-0000-00-00.0.lock"
    command = [sys.executable, "-c", OTHER, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        put(monkeypatch, Cupy(count=2))
        with device.claimed() as claimed:
            assert claimed.name == "Device 1"
        put(monkeypatch, Cupy(count=1))
        monkeypatch.setenv(device.SHARE, "1")
        with device.claimed() as claimed:
            assert claimed.name == "Device 0"
        monkeypatch.delenv(device.SHARE)
        # while this process sleeps, the other one ends
        monkeypatch.setattr("time.sleep", lambda _: other.communicate())
        with caplog.at_level(logging.WARNING, "usaav"), device.claimed() as claimed:
            assert claimed.name == "Device 0"
    (message,) = caplog.messages
    assert message.startswith(
        "backend cupy waits: each of 1 devices is in use by another process of this user"
    )
    assert "USAAV_SHARE_DEVICE=1" in message


BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "cupy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
import usaav
kernel = usaav.kernel({"type": "usa", "beta": 1.0})
tokens = usaav.initial_tokens({"law": "uniform"}, n_tokens=3, dim=3)
for backend in ("numpy", "numba", "auto", "cupy"):
    try:
        print(usaav.simulate(kernel, tokens, times=[0.0, 1.0], backend=backend).attrs["backend"])
    except usaav.errors.UsaavError as error:
        print(type(error).__name__, error)
"""


def test_all_else_works_without_cupy() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True)
    *others, last = done.stdout.strip().splitlines()
    assert others == ["numpy", "numba", "numba"]
    assert last.startswith("BackendError backend = cupy: cupy can't be imported (No module named 'cupy')")
    assert not done.stderr


REAL = """
import sys
sys.path.append(sys.argv[1])
import cupy
from usaav.gpu import device
print(device.why_not())
"""


def test_the_real_cupy_without_a_device(repo: Path) -> None:
    """It imports, and fails at its first use: what the reasons above are made for."""
    folder = next((repo / ".cuda").glob("lib/python*/site-packages/cupy"), None)
    if folder is None or f"python{sys.version_info.major}.{sys.version_info.minor}" not in folder.parts:
        pytest.skip("no cupy for this Python in .cuda (make cuda)")
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-W", "ignore", "-c", REAL, str(folder.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=hidden)
    assert done.stdout.startswith(("there is no NVIDIA driver on this machine", "no device is visible"))
