"""What numba must be told before it is imported: how wide vectors are, and where compiled code is kept.

LLVM prefers 256-bit vectors on several processors with AVX-512; the exponential-bound loops of
``compiled.py`` gain from the full width.

numba keeps compiled code beside the source or, where that can't be written, in the user's cache folder. With
neither (a read-only clone and an unwritable home, as on some clusters) it refuses to compile at all; a folder
for temporary files then takes its place.

Both are read once, when numba is imported, so this module must be imported before numba; where numba came
first, or the user has set the variables, nothing is touched.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path


def prefer_full_width() -> None:
    """Set numba's processor variables, unless it is too late or the user has set them."""
    if "numba" in sys.modules or "NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ:
        return
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        os.environ["NUMBA_CPU_NAME"] = llvm.get_host_cpu_name()
        os.environ["NUMBA_CPU_FEATURES"] = features.flatten() + ",-prefer-256-bit"


def find_cache() -> None:
    """Set numba's cache folder where its own choices can't be written, unless it is too late or it is set."""
    if "numba" in sys.modules or "NUMBA_CACHE_DIR" in os.environ:
        return
    if not (_writable(Path(__file__).parent / "__pycache__") or _writable(_user_cache())):
        os.environ["NUMBA_CACHE_DIR"] = str(_temporary_cache())


def _user_cache() -> Path:
    """The user's cache folder, where numba looks for it."""
    if sys.platform == "darwin":
        base = "~/Library/Caches"
    elif sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "numba"  # noqa: PTH111  Path.expanduser fails without a home


def _writable(folder: Path) -> bool:
    # only writing tells: permissions say nothing about read-only file systems, or about root
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _temporary_cache() -> Path:
    """A folder that all jobs of this user on this machine share, or one for this process.

    Compiled code is run, so a folder that another user can write is not taken.
    """
    if hasattr(os, "getuid"):
        shared = Path(tempfile.gettempdir()) / f"usaav-numba-{os.getuid()}"
        with suppress(OSError):
            shared.mkdir(mode=0o700, exist_ok=True)
            status = shared.lstat()
            if status.st_uid == os.getuid() and status.st_mode & 0o170077 == 0o040000:
                return shared
    return Path(tempfile.mkdtemp(prefix="usaav-numba-"))


prefer_full_width()
find_cache()
