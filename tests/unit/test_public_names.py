"""The names that ``import usaav`` gives, and what the import costs."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

import usaav

HEAVY = (
    "cupy",
    "matplotlib",
    "netCDF4",
    "numba",
    "numpy",
    "ot",
    "pandas",
    "pydantic",
    "scipy",
    "snakemake",
    "xarray",
)


def run(code: str) -> str:
    """Run `code` in a fresh interpreter and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_import_loads_nothing_heavy() -> None:
    loaded = run(f"import sys, usaav; print([name for name in {HEAVY!r} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_import_is_fast() -> None:
    code = "import time; t = time.perf_counter(); import usaav; print(time.perf_counter() - t)"
    assert min(float(run(code)) for _ in range(3)) < 0.1


@pytest.mark.parametrize("name", usaav.__all__)
def test_every_public_name_is_there(name: str) -> None:
    first = getattr(usaav, name)
    assert first is not None
    assert getattr(usaav, name) is first


def test_dir_lists_the_public_names() -> None:
    assert dir(usaav) == sorted(usaav.__all__)


def test_version_is_that_of_the_installed_package() -> None:
    assert usaav.__version__ == importlib.metadata.version("usaav")


def test_unknown_name_says_which_there_are() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'simulat'; it has Kernel, .*simulate"):
        _ = usaav.simulat
