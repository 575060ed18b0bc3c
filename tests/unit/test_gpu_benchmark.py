"""The benchmark of the device, as far as it can be run without one: its numbers wait for a device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from device.compilers import at_hand
from device.processor import ProcessorDevice
from device.stand_in import Cupy
from usaav.gpu.field import Kind

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu

    return gpu


def test_our_row_and_the_naive_one_are_the_same_field(gpu, processor: ProcessorDevice) -> None:
    tokens = gpu.clouds(40, 2, 3)
    rows = [gpu.ours(processor, tokens, precision) for precision in ("float64", "float32")]
    rows.append({"name": "naive", "seconds": 1.0, "velocity": gpu.naive(np, tokens)[0]})
    rows.append({"name": "absent", "why_not": "not installed"})
    double, single, naive, absent = gpu.compared(rows, 40, 2, {"float64": 2.0, "float32": 1.0})
    assert naive["largest_difference"] < 1e-13
    assert 1e-10 < single["largest_difference"] < 1e-6
    assert double["largest_difference"] == 0.0
    # a second for 3200 pairs, of which each takes 2 ns at least
    assert naive["pairs_per_second"] == pytest.approx(3200.0)
    assert naive["part_of_limit"] == pytest.approx(6.4e-6)
    assert "naive: 3.2e+03 pairs/s, 0 % of the limit" in gpu.line(naive)
    assert gpu.line(absent) == "n=40 x 2 absent: not installed"


def test_from_the_claim_to_the_file(
    gpu, processor: ProcessorDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys
) -> None:
    """With the processor in the place of the device, and limits in the place of measured ones."""
    monkeypatch.setitem(sys.modules, "cupy", Cupy(processor))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("machine.RESULTS", tmp_path)
    monkeypatch.setattr("sys.argv", ["gpu.py"])
    monkeypatch.setattr(gpu, "best_of", lambda work, **_: (work(), 0.5)[1])
    monkeypatch.setattr(gpu, "SIZES", ((40, 3), (70, 1)))
    monkeypatch.setattr(gpu, "CONTENDERS", {"array": lambda tokens: lambda **_: gpu.naive(np, tokens)[0]})
    monkeypatch.setattr(gpu, "limits", lambda _: {"multiply_adds": 0.1, "exponentials": 2.0})
    monkeypatch.setattr(gpu, "trajectories", lambda runs: [{"runs": runs}])
    gpu.main()
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 1 + 2 * 3
    results = json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))["results"]
    assert results["device"] == "Device 0"
    assert results["trajectories"] == [{"runs": 64}]
    assert [row["n"] for row in results["evaluations"]] == [40, 40, 40, 70, 70, 70]
    assert max(row["largest_difference"] for row in results["evaluations"]) < 1e-6
    monkeypatch.syspath_prepend(str(BENCHMARKS.parent / "docs" / "_extensions"))
    import benchmark_tables

    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "gpu.json").rename(tmp_path / "benchmarks" / "results" / "gpu.json")
    assert "| 40 | 3 | usaav float64 | " in benchmark_tables.device(tmp_path)


def test_the_limit_of_a_pair(gpu) -> None:
    assert gpu.multiply_adds(3) == 11
    assert gpu.limit_ns({"multiply_adds": 0.1, "exponentials": 2.0}, 3) == pytest.approx(3.1)


def test_a_contender_that_can_not_compute_says_why(gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(error: Exception):
        def start(_: np.ndarray) -> None:
            raise error

        return start

    for error, reason in (
        (ImportError("no such module"), "not installed (no such module)"),
        (MemoryError("too large\nby far"), "too large"),
    ):
        monkeypatch.setitem(gpu.CONTENDERS, "torch", failing(error))
        assert gpu.contender("torch", gpu.clouds(4, 1, 3)) == {"name": "torch", "why_not": reason}


def test_what_measures_the_limits_compiles(gpu, repo: Path, tmp_path: Path) -> None:
    found = at_hand(repo, tmp_path)
    if not found:
        pytest.skip("neither NVRTC (make cuda) nor nvcc is here")
    for kind in (Kind(3), Kind(3, precision="float32")):
        compiled, said = found[0].compile(kind, 90, gpu.LIMITS.read_text(encoding="utf-8"))
        assert compiled, said


def test_without_a_device_nothing_is_measured() -> None:
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(BENCHMARKS / "gpu.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=hidden)
    assert done.returncode == 1
    assert done.stderr.startswith("nothing measured: ")
    assert not done.stdout


@pytest.mark.gpu
def test_on_a_device_it_is_measured_quickly(cuda) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "gpu.py"), "--quick"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "USAAV_SHARE_DEVICE": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("usaav float64: ") == 2
