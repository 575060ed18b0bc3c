"""What numba is told before it is imported, and never against the user's word."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from usaav.flow.numba_setup import _writable, find_cache, prefer_full_width

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

    printed = shown(SHOW.format(first="usaav.flow.numba_setup"))
    wide = llvm.get_host_cpu_features().get("avx512f", False)
    assert printed.endswith(llvm.get_host_cpu_name()) if wide else printed == "None None"
    assert ("-prefer-256-bit" in printed) == wide


def test_the_user_decides() -> None:
    code = SHOW.format(first="usaav.flow.numba_setup")
    assert shown(code, NUMBA_CPU_NAME="generic") == "None generic"
    assert shown(code, NUMBA_CPU_FEATURES="+avx2") == "+avx2 None"


def test_too_late_once_numba_is_there() -> None:
    assert shown(SHOW.format(first="numba, usaav.flow.numba_setup")) == "None None"


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


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch, tmp_path):
    """Folders for the cache, none of which numba would find by itself; nothing set, numba not imported."""
    from usaav.flow import numba_setup

    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(numba_setup, "_writable", lambda _: False)
    return tmp_path


def test_a_cache_beside_the_source_is_left_to_numba(places, monkeypatch: pytest.MonkeyPatch) -> None:
    from usaav.flow import numba_setup

    monkeypatch.setattr(numba_setup, "_writable", lambda folder: folder.name == "__pycache__")
    find_cache()
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_a_cache_in_the_home_is_left_to_numba(places, monkeypatch: pytest.MonkeyPatch) -> None:
    from usaav.flow import numba_setup

    monkeypatch.setattr(numba_setup, "_writable", lambda folder: folder.name == "numba")
    find_cache()
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_with_neither_the_cache_is_temporary_and_shared_by_the_jobs_of_a_user(places) -> None:
    find_cache()
    first = os.environ.pop("NUMBA_CACHE_DIR")
    find_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == first
    assert Path(first).parent == places
    assert Path(first).stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_is_not_trusted(places) -> None:
    find_cache()
    first = Path(os.environ.pop("NUMBA_CACHE_DIR"))
    first.chmod(0o777)
    find_cache()
    assert Path(os.environ["NUMBA_CACHE_DIR"]) != first


def test_the_user_decides_about_the_cache(places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/elsewhere")
    find_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == "/elsewhere"


def test_what_can_be_written(tmp_path) -> None:
    assert _writable(tmp_path / "new" / "folder")
    (tmp_path / "file").touch()
    assert not _writable(tmp_path / "file" / "folder")
