"""Random settings: either refused in words, or simulated to finite unit tokens in bounded time.

The parser of configurations has a fuzzer of its own that is guided by coverage (fuzz_settings.py, run by
:func:`test_the_parser_of_settings`). It is atheris: it mutates bytes as libFuzzer does, sees the branches of
our modules and of PyYAML's, and needs no service. hypothesis, which other tests use, makes the settings for
simulate: there a random kernel must first be valid to reach anything, and a failing one should shrink.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import usaav
from usaav.errors import UsaavError

pytestmark = pytest.mark.faults

LONG = os.environ.get("USAAV_TEST_FAULTS") == "1"
SECONDS = 60
EXAMPLES = 300 if LONG else 30
UNIT = 1e-9  # a token is off the sphere by rounding alone

beta = st.one_of(st.floats(0.01, 700.0), st.sampled_from([0.01, 1.0, 700.0]))
angle = st.floats(-10.0, 10.0)
plane = st.sampled_from([[0, 1], [1, 2], [2, 0]])
profile = st.sampled_from(["gaussian", "exponential"])
KERNELS = st.one_of(
    st.fixed_dictionaries({"type": st.just("usa"), "beta": beta}),
    st.builds(
        lambda beta, plane, frequency: {
            "type": "rope",
            "beta": beta,
            "planes": [plane],
            "frequencies": [frequency],
        },
        beta,
        plane,
        angle,
    ),
    st.builds(
        lambda beta, plane, linear, harmonic: {
            "type": "generalized_rope",
            "beta": beta,
            "rotations": [{"plane": plane, "linear": linear, "harmonics": [harmonic]}],
        },
        beta,
        plane,
        angle,
        st.tuples(st.integers(1, 5), angle, angle).map(list),
    ),
    st.fixed_dictionaries(
        {"type": st.just("distance_bias"), "beta": beta, "profile": profile, "length": st.floats(1e-3, 1e3)}
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("toeplitz"),
            "coefficients": st.dictionaries(st.integers(0, 4), st.floats(-2.0, 2.0), min_size=1, max_size=4),
        }
    ),
)
TOKENS = st.sampled_from(["uniform", "equal", "antipodal", "nearly equal", "two points", "orthogonal"])
TIMES = st.lists(st.floats(1e-12, 1e3), min_size=1, max_size=3, unique=True).map(sorted)


def tokens_of(kind: str, count: int, seed: int) -> np.ndarray:
    """Unit rows, among them those at which fields vanish or diverge."""
    drawn = usaav.initial_tokens({"law": "uniform"}, n_tokens=count, dim=3, seed=seed)
    if kind == "equal":
        return np.repeat(drawn[:1], count, axis=0)
    if kind == "nearly equal":
        rows = drawn[:1] + 1e-15 * drawn
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
    if kind == "antipodal":
        return drawn[:1] * np.where(np.arange(count) % 2 == 0, 1.0, -1.0)[:, None]
    if kind == "two points":
        return drawn[np.arange(count) % min(2, count)]
    return np.eye(3)[np.arange(count) % 3] if kind == "orthogonal" else drawn


@given(
    spec=KERNELS,
    kind=TOKENS,
    count_=st.integers(1, 6),
    seed=st.integers(0, 2**31),
    times=TIMES,
    labels=st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6),
    rtol=st.sampled_from([1e-2, 1e-4]),
    normalization=st.sampled_from(["none", "softmax"]),
    layers=st.booleans(),
)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def simulated(spec, kind, count_, seed, times, labels, rtol, normalization, layers) -> None:
    chosen = {"normalization": normalization, "backend": "numpy", "rtol": rtol}
    if layers:
        chosen |= {"method": "layers", "step": 0.5}
        times = [0.5 * (1 + place) for place in range(len(times))]
    try:
        # a trial step may overflow at beta 700: the error control then refuses it
        with np.errstate(over="ignore", invalid="ignore"):
            data = usaav.simulate(
                usaav.kernel(spec),
                tokens_of(kind, count_, seed),
                np.array(labels[:count_]),
                [0.0, *times],
                **chosen,
            )
    except UsaavError:
        return
    rows = data["tokens"].values
    assert np.isfinite(rows).all()
    assert np.abs(np.linalg.norm(rows, axis=-1) - 1.0).max() < UNIT
    for name in ("energy", "dirac_distance", "mean_token"):
        assert np.isfinite(data[name].values).all(), name


@pytest.mark.timeout(900)
def test_random_kernels_and_tokens(count) -> None:
    simulated()
    count("fuzz cases of simulate", EXAMPLES)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_parser_of_settings(tmp_path: Path, repo: Path, count) -> None:
    extra = [str(repo / ".fuzz")] if (repo / ".fuzz").is_dir() else []
    if not extra and importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed: run `make test-faults`, on Linux")
    done = subprocess.run(
        [
            sys.executable,
            str(Path(__file__).with_name("fuzz_settings.py")),
            str(tmp_path),
            f"-max_total_time={SECONDS}",
            "-timeout=5",
            "-rss_limit_mb=2000",
            "-seed=1",
            f"-artifact_prefix={tmp_path}/found-",
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(repo / "src"), *extra])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    runs = re.search(r"Done (\d+) runs", done.stdout)
    assert runs is not None, done.stdout[-2000:]
    assert int(runs.group(1)) > 1000
    count("fuzz cases of the parser", int(runs.group(1)))
