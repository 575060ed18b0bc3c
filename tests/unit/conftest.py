"""Small runs that tests of figures and films draw from."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.fixtures import cuda, device, processor  # noqa: F401  fixtures of the tests of the GPU engine

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
        "generalized_rope": {
            **_COMMON,
            "kernel": {"type": "generalized_rope", "beta": 1, "rotations": [{"plane": [0, 1], "linear": 1}]},
            "labels": {"law": "grid"},
            "n_tokens": 12,
            "variants": {
                "wavy": {
                    "kernel.rotations": [
                        {"plane": [0, 1], "linear": 1},
                        {"plane": [2, 0], "harmonics": [[3, 0.5, 0]]},
                    ]
                },
                "torus": {
                    "kernel.rotations": [
                        {"plane": [0, 1], "linear": 1},
                        {"plane": [2, 3], "linear": 1.5},
                    ],
                    "labels": {"law": "grid", "stop": 12.5},
                    "dim": 4,
                },
            },
        },
        "orbit_universality": {
            **_COMMON,
            "kernel": {**_ROPE, "frequencies": [2]},
            "labels": {"law": "uniform"},
            "n_tokens": [8, 32],
            "variants": {
                "atoms": {"labels": {"law": "atoms", "positions": [0, 1], "weights": [1, 3]}},
                "uniform": {"labels": {"law": "uniform", "stop": 3}},
            },
        },
        "gauge_universality": {
            **_COMMON,
            "kernel": {"type": "prefix", "beta": 1, "targets": {"law": "spiral", "turns": 4}},
            "labels": {"law": "prompts"},
            "initial": {"law": "anchored"},
            "times": {"start": 0, "stop": 40, "count": 6},
            "n_tokens": [10, 16],
            "variants": {
                "spiral": {"kernel.targets": {"law": "spiral", "turns": 4}},
                "cap": {
                    "kernel.targets": {"law": "von_mises_fisher", "mean": [0, 1, 0], "kappa": 30},
                },
            },
        },
        "distance_bias": {
            **_COMMON,
            "kernel": {"type": "distance_bias", "beta": 1, "profile": "gaussian", "length": 1, "period": 6.3},
            "labels": {"law": "grid"},
            "n_tokens": 8,
            "times": {"start": 0.1, "stop": 100, "count": 6, "spacing": "log"},
            "sweep": {"kernel.beta": [1, 4]},
            "variants": {
                "gaussian_1": {"kernel.length": 1},
                "alibi_4": {
                    "kernel": {"type": "distance_bias", "beta": 1, "profile": "alibi", "slope": 4},
                    "labels": {"law": "grid", "stop": 1},
                },
            },
        },
        "toeplitz": {
            **_COMMON,
            "kernel": {"type": "toeplitz", "coefficients": {1: 1}},
            "labels": {"law": "grid"},
            "n_tokens": 12,
            "times": {"start": 0, "stop": 60, "count": 6},
            "variants": {
                "linear_1": {"kernel.coefficients": {1: 1}},
                "linear_2": {"kernel.coefficients": {2: 1}},
                "exponential_1": {"kernel.phi": "exponential", "kernel.beta": 1},
            },
        },
        "dichotomy": {
            **_COMMON,
            "kernel": {"type": "toeplitz", "coefficients": {0: 1, 1: 0}},
            "labels": {"law": "grid"},
            "n_tokens": 12,
            "times": {"start": 0, "stop": 200, "count": 6},
            "variants": {
                f"a{round(100 * a):03d}": {"kernel.coefficients": {0: 1 - a, 1: a}}
                for a in (0.0, 0.5, 0.75, 1.0)
            },
        },
        "layers": {
            **_COMMON,
            "n_tokens": 8,
            "variants": {
                f"{name}_eta{round(100 * step):03d}": kernel
                | ({"method": "layers", "step": step} if step else {})
                for name, kernel in {
                    "rope": {"kernel": _ROPE, "labels": {"law": "grid"}},
                    "usa": {"kernel": {"type": "usa", "beta": 1}},
                }.items()
                for step in (0, 0.5, 0.25)
            },
        },
        "softmax": {
            **_COMMON,
            "normalization": "softmax",
            "n_tokens": 12,
            "variants": {
                "rope": {"kernel": _ROPE, "labels": {"law": "grid"}},
                "usa": {"kernel": {"type": "usa", "beta": 1}},
            },
        },
        "mode_selection": {
            "kernel": {"type": "usa", "beta": 4},
            "n_tokens": 400,
            "seeds": 2,
            "backend": "numba",
            "mode_degrees": 16,
            "times": {"start": 0, "stop": 1, "count": 21},
            "variants": {
                "d2_beta4": {"dim": 2},
                "d2_beta1": {"dim": 2, "kernel.beta": 1, "times": {"start": 0, "stop": 13, "count": 21}},
                "d3_beta4": {"times": {"start": 0, "stop": 1.7, "count": 21}},
            },
        },
        "mean_field": {
            "kernel": {"type": "usa", "beta": 1},
            "n_tokens": [64, 256, 1024],
            "seeds": 2,
            "backend": "numba",
            "mode_degrees": 1,
            "times": {"start": 0, "stop": 16, "count": 21},
            "variants": {
                "rope": {"kernel": _ROPE, "labels": {"law": "grid"}},
                "usa": {"kernel": {"type": "usa", "beta": 1}},
            },
        },
    },
}
#: simulated for whoever asks for the folder; the others only when they are drawn from
_ALWAYS = ("baseline", "rope", "prefix", "conditional", "metastability")


def _simulate(results: Path, name: str) -> None:
    from usaav.config import from_mapping
    from usaav.flow.case import simulate_case
    from usaav.metrics.tables import write_tables

    table = results / "metrics" / f"{name}.csv"
    if table.exists():
        return
    files = []
    for case in from_mapping({**_SETTINGS, "only": [name]}, []).cases(name):
        files.append(results / "simulations" / name / f"{case.name}.nc")
        simulate_case(case.to_json(), files[-1], 1)
    write_tables(files, 0.1, table, table.with_suffix(".events.csv"), table.with_suffix(".columns.csv"))


@pytest.fixture(scope="session")
def small_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like ``results/`` with the simulations and metrics of a few small cases."""
    results = tmp_path_factory.mktemp("results")
    for name in _ALWAYS:
        _simulate(results, name)
    return results


@pytest.fixture
def sources_of(small_results: Path):
    """A function: names of experiments -> what a figure of them is drawn from."""
    from usaav.figures import Sources

    def of(*experiments: str) -> Sources:
        metrics = small_results / "metrics"
        for name in experiments:
            _simulate(small_results, name)
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
