"""The errors that usaav raises on purpose.

Every message says what was wrong, where (file, key, case, time), what was expected and what to do about it,
so that nobody has to read a traceback to repair a setting. Catch :class:`UsaavError` to catch them all;
anything else that escapes from the package is a defect of the package.
"""

from __future__ import annotations

__all__ = ["BackendError", "ConfigError", "DataError", "SimulationError", "UsaavError"]


class UsaavError(Exception):
    """Base class of all errors below."""


class ConfigError(UsaavError):
    """Bad settings: an unknown key, a value out of range, settings that contradict one another."""


class DataError(UsaavError):
    """A bad file or array: missing, damaged, of the wrong shape, or with values that cannot be."""


class BackendError(UsaavError):
    """A backend that was asked for by name is missing, has no device, or lost it."""


class SimulationError(UsaavError):
    """A run that cannot go on: a state that is not finite, or a step size that underflows."""
