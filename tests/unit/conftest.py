"""Small runs that tests of figures and films draw from."""

from __future__ import annotations

from pathlib import Path

import pytest

# Small, and by the plain engine, so that nothing has to be compiled first.
_ROPE = {"type": "rope", "beta": 1, "planes": [[0, 1]], "frequencies": [1]}
_PREFIX = {"type": "prefix", "beta": 1, "targets": {"law": "regular", "count": 4}}
_COMMON = {"seeds": 2, "times": {"start": 0, "stop": 20, "count": 6}, "snapshots": 6, "backend": "numpy"}
_SETTINGS = {
    "rtol": 1e-4,
    "experiments": {
        "baseline": {
            **_COMMON,
            "kernel": {"type": "usa", "beta": 1},
            "n_tokens": [8, 12],
            "sweep": {"kernel.beta": [1, 4]},
        },
        "rope": {**_COMMON, "kernel": _ROPE, "labels": {"law": "grid"}, "n_tokens": [8, 12]},
        "prefix": {
            **_COMMON,
            "kernel": _PREFIX,
            "labels": {"law": "prompts"},
            "n_tokens": 12,
            "variants": {"tetrahedron": {"kernel.targets.count": 4}, "poles": {"kernel.targets.count": 2}},
        },
        "conditional": {
            **_COMMON,
            "n_tokens": 12,
            "variants": {
                "rope": {"kernel": _ROPE, "labels": {"law": "grid", "count": 4}},
                "prefix": {"kernel": _PREFIX, "labels": {"law": "prompts"}},
            },
        },
        "metastability": {
            "kernel": {"type": "usa", "beta": 4},
            "n_tokens": 10,
            "seeds": 2,
            "backend": "numpy",
            "times": {"start": 1e-4, "stop": 1e8, "count": 25, "spacing": "log"},
            "snapshots": 13,
            "sweep": {"dim": [2, 3], "kernel.beta": [4, 9]},
            "variants": {
                "usa": {"kernel": {"type": "usa", "beta": 4}},
                "rope": {"kernel": _ROPE, "labels": {"law": "grid"}},
            },
        },
    },
}


@pytest.fixture(scope="session")
def small_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like ``results/`` with the simulations and metrics of a few small cases."""
    from usaav.config import from_mapping
    from usaav.flow.case import simulate_case
    from usaav.metrics.tables import write_tables

    results = tmp_path_factory.mktemp("results")
    settings = from_mapping(_SETTINGS, [])
    for name in settings.experiments:
        files = []
        for case in settings.cases(name):
            files.append(results / "simulations" / name / f"{case.name}.nc")
            simulate_case(case.to_json(), files[-1], 1)
        table = results / "metrics" / f"{name}.csv"
        write_tables(files, 0.1, table, table.with_suffix(".events.csv"), table.with_suffix(".columns.csv"))
    return results


@pytest.fixture
def sources_of(small_results: Path):
    """A function: names of experiments -> what a figure of them is drawn from."""
    from usaav.figures import Sources

    def of(*experiments: str) -> Sources:
        metrics = small_results / "metrics"
        datasets = [
            path for name in experiments for path in (small_results / "simulations" / name).glob("*.nc")
        ]
        return Sources.of_files(
            experiments,
            sorted(datasets),
            [metrics / f"{name}.csv" for name in experiments],
            [metrics / f"{name}.events.csv" for name in experiments],
        )

    return of
