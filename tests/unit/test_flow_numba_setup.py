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


@pytest.mark.parametrize("writable", ["__pycache__", "numba"])
def test_the_cache_lies_beside_the_source_or_in_the_home(
    places, monkeypatch: pytest.MonkeyPatch, writable: str
) -> None:
    from usaav.flow import numba_setup

    monkeypatch.setattr(numba_setup, "_writable", lambda folder: folder.name == writable)
    find_cache()
    assert Path(os.environ["NUMBA_CACHE_DIR"]).parent.name == writable


def test_changed_sources_have_a_cache_of_their_own(
    places, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Numba alone would go on with compiled code whose constants come from a file that has changed."""
    from usaav.flow import numba_setup

    for name in numba_setup._COMPILED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(numba_setup, "__file__", str(tmp_path / "flow" / "numba_setup.py"))
    stamps = {numba_setup._stamp()}
    for name in numba_setup._COMPILED:
        (tmp_path / name).write_text("2")
        stamps.add(numba_setup._stamp())
    assert len(stamps) == 1 + len(numba_setup._COMPILED)


def test_with_neither_the_cache_is_temporary_and_shared_by_the_jobs_of_a_user(places) -> None:
    find_cache()
    first = os.environ.pop("NUMBA_CACHE_DIR")
    find_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == first
    assert Path(first).parent.parent == places
    assert Path(first).parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_is_not_trusted(places) -> None:
    find_cache()
    first = Path(os.environ.pop("NUMBA_CACHE_DIR")).parent
    first.chmod(0o777)
    find_cache()
    assert Path(os.environ["NUMBA_CACHE_DIR"]).parent != first


def test_the_user_decides_about_the_cache(places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/elsewhere")
    find_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == "/elsewhere"


def test_what_can_be_written(tmp_path) -> None:
    assert _writable(tmp_path / "new" / "folder")
    (tmp_path / "file").touch()
    assert not _writable(tmp_path / "file" / "folder")
