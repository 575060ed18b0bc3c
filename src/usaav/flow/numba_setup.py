"""What numba must be told before it is imported: how wide vectors are, and where compiled code is kept.

LLVM prefers 256-bit vectors on several processors with AVX-512; the exponential-bound loops of
``compiled.py`` gain from the full width.

Compiled code is kept beside the source or, where that can't be written, in the user's cache folder or (with a
read-only clone and an unwritable home, as on some clusters) among temporary files, under a name that changes
with the sources.

Both are read once, when numba is imported, so this module must be imported before numba; where numba came
first, or the user has set the variables, nothing is touched.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

#: the modules of the package with compiled functions, and what they take constants from
_COMPILED = ("flow/compiled.py", "flow/dormand_prince.py", "flow/spectral.py", "metrics/linked.py")


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
    """Set numba's cache folder, unless it is too late or the user has set it.

    It lies beside the source, else in the user's cache folder, else among temporary files, whichever can be
    written; its name changes with the compiled sources, see :func:`_stamp`.
    """
    if "numba" in sys.modules or "NUMBA_CACHE_DIR" in os.environ:
        return
    beside, user = Path(__file__).parent / "__pycache__", _user_cache()
    base = beside if _writable(beside) else user if _writable(user) else _temporary_cache()
    os.environ["NUMBA_CACHE_DIR"] = str(base / f"compiled-{_stamp()}")


def _stamp() -> str:
    """Digest of all sources that go into compiled code.

    numba looks only at the file in which a function stands, not at the constants and functions that it takes
    from another one, and would go on running what is out of date.
    """
    total = hashlib.sha256()
    for name in _COMPILED:
        total.update((Path(__file__).parents[1] / name).read_bytes())
    return total.hexdigest()[:12]


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
