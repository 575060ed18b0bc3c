"""The control of the steps: what stops a run, and what it is told by the right-hand side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from physics import examples, literal
from usaav.errors import SimulationError
from usaav.flow import adaptive, layers
from usaav.flow.clusters import Clusters
from usaav.flow.systems import ArraySystem

START = examples.tokens(4, 3, 0)


class Faulty(ArraySystem):
    """A right-hand side that goes wrong as told."""

    def __init__(self, *, error: float | None = None, speed: float = 1.0, after: int = 0) -> None:
        base = examples.system(examples.usa(2.0), None, "numpy")
        assert isinstance(base, ArraySystem)
        super().__init__(base.interaction)
        self.error, self.factor, self.after = error, speed, after

    def velocity(self, tokens: np.ndarray, masses: np.ndarray) -> np.ndarray:
        return self.factor * super().velocity(tokens, masses)

    def step(self, *arguments: Any) -> tuple[np.ndarray, np.ndarray, float]:
        new, velocity, error = super().step(*arguments)
        self.after -= 1
        return new, velocity, error if self.error is None or self.after >= 0 else self.error


def integrate(system: Any, **options: Any) -> tuple[Clusters, int]:
    times = np.array([0.0, 1.0])
    return adaptive.integrate(system, START, times, adaptive.Options(**options), lambda *_: None)


def test_a_state_that_is_not_finite() -> None:
    for bad in (math.nan, math.inf):
        with pytest.raises(
            SimulationError, match=r"non-finite state at tau = [\d.e-]+, beta = 2, 4 clusters"
        ):
            integrate(Faulty(error=bad, after=2))


def test_velocities_that_are_not_finite() -> None:
    """As they come from a weight that is infinite, or from NaN anywhere: never accepted, on any engine."""
    with pytest.raises(SimulationError, match="non-finite state at tau = 0, beta = 2"):
        integrate(Faulty(speed=math.nan))


def test_step_underflow() -> None:
    """An error that no step size brings down."""
    with pytest.raises(SimulationError, match=r"step underflow at tau = 0, .*rtol = 1e-09.*larger rtol"):
        integrate(Faulty(error=1.0))


def test_too_many_steps() -> None:
    with pytest.raises(SimulationError, match=r"more than 3 steps at tau = .*raise rtol or shorten the run"):
        integrate(Faulty(), max_steps=3)


def test_a_run_that_is_never_observed_too_often() -> None:
    seen: list[int] = []
    system = examples.system(examples.usa(2.0), None)
    times = np.array([0.0, 0.5, 0.6, 100.0])
    clusters, steps = adaptive.integrate(
        system, START, times, adaptive.Options(), lambda index, _: seen.append(index)
    )
    assert seen == [0, 1, 2, 3]
    assert steps > 0
    assert len(clusters) == 1


def test_the_start_is_left_as_it_was() -> None:
    start = START.copy()
    adaptive.integrate(
        examples.system(examples.usa(9.0), None),
        start,
        np.array([1e300]),
        adaptive.Options(),
        lambda *_: None,
    )
    assert np.array_equal(start, START)


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("beta", [1.0, 100.0, 700.0])
def test_the_first_look_leaves_finite_step_sizes(beta: float, backend: str) -> None:
    """Also when the rate has to be shifted by more than a double holds."""
    run = adaptive._Run(
        examples.system(examples.usa(beta), None, backend),
        Clusters(examples.pair(3.0), 1e-3),
        adaptive.Options(),
    )
    assert 0.0 < run.size < math.inf
    assert run.cap == math.inf
    assert run.speed == pytest.approx(0.5 * math.sin(3.0), rel=1.0)


def test_rates_are_rescaled_while_pairs_are_watched() -> None:
    """With a reported angle of one radian a pair is near while its rate still grows by e^300."""
    options = adaptive.Options(merge_angle=1.0)
    system = examples.system(examples.usa(700.0), None)
    clusters, _ = adaptive.integrate(system, examples.pair(1.5), np.array([1e300]), options, lambda *_: None)
    expected = literal.two_cluster_time(1.5, 1.0, 700.0)
    assert clusters.merges[0].duration == pytest.approx(expected, rel=1e-7)


def test_a_pair_that_came_in_and_is_leaving_again() -> None:
    """Its crossing can't be told from the step it was in; nor where there was no step, or it was inside."""
    run = adaptive._Run(examples.system(examples.usa(1.0), None), Clusters(START, 0.1), adaptive.Options())
    assert run._locate(0, 1) is None
    run.clusters.tokens = examples.pair(0.05)
    run.velocity = 0.1 * np.diff(examples.pair(0.05), axis=0) * np.array([[-1.0], [1.0]])
    outside, inside = examples.pair(0.2), examples.pair(0.08)
    run.last = adaptive._Step(run.clock.copy(), outside, np.zeros((2, 3)), 1.0)
    assert run._locate(0, 1) is None
    run.velocity = -run.velocity
    run.last = adaptive._Step(run.clock.copy(), inside, np.zeros((2, 3)), 1.0)
    assert run._locate(0, 1) is None


def test_rejected_steps_are_few() -> None:
    """Leaving plateaus, where the speed rises like a blow-up, too."""
    rejected = []

    class Counting(ArraySystem):
        def step(self, *arguments: Any) -> tuple[np.ndarray, np.ndarray, float]:
            result = super().step(*arguments)
            rejected.append(result[2] > arguments[-1])
            return result

    base = examples.system(examples.usa(9.0), None, "numpy")
    assert isinstance(base, ArraySystem)
    start = examples.tokens(10, 3, 2)
    clusters, _ = adaptive.integrate(
        Counting(base.interaction), start, np.array([1e300]), adaptive.Options(), lambda *_: None
    )
    assert len(clusters) == 1
    assert np.mean(rejected) < 0.2


def test_layers_that_are_not_finite() -> None:
    with pytest.raises(SimulationError, match=r"non-finite state in layer 1 \(tau = 0\.25\), beta = 2"):
        layers.integrate(Faulty(speed=math.nan), START, np.array([0.0, 1.0]), 0.25, lambda *_: None)
