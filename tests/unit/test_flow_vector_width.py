"""Asking for full vectors: only before numba, and never against the user's word."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from usaav.flow.vector_width import prefer_full_width

SHOW = "import os, {first}; print(os.environ.get('NUMBA_CPU_FEATURES'), os.environ.get('NUMBA_CPU_NAME'))"
SET = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")


def shown(code: str, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if key not in SET}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**clean, **environment}
    )
    return done.stdout.strip()


def test_where_the_processor_has_it() -> None:
    import llvmlite.binding as llvm

    printed = shown(SHOW.format(first="usaav.flow.vector_width"))
    wide = llvm.get_host_cpu_features().get("avx512f", False)
    assert printed.endswith(llvm.get_host_cpu_name()) if wide else printed == "None None"
    assert ("-prefer-256-bit" in printed) == wide


def test_the_user_decides() -> None:
    code = SHOW.format(first="usaav.flow.vector_width")
    assert shown(code, NUMBA_CPU_NAME="generic") == "None generic"
    assert shown(code, NUMBA_CPU_FEATURES="+avx2") == "+avx2 None"


def test_too_late_once_numba_is_there() -> None:
    assert shown(SHOW.format(first="numba, usaav.flow.vector_width")) == "None None"


def test_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a processor that has, or lacks, the instructions."""
    import llvmlite.binding as llvm

    for name in SET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)

    class Features(dict[str, bool]):
        def flatten(self) -> str:
            return ",".join(f"{'+' if there else '-'}{name}" for name, there in self.items())

    monkeypatch.setattr(llvm, "get_host_cpu_name", lambda: "somecpu")
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: Features(avx512f=False))
    prefer_full_width()
    assert "NUMBA_CPU_NAME" not in os.environ
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: Features(avx512f=True, avx2=True))
    prefer_full_width()
    assert os.environ["NUMBA_CPU_NAME"] == "somecpu"
    assert os.environ["NUMBA_CPU_FEATURES"] == "+avx512f,+avx2,-prefer-256-bit"
    for name in SET:  # set behind monkeypatch's back
        del os.environ[name]
