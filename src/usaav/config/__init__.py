"""Configuration: typed models, the loader, and the cases they stand for.

Names are loaded on first use: a job that only reads its case does not pay for the loader. Nothing here
imports more than pydantic, PyYAML and numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from usaav.config.cases import Case, CaseSettings
    from usaav.config.kernel_models import KernelSpec, parse_kernel
    from usaav.config.loading import Config, from_mapping, load

__all__ = ["Case", "CaseSettings", "Config", "KernelSpec", "from_mapping", "load", "parse_kernel"]

_HOMES = {
    "Case": "usaav.config.cases",
    "CaseSettings": "usaav.config.cases",
    "Config": "usaav.config.loading",
    "KernelSpec": "usaav.config.kernel_models",
    "from_mapping": "usaav.config.loading",
    "load": "usaav.config.loading",
    "parse_kernel": "usaav.config.kernel_models",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"usaav.config has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)
