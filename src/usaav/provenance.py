"""What made a file: versions, commit, processor. These become attributes of every dataset."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("usaav", "numpy", "scipy", "numba", "xarray", "netCDF4", "cupy", "cupy-cuda12x", "cupy-cuda13x")


@cache
def provenance() -> dict[str, str]:
    """Attributes that say what software on what machine made a file; the same throughout a process."""
    commit, dirty = _commit()
    return {
        "software_versions": ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name))),
        "python_version": platform.python_version(),
        "commit": commit,
        "commit_dirty": dirty,
        "host_processor": _processor(),
        "host_system": f"{platform.system()} {platform.machine()}",
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _commit() -> tuple[str, str]:
    """Commit of the source tree, and whether tracked files differ from it: ``yes``, ``no`` or ``unknown``."""
    here = Path(__file__).parent
    try:
        # only a checkout of this project counts, not a repository that a site-packages folder happens to lie
        # in
        tracked = _git(here, "ls-files", "--error-unmatch", Path(__file__).name)
        if not tracked:
            return "unknown", "unknown"
        changed = _git(here, "status", "--porcelain", "--untracked-files=no")
        return _git(here, "rev-parse", "HEAD").strip(), "yes" if changed.strip() else "no"
    except (OSError, subprocess.SubprocessError):
        return "unknown", "unknown"


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
