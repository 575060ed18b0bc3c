"""What jobs ask of a scheduler: follows from the size of their cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from usaav import needs
from usaav.config import from_mapping
from usaav.config.cases import Case
from usaav.flow import spectral, systems
from usaav.kernels import low_rank


def case(kernel: dict[str, Any] | None = None, **settings: Any) -> Case:
    entry = {
        "kernel": kernel or {"type": "usa", "beta": 1},
        "labels": {"law": "grid"},
        "n_tokens": 64,
        "seeds": 20,
        "times": {"start": 0, "stop": 20, "count": 101},
    }
    limits = {"memory_limit": 1e5, "time_limit": 1e9}
    return from_mapping({"experiments": {"one": {**entry, **settings}}, **limits}).cases()[0]


BIAS = {"type": "distance_bias", "beta": 1, "profile": "exponential", "length": 1}


def test_a_small_case_is_a_small_job() -> None:
    small = needs.of_simulation(case())
    assert (small.threads, small.gpu) == (1, 0)
    assert small.mem_mb < 1100
    assert small.runtime < 15


@pytest.mark.parametrize(
    ("what", "larger"),
    [
        ("mem_mb", {"n_tokens": 100_000}),
        ("mem_mb", {"seeds": 2000, "snapshots": "all"}),
        ("runtime", {"seeds": [0], "n_tokens": 16_384, "field": "direct"}),
        ("runtime", {"seeds": [0], "method": "layers", "step": 1e-6}),
        ("threads", {"n_tokens": 16_384}),
    ],
)
def test_larger_cases_need_more(what: str, larger: dict[str, Any]) -> None:
    assert getattr(needs.of_simulation(case(**larger)), what) > getattr(needs.of_simulation(case()), what)


def test_the_spectral_field_needs_less_time_than_the_direct_one() -> None:
    large = {"n_tokens": 100_000, "seeds": [0]}
    spectral = needs.of_simulation(case(**large, field="spectral"))
    direct = needs.of_simulation(case(**large, field="direct"))
    assert spectral.runtime < direct.runtime


def test_a_weight_of_labels_needs_a_matrix() -> None:
    plain = needs.of_simulation(case(n_tokens=4096))
    biased = needs.of_simulation(case(BIAS, n_tokens=4096))
    assert biased.mem_mb - plain.mem_mb > 8e-6 * 4096**2


def test_a_weight_of_few_products_needs_no_matrix() -> None:
    waves = {"type": "toeplitz", "beta": 1, "phi": "exponential", "coefficients": {0: 0.5, 3: 0.5}}
    large = {"n_tokens": 100_000, "seeds": [0]}
    one = needs.of_simulation(case(waves, **large))
    assert one.mem_mb < 8e-6 * 100_000**2
    assert one.mem_mb > needs.of_simulation(case(**large)).mem_mb
    assert needs.work(case(waves, **large)) == pytest.approx(3 * needs.work(case(**large)))
    many = {**waves, "coefficients": dict.fromkeys(range(40), 1.0)}
    assert needs.work(case(many, **large)) == needs.work(case(**large, field="direct"))


def test_a_further_attempt_gets_more() -> None:
    first, second = needs.of_simulation(case(), 1), needs.of_simulation(case(), 2)
    assert second.mem_mb == pytest.approx(2 * first.mem_mb, rel=0.01)
    assert second.runtime > first.runtime
    assert needs.of_reading([case()], 2).mem_mb > needs.of_reading([case()], 1).mem_mb


def test_threads_are_not_more_than_runs_can_use() -> None:
    """One a run on the direct field, one for each chunk of tokens of each run on the spectral one."""
    assert needs.of_simulation(case(n_tokens=16_384, seeds=3, field="direct")).threads == 3
    assert needs.of_simulation(case({"type": "usa", "beta": 100}, n_tokens=60_000, seeds=[0])).threads == 4
    assert needs.of_simulation(case(n_tokens=1_000_000, seeds=[0])).threads > 4
    assert needs.of_simulation(case(n_tokens=1_000_000, seeds=[0], field="direct")).threads == 1


def test_the_chunks_are_those_of_the_field() -> None:
    assert needs.CHUNK == spectral.CHUNK
    assert (needs.LARGEST_MATRIX, needs.LARGEST_RANK) == (systems.LARGEST_MATRIX, low_rank.LARGEST_RANK)


def test_memory_counts_the_stages_of_each_run_at_a_time_and_only_stored_tokens() -> None:
    """Twelve stages and a few more arrays of a million tokens; the file has few of them."""
    million = {"n_tokens": 1_000_000, "snapshots": "all", "stored_tokens": 1000}
    one = needs.of_simulation(case(**million, seeds=[0]))
    arrays = (one.mem_mb - needs.BASE_MB) / (8e-6 * 1_000_000 * 3)
    assert 16 < arrays < 40
    assert needs.stored_mb([case(**million, seeds=[0])]) < 5
    assert needs.of_simulation(case(**million, seeds=2)).mem_mb > one.mem_mb + 12 * 24


def test_a_gpu_only_when_asked_for() -> None:
    one = case()
    on_gpu = replace(one, settings=one.settings.model_copy(update={"backend": "cupy"}))
    assert needs.of_simulation(on_gpu).gpu == 1


def test_a_gpu_takes_less_time_for_many_tokens() -> None:
    many = case(n_tokens=100_000, dim=5)
    on_gpu = replace(many, settings=many.settings.model_copy(update={"backend": "cupy"}))
    assert needs.work(on_gpu) == pytest.approx(needs.work(many) / 50.0)
    assert needs.of_simulation(on_gpu).runtime < needs.of_simulation(many).runtime


def test_a_gpu_makes_no_matrix_of_weights() -> None:
    weighted = case(BIAS, n_tokens=4096)
    on_gpu = replace(weighted, settings=weighted.settings.model_copy(update={"backend": "cupy"}))
    assert needs.held_gb(on_gpu) == pytest.approx(needs.held_gb(weighted) - 8e-9 * 4096**2)


def test_reading_needs_room_for_all_its_cases() -> None:
    large = case(n_tokens=100_000, snapshots="all")
    assert needs.of_reading([large, large]).mem_mb > needs.of_reading([large]).mem_mb > 1000
