"""Ask LLVM for 512-bit vectors where the processor has them.

LLVM prefers 256-bit vectors on several processors with AVX-512; the exponential-bound loops of
``compiled.py`` gain from the full width. The preference is read once, when numba is imported, so this module
must be imported before numba; where numba came first, or the user has set ``NUMBA_CPU_NAME`` or
``NUMBA_CPU_FEATURES``, nothing is touched.
"""

from __future__ import annotations

import os
import sys


def prefer_full_width() -> None:
    """Set numba's processor variables, unless it is too late or the user has set them."""
    if "numba" in sys.modules or "NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ:
        return
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        os.environ["NUMBA_CPU_NAME"] = llvm.get_host_cpu_name()
        os.environ["NUMBA_CPU_FEATURES"] = features.flatten() + ",-prefer-256-bit"


prefer_full_width()
