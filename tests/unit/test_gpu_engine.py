"""Whole runs of the GPU engine beside the plain one, its batches, and what it does when something fails."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import xarray as xr

from device.processor import ProcessorDevice
from physics import examples
from usaav import metrics, simulate
from usaav.errors import BackendError, ConfigError, SimulationError
from usaav.flow import backends, dormand_prince, simulation
from usaav.flow.systems import ArraySystem, CompiledSystem, Interaction
from usaav.gpu import device as devices
from usaav.gpu import engine, field, observables, system
from usaav.gpu.batch import Batch
from usaav.gpu.engine import Engine
from usaav.gpu.launches import Launches
from usaav.gpu.rows import DeviceRows
from usaav.kernels import Kernel, kernel


@pytest.fixture
def on(device, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The device, claimed by whoever asks for the backend cupy."""

    @contextmanager
    def claimed():
        yield device

    monkeypatch.setattr(devices, "claimed", claimed)
    monkeypatch.setattr(observables, "claimed", claimed)
    monkeypatch.setattr(devices, "require", lambda: None)
    return device


def starts(n: int, dim: int, runs: int = 3) -> np.ndarray:
    return np.stack([examples.tokens(n, dim, seed) for seed in range(runs)])


def both(spec: dict[str, Any], n: int, dim: int, times: list[float], **options: Any) -> list[xr.Dataset]:
    tokens, labels = starts(n, dim), examples.labels_for(spec, n, 1)
    return [
        simulate(kernel(spec), tokens, labels, times, backend=backend, **options)
        for backend in ("cupy", "numpy")
    ]


RUNS = [
    ("usa", 3, {}),
    ("prefix", 2, {}),
    ("rope", 5, {}),
    ("generalized_rope", 3, {}),
    ("gaussian_circle", 3, {}),
    ("alibi_circle", 2, {}),
    ("exponential_line", 3, {}),
    ("toeplitz_linear", 3, {}),
    ("toeplitz_exponential", 2, {}),
    ("prefix_with_bias_linear", 3, {}),
    ("usa", 3, {"normalization": "softmax"}),
    ("rope", 3, {"method": "layers", "step": 0.25}),
]


@pytest.mark.parametrize(("name", "dim", "options"), RUNS)
def test_a_run_is_that_of_the_plain_engine(on, name: str, dim: int, options: dict[str, Any]) -> None:
    """From the same tokens: energies and Dirac distances to 1e-10, the same merges at the same times."""
    ours, plain = both(examples.kernels(dim)[name], 16, dim, [0.0, 0.5, 4.0], **options)
    assert (ours.attrs["backend"], ours.attrs["device"]) == ("cupy", on.name)
    assert ours.attrs["precision"] == plain.attrs["precision"] == "float64"
    assert "device" not in plain.attrs
    assert np.array_equal(ours.tokens[:, 0], plain.tokens[:, 0])
    assert np.abs(ours.energy / plain.energy - 1.0).max() < 1e-10
    assert np.abs(ours.dirac_distance - plain.dirac_distance).max() < 1e-10
    assert np.abs(ours.tokens - plain.tokens).max() < 1e-9
    assert ("merge_time" in ours) == ("merge_time" in plain)
    if "merge_time" in ours:
        assert np.array_equal(ours.merge_first, plain.merge_first)
        assert np.nanmax(np.abs(ours.merge_time / plain.merge_time - 1.0)) < 1e-9


def test_a_plateau_and_its_end(on) -> None:
    """To the last merger, past the hand-over to the processor at a quarter of the tokens."""
    ours, plain = both(examples.usa(9.0), 16, 3, [0.0, 1.0, 1e20])
    assert ours.sizes["merge"] == 15
    assert np.abs(ours.merge_time / plain.merge_time - 1.0).max() < 1e-8
    assert float(ours.dirac_distance[:, -1].max()) < 1e-6


def test_a_run_does_not_depend_on_the_others_of_its_batch(on) -> None:
    tokens, options = starts(16, 3), {"times": [0.0, 2.0], "backend": "cupy"}
    together = simulate(kernel(examples.usa(4.0)), tokens, **options)
    for run in range(3):
        alone = simulate(kernel(examples.usa(4.0)), tokens[run], **options)
        assert np.array_equal(alone.tokens[0], together.tokens[run])
        assert np.array_equal(alone.energy[0], together.energy[run])
        assert int(alone.step_count[0]) == int(together.step_count[run])


def test_float32_is_asked_for_and_recorded(on) -> None:
    ours, plain = (
        simulate(kernel(examples.usa(2.0)), examples.tokens(24, 3, 1), times=[0.0, 1.0], rtol=1e-6, **options)
        for options in ({"backend": "cupy", "precision": "float32"}, {"backend": "numpy"})
    )
    assert ours.attrs["precision"] == "float32"
    assert 0.0 < np.abs(ours.tokens - plain.tokens).max() < 2e-6


def test_tokens_merge_in_float32_too(on, monkeypatch: pytest.MonkeyPatch) -> None:
    """Down to two clusters on the device: the same mergers, and no crawling in the noise of the terms."""
    monkeypatch.setattr(system, "HANDOVER", 2)
    tokens, times = examples.tokens(48, 3, 0), [0.0, 5.0, 20.0]
    double, single = (
        simulate(
            kernel(examples.usa(4.0)), tokens, times=times, rtol=1e-6, backend="cupy", precision=precision
        )
        for precision in ("float64", "float32")
    )
    assert single.sizes["merge"] == double.sizes["merge"] == 47
    assert np.abs(single.dirac_distance - double.dirac_distance).max() < 1e-5
    assert int(single.step_count[0]) < 1.5 * int(double.step_count[0])


def test_float32_where_it_can_not_be() -> None:
    usa, tokens = kernel(examples.usa(2.0)), examples.tokens(4, 3, 1)
    wrong: Any = "float16"
    with pytest.raises(ConfigError, match="precision = 'float16': expected float64 or float32"):
        simulate(usa, tokens, precision=wrong)
    with pytest.raises(ConfigError, match="precision = float32 needs the backend cupy, not auto"):
        simulate(usa, tokens, precision="float32")
    with pytest.raises(ConfigError, match=r"rtol = 1e-09: expected at least 1e-06 with precision float32"):
        simulate(usa, tokens, precision="float32", backend="cupy")


def test_one_small_transfer_a_step(processor: ProcessorDevice) -> None:
    """Besides what is written at output times: the row of the table with error, speed and the pairs seen."""
    made = Engine(processor, law(3), 200, 1, ArraySystem)
    ours = made.system(Interaction(kernel(examples.usa(2.0)), None, False))
    z, masses = examples.tokens(200, 3, 1), np.full(200, 1.0 / 200)
    velocity = ours.velocity(z, masses)
    ours.neighbours(z, masses, velocity, 1e-6, 1e-18)
    processor.downloaded.clear()
    for _ in range(5):
        z, velocity, _ = ours.step(z, masses, velocity, 0.01, 1e-3)
        ours.speed(velocity)
        ours.neighbours(z, masses, velocity, 1e-6, 1e-18)
    assert len(processor.downloaded) == 5
    assert max(processor.downloaded) < 300


def law(dim: int) -> field.Law:
    return field.law_of(kernel(examples.usa(2.0)), dim, softmax=False)


def test_runs_share_launches(processor: ProcessorDevice) -> None:
    """Ten runs of a batch take the launches of one."""
    z, masses = examples.tokens(20, 3, 1), np.full(20, 0.05)

    def launched(runs: int) -> int:
        made = Engine(processor, law(3), 20, runs, ArraySystem)
        assert made.workers == runs
        systems = [made.system(Interaction(kernel(examples.usa(2.0)), None, False)) for _ in range(runs)]
        processor.launched.clear()

        def run(one: system.DeviceSystem) -> None:
            one.step(z, masses, one.velocity(z, masses), 0.01, 1.0)
            one.close()

        threads = [threading.Thread(target=run, args=(one,)) for one in systems]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        return len(processor.launched)

    assert launched(10) == launched(1)


def test_a_device_that_fails_stops_every_run(processor: ProcessorDevice) -> None:
    class Broken(Launches):
        def serve(self, work: Any, runs: Any) -> None:
            raise BackendError("the device was lost")

    batch, said = Batch(Broken(processor, law(3).kind)), []
    batch.join()
    batch.join()

    def ask() -> None:
        with pytest.raises(BackendError, match="was lost"):
            batch.ask("step", np.zeros(1))
        said.append(1)
        batch.leave()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert said == [1, 1]


def test_a_run_that_fails_lets_the_others_go_on(on, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names it, and nothing waits for it for ever."""
    monkeypatch.setattr(simulation, "_unit_rows", np.asarray)  # which would refuse the start
    tokens = starts(8, 3, 2)
    tokens[0, 0] = np.nan
    with np.errstate(all="ignore"), pytest.raises(SimulationError, match=r"run 0 \(seed 7\): non-finite"):
        simulate(kernel(examples.usa(1.0)), tokens, times=[0.5, 1.0], backend="cupy", seeds=[7, 8])


def test_too_little_memory_is_told_before_the_start(processor: ProcessorDevice) -> None:
    small = ProcessorDevice(processor.folder, memory=10_000_000)
    with pytest.raises(
        BackendError,
        match=r"backend = cupy: 1000000 tokens in dimension 3 need 0\.5 GB, the processor has 0\.0 GB free",
    ):
        Engine(small, law(3), 1_000_000, 1, ArraySystem)
    needed = system.bytes_for(law(3), 1000)
    assert Engine(ProcessorDevice(processor.folder, 6 * needed), law(3), 1000, 20, ArraySystem).workers == 4
    assert Engine(processor, law(3), 60_000, 20, ArraySystem).workers == 2


def test_room_is_reckoned_for_all_that_a_run_takes(processor: ProcessorDevice) -> None:
    """What is allocated from start to step stays below what was asked of the device before."""
    for name, dim, n in (("usa", 3, 500), ("toeplitz_exponential", 3, 200), ("usa", 12, 100)):
        model = kernel(examples.kernels(3)[name])
        taken = Counted(processor.folder)
        its_law = field.law_of(model, dim, softmax=False)
        labels = None if name == "usa" else np.arange(float(n))
        made = Engine(taken, its_law, n, 1, ArraySystem)
        ours = made.system(Interaction(model, labels, False))
        z, masses = examples.tokens(n, dim, 1), np.full(n, 1.0 / n)
        ours.step(z, masses, ours.velocity(z, masses), 0.01, 1.0)
        # the table of the method, and the rows of the runs
        assert taken.total <= system.bytes_for(its_law, n) + 4000


class Counted(ProcessorDevice):
    total = 0

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        array = super().empty(shape, dtype)
        self.total += array.nbytes
        return array

    def upload(self, values: Any) -> Any:
        array = super().upload(values)
        self.total += array.nbytes
        return array


def test_who_takes_over_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    usa = Interaction(kernel(examples.usa(1.0)), None, False)
    biased = Interaction(kernel(examples.kernels(3)["gaussian_circle"]), np.arange(4.0), False)
    assert isinstance(backends._on_processor(usa), CompiledSystem)
    assert isinstance(backends._on_processor(biased), CompiledSystem)
    monkeypatch.setattr(backends, "_why_not_compiled", lambda *_: "no numba")
    assert isinstance(backends._on_processor(usa), ArraySystem)


def test_after_the_hand_over_all_is_done_on_the_processor(processor: ProcessorDevice) -> None:
    made = Engine(processor, law(3), 600, 1, ArraySystem)
    ours = made.system(Interaction(kernel(examples.usa(2.0)), None, False))
    plain = ArraySystem(Interaction(kernel(examples.usa(2.0)), None, False))
    assert not ours.review(system.HANDOVER)
    ours.set_shift(0.5)
    assert ours.review(system.HANDOVER - 1)
    assert not ours.review(5)
    plain.set_shift(0.5)
    z, masses = examples.tokens(5, 3, 1), np.full(5, 0.2)
    processor.launched.clear()
    velocity = ours.velocity(z, masses)
    assert np.array_equal(velocity, plain.velocity(z, masses))
    assert np.array_equal(
        ours.step(z, masses, velocity, 0.1, 1.0)[0], plain.step(z, masses, velocity, 0.1, 1.0)[0]
    )
    assert np.array_equal(ours.layer(z, masses, 0.1)[0], plain.layer(z, masses, 0.1)[0])
    assert ours.energy(z, masses) == plain.energy(z, masses)
    assert ours.neighbours(z, masses, velocity, 1.0, 1.0).fastest > 0.0
    assert ours.speed(velocity) == plain.speed(velocity)
    ours.set_shift(0.0)
    ours.keep(np.array([0, 1]))
    ours.close()
    assert not processor.launched


def test_rows_come_to_the_host_once(processor: ProcessorDevice) -> None:
    rows = DeviceRows(processor, processor.upload(np.arange(6.0).reshape(3, 2)), (3, 2))
    assert len(rows) == 3
    assert rows[1].tolist() == [2.0, 3.0]
    assert np.asarray(rows) is np.asarray(rows)
    assert np.array(rows, dtype=np.float32).dtype == np.float32
    assert len(processor.downloaded) == 1
    with pytest.raises(ValueError, match="read-only"):
        rows[1][0] = 5.0


@pytest.mark.parametrize("dim", [2, 3, 5, 12])
@pytest.mark.parametrize("angle", [0.05, 0.2, 0.7, 1.5])
def test_components_of_close_tokens(on, dim: int, angle: float) -> None:
    clouds = starts(80, dim).reshape(3, 1, 80, dim)
    counts = metrics.cluster_count(clouds, angle, backend="cupy")
    assert np.array_equal(counts, metrics.cluster_count(clouds, angle))
    sizes = metrics.cluster_sizes(clouds, angle, backend="cupy")
    assert np.array_equal(sizes, metrics.cluster_sizes(clouds, angle))


def test_a_long_chain_is_one_component(on, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each token close to the next, in shuffled order; and clouds that do not fit at once."""
    monkeypatch.setattr(observables, "_MOST_TOKENS", 300)
    angles = np.random.default_rng(1).permutation(np.linspace(0.0, 6.0, 300))
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    roots = observables.components(np.stack([circle, circle, circle]), 0.0201)
    assert not roots.any()
    assert len(np.unique(observables.components(circle[None], 0.0199))) == 300


@pytest.mark.parametrize(("name", "dim"), examples.ALL)
def test_energies(on, name: str, dim: int) -> None:
    spec, clouds = examples.kernels(dim)[name], starts(40, dim)
    model, labels = kernel(spec), examples.labels_for(spec, 40, 1)
    ours = metrics.energy(clouds, model, labels, backend="cupy")
    assert ours == pytest.approx(metrics.energy(clouds, model, labels), rel=1e-12, abs=1e-15)


def test_metrics_of_what_the_device_does_not_know(on) -> None:
    class Own:
        beta = 0.0

    own: Any = Own()
    with pytest.raises(BackendError, match="no profile Own; use backend numpy"):
        metrics.energy(examples.tokens(4, 3, 1), Kernel(own), backend="cupy")
    wrong: Any = "numba"
    with pytest.raises(ConfigError, match="backend = 'numba': metrics expect numpy or cupy"):
        metrics.cluster_count(examples.tokens(4, 3, 1), backend=wrong)


def test_the_engine_of_a_call_is_given_back(
    monkeypatch: pytest.MonkeyPatch, processor: ProcessorDevice
) -> None:
    given_back = []

    @contextmanager
    def claimed():
        yield processor
        given_back.append(True)

    monkeypatch.setattr(devices, "claimed", claimed)
    with engine.opened(law(3), 10, 2, ArraySystem) as made:
        assert made.workers == 2
    assert given_back


@pytest.mark.gpu
def test_the_step_in_array_code_takes_cupys_arrays(cuda) -> None:
    import cupy

    tokens = examples.tokens(20, 3, 1)
    with cuda.current():
        on_device = cupy.asarray(tokens)
        ours, error = dormand_prince.step(turning, on_device, turning(on_device), 0.3)
        plain, plain_error = dormand_prince.step(turning, tokens, turning(tokens), 0.3)
        assert np.abs(ours.get() - plain).max() < 1e-14
        assert error == pytest.approx(plain_error, rel=1e-3, abs=1e-15)


def turning(tokens: Any) -> Any:
    """A rotation in the first two components."""
    velocity = 0.0 * tokens
    velocity[:, 0], velocity[:, 1] = -tokens[:, 1], tokens[:, 0]
    return velocity
