"""Many runs at once are the same as one by one, whatever the threads; snapshots are a selection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from physics import examples
from usaav import simulate
from usaav.kernels import kernel

TIMES = [0.0, 0.01, 0.1, 1.0, 30.0]
RUNS = 3


def batch(
    name: str, backend: Any, **options: Any
) -> tuple[xr.Dataset, np.ndarray, np.ndarray | None, dict[str, Any]]:
    spec = {**examples.kernels(3)[name]}
    if name in ("usa", "rope", "prefix"):
        spec["beta"] = 9.0  # with merges
    starts = np.stack([examples.tokens(10, 3, seed) for seed in range(RUNS)])
    labels = examples.labels_for(spec, 10, 0)
    rows = None if labels is None else np.stack([np.roll(labels, run) for run in range(RUNS)])
    run = simulate(kernel(spec), starts, rows, TIMES, backend=backend, **options)
    return run, starts, rows, spec


def bits(dataset: xr.Dataset) -> xr.Dataset:
    """All but what differs between any two calls."""
    return dataset.drop_attrs().drop_vars("seed")


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("name", ["usa", "prefix", "gaussian_circle", "toeplitz_linear"])
def test_a_batch_is_its_single_runs(name: str, backend: Any) -> None:
    together, starts, labels, spec = batch(name, backend)
    for run in range(RUNS):
        alone = simulate(
            kernel(spec), starts[run], None if labels is None else labels[run], TIMES, backend=backend
        )
        part = together.isel(run=[run])
        if "merge_time" in part:
            part = part.isel(merge=slice(0, alone.sizes.get("merge", 0)))
            assert np.all(together["merge_first"].values[run, part.sizes["merge"] :] == -1)
        xr.testing.assert_identical(bits(part), bits(alone))


@pytest.mark.parametrize("backend", examples.BACKENDS)
@pytest.mark.parametrize("name", ["usa", "prefix", "gaussian_circle"])
def test_threads_change_nothing(name: str, backend: Any) -> None:
    one, *_ = batch(name, backend, threads=1)
    for threads in (2, 16) if backend == "numba" else (2,):
        more, *_ = batch(name, backend, threads=threads)
        xr.testing.assert_identical(bits(one), bits(more))


@pytest.mark.parametrize("method", ["adaptive", "layers"])
@pytest.mark.parametrize("chosen", [[0], [4], [1, 3], [0, 1, 2, 3, 4]])
def test_snapshots_are_a_selection(method: str, chosen: list[int]) -> None:
    options: dict[str, Any] = {"method": method, "step": 0.01 if method == "layers" else None}
    full, *_ = batch("gaussian_circle", "numba", **options)
    some, *_ = batch("gaussian_circle", "numba", snapshots=chosen, **options)
    assert np.array_equal(some["tokens"].values, full["tokens"].values[:, chosen])
    assert some["tokens"].dims == ("run", "snapshot", "token", "component")
    assert some["snapshot_time"].values.tolist() == [TIMES[index] for index in chosen]
    xr.testing.assert_identical(
        bits(some).drop_vars(["tokens", "snapshot_time"]), bits(full).drop_vars("tokens")
    )


def test_stored_tokens_are_a_selection() -> None:
    full, *_ = batch("prefix", "numba")
    some, *_ = batch("prefix", "numba", stored_tokens=4)
    kept = some["token"].values
    assert kept.tolist() == [0, 3, 6, 9]
    assert np.array_equal(some["tokens"].values, full["tokens"].values[:, :, kept])
    assert np.array_equal(some["label"].values, full["label"].values[:, kept])
    for name in ("energy", "dirac_distance", "mean_token", "merge_time"):
        assert np.array_equal(some[name].values, full[name].values, equal_nan=True)


def test_progress_tells_each_output_time() -> None:
    told: list[tuple[int, float]] = []
    batch("usa", "numba", progress=lambda run, fraction: told.append((run, fraction)))
    assert told == [(run, (index + 1) / 5) for run in range(RUNS) for index in range(5)]


def test_repeated_calls_give_equal_bits() -> None:
    xr.testing.assert_identical(bits(batch("rope", "numba")[0]), bits(batch("rope", "numba")[0]))
