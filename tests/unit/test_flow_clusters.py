"""Clusters: what a merge does to tokens, masses and members, and what it records."""

from __future__ import annotations

import math

import numpy as np
import pytest

from physics import examples
from usaav.flow.cells import group_close
from usaav.flow.clock import Clock
from usaav.flow.clusters import Clusters, angle_between

ANGLE = 1e-3


def close_pair(gap: float) -> np.ndarray:
    return np.array([[1.0, 0.0], [math.cos(gap), math.sin(gap)], [0.0, 1.0], [-1.0, 0.0]])


def test_a_merge() -> None:
    clusters = Clusters(close_pair(1e-10), ANGLE)
    clock = Clock(5.0)
    closing = np.array([[0.0, 1e-10], [0.0, -1e-10], [0.0, 0.0], [0.0, 0.0]])
    keep = clusters.merge(np.array([[0, 1]]), closing, clock, 3.0)
    assert keep.tolist() == [0, 2, 3]
    assert len(clusters) == 3
    assert clusters.masses == pytest.approx([0.5, 0.25, 0.25])
    assert clusters.names.tolist() == [0, 2, 3]
    assert clusters.members.tolist() == [0, 0, 1, 2]
    assert clusters.tokens[0] == pytest.approx([1.0, 0.5e-10], abs=1e-16)
    (merge,) = clusters.merges
    assert (merge.first, merge.second, merge.mass_first, merge.mass_second) == (0, 1, 0.25, 0.25)
    # contracting at the rate 2 * 3 per tau from the angle to 1e-10
    assert merge.time == pytest.approx(5.0 - math.log(ANGLE / 1e-10) / 6.0, rel=1e-6)
    assert merge.duration == merge.time
    assert merge.angle_before == pytest.approx(1e-10)


def test_the_union_is_the_weighted_mean() -> None:
    clusters = Clusters(close_pair(1e-10), ANGLE)
    clusters.masses = np.array([0.1, 0.3, 0.3, 0.3])
    clusters.merge(np.array([[0, 1]]), np.zeros((4, 2)), Clock(), 1.0)
    assert clusters.tokens[0, 1] == pytest.approx(0.75e-10, rel=1e-6)
    assert clusters.masses[0] == pytest.approx(0.4)


def test_a_chain_merges_at_one_look() -> None:
    """Three tokens that meet two by two become one; the nearest pair first, whatever the order given."""
    gaps = np.array([0.0, 1e-10, 3e-10, 1.0])
    tokens = np.stack([np.cos(gaps), np.sin(gaps)], axis=1)
    clusters = Clusters(tokens, ANGLE)
    keep = clusters.merge(np.array([[1, 2], [0, 2], [0, 1]]), np.zeros((4, 2)), Clock(2.0), 1.0)
    assert keep.tolist() == [0, 3]
    assert [(merge.first, merge.second) for merge in clusters.merges] == [(0, 1), (0, 2)]
    assert clusters.merges[1].mass_first == pytest.approx(0.5)
    # the union of the first two is as old as this look
    assert clusters.merges[1].duration == 0.0
    assert clusters.merges[1].angle_before == pytest.approx(2.5e-10, rel=1e-5)
    assert clusters.members.tolist() == [0, 0, 0, 1]


def test_merges_reach_only_so_far() -> None:
    """A light row is moved by the whole gap, the ends of a chain by more than any one gap."""
    gaps = np.array([0.0, 1e-10, 3e-10, 1.0])
    tokens = np.stack([np.cos(gaps), np.sin(gaps)], axis=1)
    pairs, still = np.array([[0, 1], [1, 2], [0, 2]]), np.zeros((4, 2))
    # the first two move by 0.5e-10 each; then the third by 1.67e-10, and they by 0.83e-10 more
    for reach, left in ((0.4e-10, [0, 1, 2, 3]), (1.6e-10, [0, 2, 3]), (1.7e-10, [0, 3])):
        clusters = Clusters(tokens, ANGLE)
        assert clusters.merge(pairs, still, Clock(2.0), 1.0, reach).tolist() == left
        assert len(clusters.merges) == 4 - len(left)
    clusters = Clusters(close_pair(1e-10), ANGLE)
    clusters.masses = np.array([0.9, 1e-3, 0.05, 0.049])
    clusters.merge(np.array([[0, 1]]), still, Clock(2.0), 1.0, 0.9e-10)
    assert len(clusters) == 4


def test_two_separate_pairs_at_one_look() -> None:
    gaps = np.array([0.0, 1.0, 1e-10, 1.0 + 1e-10])
    clusters = Clusters(np.stack([np.cos(gaps), np.sin(gaps)], axis=1), ANGLE)
    clusters.merge(np.array([[0, 2], [1, 3]]), np.zeros((4, 2)), Clock(), 1.0)
    assert clusters.members.tolist() == [0, 1, 0, 1]
    assert clusters.masses.tolist() == [0.5, 0.5]


def test_durations_count_from_the_younger_cluster() -> None:
    clusters = Clusters(close_pair(1e-10), ANGLE)
    clusters.merge(np.array([[0, 1]]), np.zeros((4, 2)), Clock(5.0), 1.0)
    clusters.tokens = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    clusters.merge(np.array([[1, 2]]), np.zeros((3, 2)), Clock(7.0), 1.0)
    assert clusters.merges[1].duration == 7.0  # tokens 2 and 3 were there from the start
    assert clusters.merges[1].angle_before == pytest.approx(0.5 * math.pi)
    clusters.tokens = np.array([[1.0, 0.0], [1.0, 0.0]])
    clusters.merge(np.array([[0, 1]]), np.zeros((2, 2)), Clock(11.0), 1.0)
    assert clusters.merges[2].duration == 4.0
    assert clusters.merges[2].angle_before == pytest.approx(0.5 * math.pi)
    assert len(clusters) == 1


def test_crossings_are_noted_once_and_forgotten_when_a_pair_parts() -> None:
    clusters = Clusters(close_pair(5e-4), ANGLE)
    asked = []

    def locate(i: int, j: int) -> Clock | None:
        asked.append((i, j))
        return Clock(1.5)

    near = np.array([[0, 1]]), np.array([2.5e-7]), np.array([1.0])
    nothing = np.empty((0, 2), dtype=np.int64), np.empty(0), np.empty(0)
    clusters.note_crossings(*near, Clock(2.0), locate)
    clusters.note_crossings(*near, Clock(3.0), locate)
    assert asked == [(0, 1)]
    clusters.note_crossings(*nothing, Clock(4.0), locate)
    clusters.note_crossings(*near, Clock(5.0), locate)
    assert asked == [(0, 1), (0, 1)]
    clusters.merge(np.array([[0, 1]]), np.zeros((4, 2)), Clock(9.0), 1.0)
    assert clusters.merges[0].time == 1.5


def test_a_crossing_before_the_last_step_is_reckoned_back() -> None:
    clusters = Clusters(close_pair(1e-4), ANGLE)
    near = np.array([[0, 1]]), np.array([1e-8]), np.array([2.0])
    clusters.note_crossings(*near, Clock(3.0), lambda *_: None)
    clusters.merge(np.array([[0, 1]]), np.zeros((4, 2)), Clock(9.0), 1.0)
    assert clusters.merges[0].time == pytest.approx(3.0 - math.log(10.0) / 2.0, rel=1e-6)
    # nothing is reckoned back to before the start
    early = Clusters(close_pair(1e-4), ANGLE)
    early.note_crossings(*near, Clock(0.1), lambda *_: None)
    early.merge(np.array([[0, 1]]), np.zeros((4, 2)), Clock(9.0), 1.0)
    assert early.merges[0].time == 0.0


def test_a_union_is_near_others_as_soon_as_a_part_was() -> None:
    gaps = np.array([0.0, 1e-10, 4e-4, 1.0])
    clusters = Clusters(np.stack([np.cos(gaps), np.sin(gaps)], axis=1), ANGLE)
    when = {(0, 1): 1.0, (0, 2): 3.0, (1, 2): 2.0}
    pairs = np.array(list(when))
    clusters.note_crossings(pairs, np.full(3, 1e-8), np.ones(3), Clock(4.0), lambda i, j: Clock(when[i, j]))
    clusters.merge(np.array([[0, 1]]), np.zeros((4, 2)), Clock(5.0), 1.0)
    clusters.merge(np.array([[0, 1]]), np.zeros((3, 2)), Clock(6.0), 1.0)
    assert [merge.time for merge in clusters.merges] == [1.0, 2.0]
    assert clusters.merges[1].duration == 0.0  # it was over before the first merge was seen


def test_no_cluster_merges_before_it_was_formed() -> None:
    gaps = np.array([0.0, 1e-10, 4e-4, 1.0])
    clusters = Clusters(np.stack([np.cos(gaps), np.sin(gaps)], axis=1), ANGLE)
    when = {(0, 1): 3.0, (0, 2): 1.0, (1, 2): 2.0}
    pairs = np.array(list(when))
    clusters.note_crossings(pairs, np.full(3, 1e-8), np.ones(3), Clock(4.0), lambda i, j: Clock(when[i, j]))
    clusters.merge(np.array([[0, 1]]), np.zeros((4, 2)), Clock(5.0), 1.0)
    clusters.merge(np.array([[0, 1]]), np.zeros((3, 2)), Clock(6.0), 1.0)
    assert [merge.time for merge in clusters.merges] == [3.0, 3.0]


def test_moments_are_kept_for_few_clusters_only() -> None:
    tokens = examples.tokens(600, 3, 0)
    tokens[1], tokens[3] = tokens[0], tokens[2]
    clusters = Clusters(tokens, ANGLE)
    clusters.merge(np.array([[0, 1]]), np.zeros((600, 3)), Clock(1.0), 1.0)
    clusters.merge(np.array([[0, 1]]), np.zeros((599, 3)), Clock(2.0), 1.0)
    # the first pair was there from the start; the second's first cluster is from an unkept moment
    assert clusters.merges[0].duration == 1.0
    assert math.isnan(clusters.merges[1].duration)
    assert math.isnan(clusters.merges[1].angle_before)
    assert clusters.merges[1].time == 2.0


def test_condense() -> None:
    tokens = examples.tokens(6, 3, 0)
    tokens[4] = tokens[1] + 1e-10 * (tokens[0] - tokens[1])
    tokens[4] /= np.linalg.norm(tokens[4])
    tokens[5] = tokens[1]
    clusters = Clusters(tokens, ANGLE)
    keep = clusters.condense(np.array([0, 1, 2, 3, 1, 1]))
    assert keep.tolist() == [0, 1, 2, 3]
    assert clusters.masses == pytest.approx(np.array([1, 3, 1, 1]) / 6)
    assert clusters.members.tolist() == [0, 1, 2, 3, 1, 1]
    assert clusters.unrecorded == 2
    assert clusters.merges == []
    assert np.abs(clusters.tokens[1] - tokens[[1, 4, 5]].mean(axis=0)).max() < 1e-15
    assert np.abs(np.linalg.norm(clusters.tokens, axis=1) - 1.0).max() < 1e-15


def test_angles_from_chords() -> None:
    assert angle_between(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(
        0.5 * math.pi, rel=1e-15
    )
    assert angle_between(np.array([1.0, 0.0]), np.array([-1.0, 0.0])) == pytest.approx(math.pi, rel=1e-15)
    tiny = np.array([math.cos(1e-9), math.sin(1e-9)])
    assert angle_between(np.array([1.0, 0.0]), tiny) == pytest.approx(1e-9, rel=1e-12)
    assert angle_between(np.array([1.0 + 1e-15, 0.0]), np.array([-1.0 - 1e-15, 0.0])) == math.pi


def test_cells_group_what_is_close_and_not_spreading() -> None:
    tolerance = 1e-6
    centres = examples.tokens(40, 3, 1)
    tokens = np.repeat(centres, 3, axis=0)
    tokens[1::3] += 1e-9 * centres
    masses = np.full(120, 1.0 / 120)
    still = np.zeros((120, 3))
    groups = group_close(tokens, masses, still, tolerance)
    assert groups is not None
    for group in range(groups.max() + 1):
        rows = np.flatnonzero(groups == group)
        assert len(set(rows // 3)) == 1
        assert np.linalg.norm(tokens[rows] - tokens[rows[0]], axis=1).max() <= 0.4 * tolerance
    assert groups.max() + 1 < 60  # most triples share a cell
    # a group whose tokens fly apart stays as it is
    apart = group_close(tokens, masses, tokens - np.repeat(centres, 3, axis=0), tolerance)
    assert apart is None or apart.max() > groups.max()


def test_cells_of_lonely_tokens() -> None:
    assert group_close(examples.tokens(50, 3, 0), np.full(50, 0.02), np.zeros((50, 3)), 1e-9) is None


def test_cells_whose_numbers_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distant cells with one number are told apart by their diameter."""
    from usaav.flow import cells

    monkeypatch.setattr(cells, "_factors", lambda dim: [0] * dim)
    tokens = examples.tokens(30, 3, 0)
    assert group_close(tokens, np.full(30, 1 / 30), np.zeros((30, 3)), 1e-6) is None
