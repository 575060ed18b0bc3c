"""The clock of a run: tau as an unevaluated sum of two doubles.

A collapse that takes ``exp(-beta)`` may follow a plateau of ``exp(beta)``; in one double the short duration
would be lost.
"""

from __future__ import annotations


class Clock:
    """Time tau >= 0 as ``high + low``."""

    __slots__ = ("_high", "_low")

    def __init__(self, high: float = 0.0, low: float = 0.0) -> None:
        self._high, self._low = high, low

    @property
    def time(self) -> float:
        """Tau as one double."""
        return self._high

    def copy(self) -> Clock:
        """An independent clock that shows the same time."""
        return Clock(self._high, self._low)

    def advance(self, duration: float) -> None:
        """Add `duration` without losing what is small beside the time (two-sum, Knuth)."""
        total = self._high + duration
        shadow = total - self._high
        lost = (self._high - (total - shadow)) + (duration - shadow)
        low = self._low + lost
        self._high = total + low
        self._low = low - (self._high - total)

    def set(self, time: float) -> None:
        """Land exactly on `time`."""
        self._high, self._low = time, 0.0

    def until(self, time: float) -> float:
        """How long until `time`."""
        return (time - self._high) - self._low

    def since(self, earlier: Clock) -> float:
        """How long since `earlier`."""
        return (self._high - earlier._high) + (self._low - earlier._low)
