"""Merging changes no number that is read off a run, and records what happened."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr

from physics import examples
from usaav import simulate
from usaav.flow import adaptive
from usaav.flow.clusters import Clusters
from usaav.kernels import kernel

EXACT = adaptive.Options(rtol=1e-12, merge_tolerance=1e-9)


def trajectory(
    spec: dict[str, Any], z: np.ndarray, times: np.ndarray, options: adaptive.Options, backend: str = "numba"
) -> tuple[np.ndarray, np.ndarray, Clusters]:
    """All tokens ``(time, n, d)`` and energies, without passing through a dataset."""
    system = examples.system(spec, None, backend)
    states, energies = [], []

    def observe(_: int, clusters: Clusters) -> None:
        states.append(clusters.tokens[clusters.members])
        energies.append(system.energy(clusters.tokens, clusters.masses))

    clusters, _ = adaptive.integrate(system, z, times, options, observe)
    return np.array(states), np.array(energies), clusters


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(
    ("beta", "dim", "end"),
    [(4.0, 2, 40.0), (4.0, 3, 40.0), (4.0, 5, 40.0), (9.0, 2, 2.0), (9.0, 3, 2.0)],
)
def test_brute_force(beta: float, dim: int, end: float, backend: str) -> None:
    """The whole trajectory against one without merging, whose steps follow exp(beta) for ever."""
    if backend == "numpy":
        end = min(end, 1000.0 * math.exp(-beta))
    z, times = examples.tokens(6, dim, 2), np.concatenate([[0.0], np.geomspace(1e-3, end, 60)])
    brute, brute_energy, apart = trajectory(
        examples.usa(beta), z, times, replace(EXACT, merge_tolerance=0.0), backend
    )
    merged, energy, clusters = trajectory(examples.usa(beta), z, times, EXACT, backend)
    assert len(apart) == 6
    assert clusters.merges
    assert np.abs(merged - brute).max() < EXACT.merge_tolerance
    assert np.abs(energy / brute_energy - 1.0).max() < EXACT.merge_tolerance


@pytest.mark.parametrize(
    ("beta", "end", "left"),
    [(4.0, 500.0, 1), (9.0, 10.0, 2)],  # beta = 9 needs 2 million steps to its last merge, and minutes
)
@pytest.mark.parametrize("dim", [2, 3])
def test_brute_force_with_many_tokens(beta: float, end: float, left: int, dim: int) -> None:
    """From the first collapse through the plateaus, with 32 tokens; at beta = 4 to one cluster."""
    z, times = examples.tokens(32, dim, 1), np.concatenate([[0.0], np.geomspace(1e-4, end, 100)])
    brute, brute_energy, apart = trajectory(examples.usa(beta), z, times, replace(EXACT, merge_tolerance=0.0))
    merged, energy, clusters = trajectory(examples.usa(beta), z, times, EXACT)
    assert len(apart) == 32
    assert len(clusters) <= left
    assert np.linalg.norm(merged - brute, axis=-1).max() < EXACT.merge_tolerance
    assert np.abs(energy / brute_energy - 1.0).max() < 1e-12


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_outputs_change_by_less_than_the_merge_tolerance(tolerance: float) -> None:
    times = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 200)])
    for seed in range(3):
        z = examples.tokens(12, 3, seed)
        brute, _, _ = trajectory(examples.usa(9.0), z, times, replace(EXACT, merge_tolerance=0.0))
        merged, _, clusters = trajectory(
            examples.usa(9.0), z, times, replace(EXACT, merge_tolerance=tolerance)
        )
        assert len(clusters) < 12
        assert np.linalg.norm(merged - brute, axis=-1).max() < tolerance


@pytest.mark.parametrize(("dim", "seed"), [(2, 1), (2, 2), (3, 2)])
def test_chains_of_merges_change_outputs_by_less_than_the_merge_tolerance(dim: int, seed: int) -> None:
    """Where many tokens meet within few looks, and each merge moves what the others have moved."""
    z, times = examples.tokens(32, dim, seed), np.concatenate([[0.0], np.geomspace(1e-2, 5.0, 300)])
    brute, _, _ = trajectory(examples.usa(4.0), z, times, replace(EXACT, merge_tolerance=0.0))
    for tolerance in (1e-5, 1e-7, 1e-9):
        merged, _, clusters = trajectory(
            examples.usa(4.0), z, times, replace(EXACT, merge_tolerance=tolerance)
        )
        assert len(clusters) < 4
        assert np.linalg.norm(merged - brute, axis=-1).max() < tolerance


@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize("beta", [1.0, 9.0, 49.0])
def test_tighter_tolerances(beta: float, dim: int) -> None:
    """Against itself at tolerances ten times tighter: tokens, energies, and the times of the merges."""
    z = examples.tokens(20, dim, 4)
    times = np.concatenate([[0.0], np.geomspace(math.exp(-beta), 1.0, 30)])
    loose = adaptive.Options(rtol=1e-9, merge_tolerance=1e-9)
    tight = adaptive.Options(rtol=1e-10, merge_tolerance=1e-10)
    states, energies, clusters = trajectory(examples.usa(beta), z, times, loose)
    better, better_energies, better_clusters = trajectory(examples.usa(beta), z, times, tight)
    # local errors of 1e-9 add up over some tens of steps, and spread where the flow repels
    assert np.abs(states - better).max() < 1e-7
    assert np.abs(energies / better_energies - 1.0).max() < 1e-7
    rows = [sorted(run.merges, key=lambda merge: merge.time) for run in (clusters, better_clusters)]
    common = min(map(len, rows))  # the tighter run detects the last of them later
    assert common >= len(rows[0]) - 2
    for one, other in zip(rows[0][:common], rows[1][:common], strict=True):
        assert (one.first, one.second) == (other.first, other.second)
        assert one.time == pytest.approx(other.time, rel=1e-6)


@pytest.mark.parametrize(("beta", "dim"), [(9.0, 3), (25.0, 2), (81.0, 3)])
def test_early_merge_times_are_extrapolated(beta: float, dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more than 32 clusters: against crossings that are located, as they are for the last 32."""

    def merges() -> list[Any]:
        times = np.array([1e300])
        _, _, clusters = trajectory(
            examples.usa(beta), examples.tokens(64, dim, 1), times, adaptive.Options()
        )
        return sorted(clusters.merges, key=lambda merge: merge.time)

    told = merges()
    monkeypatch.setattr(adaptive, "_FEW", 64)
    located = merges()
    late = np.array([one.time - other.time for one, other in zip(told, located, strict=True)])[:31]
    assert np.median(late) > 0.0
    # from the angle to the tolerance a pair contracts by e^14, at rates from a few hundredths of exp(beta)
    assert np.abs(late).max() < 100.0 * math.exp(-beta)
    assert np.median(late / [merge.time for merge in told[:31]]) < 0.2
    assert told[-1].duration == pytest.approx(located[-1].duration, rel=1e-8)


def to_one_cluster(spec: dict[str, Any], x: np.ndarray, **options: Any) -> xr.Dataset:
    return simulate(kernel(spec), x, times=[0.0, 1e300], **options)


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize(("n", "beta", "dim"), [(24, 9.0, 3), (24, 25.0, 2), (80, 4.0, 3)])
def test_merges_are_a_tree(n: int, beta: float, dim: int, backend: Any) -> None:
    """Replayed, they lead from n tokens of mass 1/n to one of mass 1, in the order of time."""
    run = to_one_cluster(examples.usa(beta), examples.tokens(n, dim, 3), backend=backend)
    assert run.sizes["merge"] == n - 1
    mass = dict.fromkeys(range(n), 1.0 / n)
    born = dict.fromkeys(range(n), 0.0)
    last = 0.0
    for event in range(n - 1):
        row = {
            name: run[f"merge_{name}"].values[0, event] for name in ("first", "second", "time", "duration")
        }
        first, second = int(row["first"]), int(row["second"])
        assert first < second
        assert run["merge_mass_first"].values[0, event] == pytest.approx(mass[first], abs=1e-14)
        assert run["merge_mass_second"].values[0, event] == pytest.approx(mass.pop(second), abs=1e-14)
        assert row["time"] >= last
        # both existed from a moment that is not before their own merges
        moment = row["time"] - row["duration"]
        assert moment >= max(born[first], born.pop(second)) - 1e-12 * row["time"]
        mass[first] += run["merge_mass_second"].values[0, event]
        born[first] = last = row["time"]
        assert 0.0 <= run["merge_angle_before"].values[0, event] <= math.pi
    assert mass == {0: pytest.approx(1.0, abs=1e-14)}
    assert float(run["dirac_distance"][0, -1]) < 1e-14
    assert int(run["unrecorded_merges"][0]) == 0


def test_merges_of_unequal_batches_are_padded() -> None:
    starts = np.stack([examples.tokens(6, 3, 0), np.tile(examples.tokens(1, 3, 1), (6, 1))])
    run = simulate(kernel(examples.usa(9.0)), starts, times=[0.0, 1e-2])
    counts = np.sum(run["merge_first"].values >= 0, axis=1)
    assert counts[1] == 5
    assert 0 < counts[0] < 5
    missing = run["merge_first"].values == -1
    assert np.array_equal(missing, run["merge_second"].values == -1)
    for name in ("time", "mass_first", "mass_second", "duration", "angle_before"):
        assert np.array_equal(missing, np.isnan(run[f"merge_{name}"].values))


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("name", ["gaussian_circle", "toeplitz_exponential", "toeplitz_linear"])
def test_only_equal_labels_merge_under_a_weight(name: str, backend: Any) -> None:
    spec = examples.kernels(3)[name]
    labels = np.array([0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 3.0, 0.5])
    run = simulate(kernel(spec), examples.tokens(8, 3, 5), labels, [0.0, 200.0], backend=backend, rtol=1e-8)
    pairs = list(zip(run["merge_first"].values[0], run["merge_second"].values[0], strict=True))
    assert {tuple(map(int, pair)) for pair in pairs} == {(0, 2), (0, 5), (1, 4)}
    state = run["tokens"].values[0, -1]
    assert np.array_equal(state[0], state[2])
    assert np.array_equal(state[1], state[4])
    assert run.attrs["merging"] == "equal labels"


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_a_consensus_of_unlike_labels_is_at_rest(backend: Any) -> None:
    """A positive weight draws all together; once there, nothing holds up the clock."""
    spec, labels = examples.kernels(3)["gaussian_circle"], np.linspace(0.0, 3.0, 6)
    run = simulate(kernel(spec), examples.tokens(6, 3, 5), labels, [0.0, 1.0, 1e300], backend=backend)
    assert "merge_time" not in run
    assert float(run["dirac_distance"][0, -1]) < 1e-14
    weights = kernel(spec).weights(labels, labels)
    assert float(run["energy"][0, -1]) == pytest.approx(weights.mean() * math.exp(1.2) / 2.4, rel=1e-12)


def test_labels_do_not_matter_for_merging_without_a_weight() -> None:
    """Prompts differ, gauge coordinates agree: one cluster in z, as many places in x as prompts."""
    spec = {**examples.kernels(3)["prefix"], "beta": 9.0}
    labels, model = np.arange(8) % 4, kernel(spec)
    run = simulate(model, examples.tokens(8, 3, 5), labels, [0.0, 1e300])
    assert run.sizes["merge"] == 7
    state = run["tokens"].values[0, -1]
    assert len(np.unique(state.round(12), axis=0)) == 4
    gauge = model.to_gauge(state, labels)
    assert np.abs(gauge - gauge[0]).max() < 1e-14


@pytest.mark.parametrize("normalization", ["none", "softmax"])
@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("beta", [1.0, 9.0, 700.0])
def test_exactly_antipodal_tokens_stay(beta: float, backend: Any, normalization: Any) -> None:
    """For ever, along an axis and in a random direction, also as clusters of unequal masses."""
    for dim in (2, 3, 5):
        for pole in (np.eye(dim)[0], examples.tokens(1, dim, 17)[0]):
            start = np.array([pole, -pole, pole])
            run = simulate(
                kernel(examples.usa(beta)),
                start,
                times=[0.0, 1.0, 1e300],
                backend=backend,
                normalization=normalization,
            )
            assert run.sizes["merge"] == 1
            assert np.abs(run["tokens"].values[0] - start).max() < 1e-15
    # seen through a gauge
    rope = kernel({"type": "rope", "beta": beta, "planes": [(0, 1)], "frequencies": [1.0]})
    labels = np.array([0.3, 4.0])
    start = rope.from_gauge(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]), labels)
    run = simulate(rope, start, labels, [0.0, 1e300], backend=backend)
    assert "merge_time" not in run


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("beta", [0.01, 1.0, 700.0])
def test_one_token(beta: float, backend: Any) -> None:
    start = examples.tokens(1, 3, 0)
    run = simulate(kernel(examples.usa(beta)), start, times=[0.0, 1.0, 1e300], backend=backend)
    assert np.abs(run["tokens"].values[0] - start).max() < 1e-15
    assert "merge_time" not in run
    assert int(run["step_count"][0]) == 0
    assert run["energy"].values[0] == pytest.approx(math.exp(beta) / (2.0 * beta), rel=1e-14)
    assert run["dirac_distance"].values[0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("beta", [0.01, 1.0, 81.0, 700.0])
def test_two_tokens_meet_half_way(beta: float, backend: Any) -> None:
    start = examples.pair(1.2)
    run = simulate(kernel(examples.usa(beta)), start, times=[0.0, 1e300], backend=backend)
    middle = start.sum(axis=0) / np.linalg.norm(start.sum(axis=0))
    assert np.abs(run["tokens"].values[0, -1] - middle).max() < 1e-9
    assert float(run["merge_mass_first"][0, 0]) == float(run["merge_mass_second"][0, 0]) == 0.5
    assert float(run["merge_angle_before"][0, 0]) == pytest.approx(1.2, abs=1e-14)
    assert float(run["merge_duration"][0, 0]) == float(run["merge_time"][0, 0])


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("beta", [0.01, 9.0, 700.0])
def test_all_tokens_equal(beta: float, backend: Any) -> None:
    start = np.tile(examples.tokens(1, 4, 2), (5, 1))
    run = simulate(kernel(examples.usa(beta)), start, times=[0.0, 1.0, 1e300], backend=backend)
    assert np.abs(run["tokens"].values[0] - start).max() < 1e-15
    assert run["merge_time"].values.tolist() == [[0.0] * 4]
    assert run["merge_duration"].values.tolist() == [[0.0] * 4]
    assert run["merge_angle_before"].values.tolist() == [[0.0] * 4]
    assert run["merge_second"].values.tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_coincident_start_tokens_are_one_heavy_token(backend: Any) -> None:
    """Three equal tokens and one other move as two clusters of masses 3/4 and 1/4."""
    start = examples.pair(2.0)
    many = np.concatenate([np.repeat(start[:1], 3, axis=0), start[1:]])
    run = simulate(kernel(examples.usa(2.0)), many, times=[0.0, 0.5, 1e300], backend=backend, rtol=1e-11)
    state = run["tokens"].values[0, 1]
    assert np.array_equal(state[0], state[1])
    assert run["merge_time"].values[0, :2].tolist() == [0.0, 0.0]
    assert run["merge_mass_first"].values[0].tolist() == [0.25, 0.5, 0.75]
    # in a cluster of mass p a token moves by 1 - p of the way (the plane is that of the pair)
    moved = [2.0 * math.asin(0.5 * np.linalg.norm(state[row] - many[row])) for row in (0, 3)]
    assert moved[1] / moved[0] == pytest.approx(3.0, rel=1e-9)


@pytest.mark.parametrize("backend", examples.BACKENDS)
def test_pairs_contract_cleanly_far_below_the_error_tolerance(backend: str) -> None:
    """At the exponential rate of the two-cluster law, where steps by the error alone would be unstable."""
    beta, loose = 9.0, adaptive.Options(rtol=1e-4, merge_tolerance=1e-12)
    start = np.array([[1.0, 0.0], [math.cos(1e-2), math.sin(1e-2)], [-1.0, 0.0]])
    rate = math.exp(beta) * 2.0 / 3.0

    def final(folds: float) -> tuple[float, int]:
        states, _, clusters = trajectory(examples.usa(beta), start, np.array([folds / rate]), loose, backend)
        return float(np.linalg.norm(states[0, 1] - states[0, 0])), len(clusters)

    for folds in (5.0, 10.0, 15.0, 20.0):
        gap, left = final(folds)
        assert left == 3
        # below the error tolerance steps reach to the limit of stability, where they are no longer accurate
        assert math.log(gap / 1e-2) == pytest.approx(-folds, abs=1.0)
    assert final(40.0) == (0.0, 2)


def test_a_light_pair_is_torn_apart_not_merged() -> None:
    """Two tokens nearer than the tolerance, one on each side of the watershed of two heavy clusters."""
    beta, gap = 3.0, 2e-10
    light = [[math.cos(angle), math.sin(angle)] for angle in (0.5 * math.pi - gap, 0.5 * math.pi + gap)]
    heavy = [[1.0, 0.0]] * 40 + [[-1.0, 0.0]] * 40
    system = examples.system(examples.usa(beta), None)
    states = []
    adaptive.integrate(
        system,
        np.array(light + heavy),
        np.array([12.0]),
        EXACT,
        lambda _, clusters: states.append(clusters.members),
    )
    assert states[0][0] == states[0][2] != states[0][-1] == states[0][1]
