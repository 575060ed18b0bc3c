"""One case of the configuration, from its settings to its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from usaav import datasets
from usaav.config.cases import Case
from usaav.config.part_models import PrefixFields
from usaav.flow.simulation import Progress, simulate
from usaav.kernels import Kernel, kernel
from usaav.laws.labels import draw as draw_label_law
from usaav.laws.points import draw as draw_point_law
from usaav.seeds import generator

Array = NDArray[np.float64]


def simulate_case(case_json: str, output: Path, threads: int, progress: Progress | None = None) -> None:
    """Simulate all seeds of a case and write ``results/simulations/<experiment>/<case>.nc``.

    Parameters
    ----------
    case_json
        Text of :meth:`usaav.config.cases.Case.to_json`.
    output
        The netCDF file; it appears whole or not at all.
    threads
        Cores that this job may use.
    progress
        See :func:`usaav.simulate`.

    Raises
    ------
    ConfigError, DataError, BackendError, SimulationError
    """
    dataset = run_case(Case.from_json(case_json), threads, progress)
    datasets.save(dataset.assign_attrs(settings=case_json), output)


def run_case(case: Case, threads: int = 1, progress: Progress | None = None) -> xr.Dataset:
    """Simulate all seeds of `case`; see :func:`usaav.simulate` for the Dataset and the errors."""
    settings = case.settings
    model = kernel(settings.kernel)
    labels = draw_labels(case)
    # each of the runs that advance at a time may call linear algebra, which would else take all cores
    with threadpool_limits(max(1, threads // len(case.seeds))):
        dataset = simulate(
            model,
            draw_tokens(case, model, labels),
            labels,
            settings.times,
            method=settings.method,
            step=settings.step,
            field=settings.field,
            rtol=settings.rtol,
            backend=settings.backend,
            precision=settings.precision,
            normalization=settings.normalization,
            merge_angle=settings.merge_angle,
            snapshots=settings.snapshots,
            stored_tokens=settings.stored_tokens,
            mode_degrees=settings.mode_degrees,
            seeds=case.seeds,
            threads=threads,
            progress=progress,
        )
    return dataset.assign_attrs(
        experiment=case.experiment,
        case=case.name,
        title=f"usaav: experiment {case.experiment}, case {case.name}",
    )


def draw_labels(case: Case) -> Array | None:
    """Labels ``(runs, n)`` of the seeds of `case`, None if it has none."""
    settings = case.settings
    if settings.labels is None:
        return None
    gauge = settings.kernel.gauge
    targets = gauge.n_targets if isinstance(gauge, PrefixFields) else None
    rows = [
        draw_label_law(
            settings.labels,
            settings.n_tokens,
            generator("labels", case.experiment, case.label_key, seed),
            targets,
        )
        for seed in case.seeds
    ]
    return np.stack(rows)


def draw_tokens(case: Case, model: Kernel, labels: Array | None) -> Array:
    """Initial tokens ``(runs, n, d)`` of the seeds of `case`.

    The same whatever other seeds and cases there are.
    """
    settings = case.settings
    drawn = np.stack(
        [
            draw_point_law(
                settings.initial,
                settings.n_tokens,
                settings.dim,
                generator("tokens", case.experiment, case.draw_key, seed),
            )
            for seed in case.seeds
        ]
    )
    return model.from_gauge(drawn, labels) if settings.initial.in_gauge else drawn
