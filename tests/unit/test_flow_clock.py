"""The clock adds without losing what is small."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usaav.flow.clock import Clock

DURATIONS = st.lists(st.floats(1e-200, 1e200), min_size=1, max_size=12)


def exact(clock: Clock) -> Fraction:
    return Fraction(clock._high) + Fraction(clock._low)


@given(DURATIONS)
def test_sums_keep_twice_the_digits(durations: list[float]) -> None:
    clock = Clock()
    for duration in durations:
        clock.advance(duration)
    truth = sum(map(Fraction, durations), Fraction(0))
    assert abs(exact(clock) - truth) <= truth * Fraction(len(durations), 2**104)
    assert clock.time == float(exact(clock))  # the visible time is the rounded sum


@given(st.floats(1e-100, 1e100), st.floats(1e-100, 1e100))
def test_one_addition_is_exact_or_to_twice_the_digits(first: float, second: float) -> None:
    clock = Clock()
    clock.advance(first)
    assert exact(clock) == Fraction(first)
    clock.advance(second)
    assert exact(clock) == Fraction(first) + Fraction(second)  # two doubles hold the sum of two


def test_a_short_time_after_a_long_one() -> None:
    """What one double would lose."""
    clock = Clock()
    clock.advance(8e3)
    before = clock.copy()
    for _ in range(1000):
        clock.advance(1e-18)
    assert clock.time == 8e3
    assert clock.since(before) == pytest.approx(1e-15, rel=1e-9)
    assert before.since(clock) == pytest.approx(-1e-15, rel=1e-9)


def test_copies_are_independent() -> None:
    clock = Clock(1.0)
    other = clock.copy()
    clock.advance(1.0)
    assert (clock.time, other.time) == (2.0, 1.0)


@given(DURATIONS, st.floats(0.0, 1e300))
def test_landing(durations: list[float], target: float) -> None:
    clock = Clock()
    for duration in durations:
        clock.advance(duration)
    clock.set(target)
    assert clock.time == target
    assert clock.until(target) == 0.0


def test_until_sees_the_low_part() -> None:
    clock = Clock(1.0)
    clock.advance(1e-20)
    assert clock.until(1.0) == -1e-20
    assert clock.until(3.0) == 2.0
