"""Mean-field transformers with auxiliary variables: simulation, metrics, theory.

The public names are listed in ``__all__`` and loaded on first use, so that ``import usaav`` is immediate and
a job of the workflow pays only for what it needs::

    import usaav

    kernel = usaav.kernel({"type": "rope", "beta": 1.0, "planes": [[0, 1]], "frequencies": [1.0]})
    tokens = usaav.initial_tokens({"law": "uniform"}, n_tokens=64, dim=3, seed=0)
    labels = usaav.labels({"law": "grid"}, n_tokens=64, seed=0)
    ds = usaav.simulate(kernel, tokens, labels, times=[0.0, 1.0, 20.0])
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from usaav import errors, metrics, theory
    from usaav.flow import simulate
    from usaav.kernels.kernel import Kernel, kernel
    from usaav.laws import initial_tokens, labels

    __version__: str

__all__ = [
    "Kernel",
    "__version__",
    "errors",
    "initial_tokens",
    "kernel",
    "labels",
    "metrics",
    "simulate",
    "theory",
]

# HDF5 locks what it opens, and fails on file systems without locks (NFS, Lustre). Nothing here needs locks: a
# file is written by one process, under another name, and only read once it has its own. HDF5 looks when it is
# loaded, hence here, before anything can load it; who has set the variable decides.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

# Public name -> the module that defines it.
_HOMES = {
    "Kernel": "usaav.kernels",
    "initial_tokens": "usaav.laws",
    "kernel": "usaav.kernels",
    "labels": "usaav.laws",
    "simulate": "usaav.flow",
}
_MODULES = frozenset({"errors", "metrics", "theory"})


def __getattr__(name: str) -> Any:
    """Load a public name on first use and keep it, so that the next use is a plain attribute."""
    value: Any
    if name == "__version__":
        from importlib.metadata import version

        value = version("usaav")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"usaav.{name}")
    else:
        raise AttributeError(f"module 'usaav' has no attribute {name!r}; it has {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
