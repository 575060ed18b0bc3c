"""Claims: statements of the paper, checked on the simulations; the table of all verdicts.

One module per statement, with a function ``check(cases, tolerance, **options)`` that returns
:class:`usaav.claims.verdict.Verdict` rows; :mod:`usaav.claims.names` lists them with their options.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from usaav.claims.verdict import Verdict
    from usaav.claims.writing import collect_verdicts, require_all, write_verdict

__all__ = ["Verdict", "collect_verdicts", "require_all", "write_verdict"]

# Reading a configuration imports usaav.claims.names, and with it this package, whenever the workflow starts;
# so what needs pandas or xarray is loaded on first use.
_HOMES = {
    "Verdict": "usaav.claims.verdict",
    "collect_verdicts": "usaav.claims.writing",
    "require_all": "usaav.claims.writing",
    "write_verdict": "usaav.claims.writing",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"usaav.claims has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)
