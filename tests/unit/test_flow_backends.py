"""Which engine and which field compute, and what is said when the wished one can't."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from physics import examples
from usaav import simulate
from usaav.errors import BackendError, ConfigError
from usaav.flow import backends
from usaav.flow.backends import choose, choose_field, make_system, needs_no_matrix
from usaav.flow.spectral_system import SpectralSystem, crossover
from usaav.flow.systems import LARGEST_MATRIX, ArraySystem, CompiledSystem, Interaction
from usaav.gpu import device
from usaav.kernels import Kernel, kernel


class Odd:
    """A profile of one's own."""

    beta = 0.0

    def value(self, inner: np.ndarray) -> np.ndarray:
        return inner**3

    def derivative(self, inner: np.ndarray) -> np.ndarray:
        return 3.0 * inner**2


USA = Interaction(kernel(examples.usa(1.0)), None, False)
WEIGHTED = Interaction(kernel(examples.kernels(3)["exponential_line"]), np.arange(300.0), False)
TOEPLITZ = Interaction(kernel(examples.kernels(3)["toeplitz_exponential"]), np.arange(300.0), False)
OWN = Interaction(Kernel(Odd()), None, False)


def test_named_backends() -> None:
    assert choose("numba", USA, 10) == "numba"
    assert choose("numpy", USA, 10) == "numpy"
    assert choose("auto", USA, 10) == "numba"
    assert choose("auto", WEIGHTED, LARGEST_MATRIX) == "numba"


def test_auto_tells_once_what_it_takes(caplog: pytest.LogCaptureFixture) -> None:
    backends._tell_once.cache_clear()
    with caplog.at_level(logging.INFO, "usaav"):
        for _ in range(3):
            assert choose("auto", USA, 10) == "numba"
        assert choose("numba", USA, 10) == "numba"
    assert caplog.messages == ["backend auto takes numba"]


def test_unknown_backend() -> None:
    name: Any = "torch"
    with pytest.raises(ConfigError, match=r"backend = 'torch': expected auto, numba, numpy or cupy"):
        choose(name, USA, 10)


def test_a_device_that_is_asked_for_and_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "why_not", lambda: "no driver")
    with pytest.raises(BackendError, match=r"backend = cupy: no driver; or use backend numba or numpy"):
        choose("cupy", USA, 10)
    with pytest.raises(BackendError, match=r"backend = cupy: .*no profile Odd; use backend numpy"):
        choose("cupy", OWN, 10)
    assert choose("auto", USA, 10) == "numba"
    monkeypatch.setattr(device, "why_not", lambda: None)
    assert choose("cupy", USA, 10) == "cupy"


def test_a_profile_that_is_not_compiled(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BackendError, match=r"backend = numba: .*no profile Odd; use backend numpy"):
        choose("numba", OWN, 10)
    with caplog.at_level(logging.WARNING, "usaav"):
        assert choose("auto", OWN, 10) == "numpy"
    assert caplog.messages == ["backend auto takes numpy: the compiled engine knows no profile Odd"]


def test_weights_of_very_many_tokens(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BackendError, match=r"at most for 4096 tokens, not 5000"):
        choose("numba", WEIGHTED, 5000)
    with caplog.at_level(logging.WARNING, "usaav"):
        assert choose("auto", WEIGHTED, 5000) == "numpy"
    assert len(caplog.messages) == 1


BLOCKED = """
import logging, sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
logging.basicConfig(format="%(levelname)s %(name)s %(message)s")
import usaav
kernel = usaav.kernel({"type": "usa", "beta": 1.0})
tokens = usaav.initial_tokens({"law": "uniform"}, n_tokens=3, dim=3)
options = OPTIONS
try:
    print(usaav.simulate(kernel, tokens, times=[0.0, 1.0], **options).attrs["backend"])
except usaav.errors.UsaavError as error:
    print(type(error).__name__, error)
"""


def without_numba(options: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED.replace("OPTIONS", options)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr.strip()


def test_without_numba_auto_says_what_it_takes() -> None:
    out, err = without_numba("{}")
    assert out == "numpy"
    assert err.splitlines() == [
        "WARNING usaav backend auto takes numpy: numba can't be imported (No module named 'llvmlite')"
    ]


def test_without_numba_a_named_backend_never_falls_back() -> None:
    out, err = without_numba("{'backend': 'numba'}")
    assert out.startswith("BackendError backend = numba: numba can't be imported")
    assert out.endswith("use backend numpy")
    assert err == ""


def test_without_numba_no_mode_amplitudes() -> None:
    out, _ = without_numba("{'backend': 'numpy', 'mode_degrees': 3}")
    assert out.startswith("BackendError mode_degrees: amplitudes need numba")


def test_fields() -> None:
    many = crossover(1.0, 3, 1e-9)
    assert choose_field("auto", USA, (10, 3), 1e-9) == "direct"
    assert choose_field("auto", USA, (many, 3), 1e-9) == "spectral"
    assert choose_field("auto", USA, (many - 1, 3), 1e-9) == "direct"
    assert choose_field("direct", USA, (10 * many, 3), 1e-9) == "direct"
    assert choose_field("spectral", USA, (10, 2), 1e-9) == "spectral"
    assert choose_field("auto", USA, (10**6, 5), 1e-9) == "direct"
    assert choose_field("auto", WEIGHTED, (10**6, 3), 1e-9) == "direct"
    # a sum of few products, here 5, costs as much as 5 fields, and needs no matrix
    assert crossover(1.4, 3, 1e-9, 20) > crossover(1.4, 3, 1e-9)
    assert choose_field("auto", TOEPLITZ, (100, 3), 1e-9) == "direct"
    assert choose_field("auto", TOEPLITZ, (LARGEST_MATRIX + 1, 3), 1e-9) == "spectral"
    assert needs_no_matrix("auto", TOEPLITZ, 3, 1e-9)
    assert not needs_no_matrix("direct", TOEPLITZ, 3, 1e-9)
    assert not needs_no_matrix("auto", WEIGHTED, 3, 1e-9)
    assert choose("numba", TOEPLITZ, 5000, without_matrix=True) == "numba"
    # the sharper the kernel, the more harmonics, the later it pays
    assert crossover(1.0, 3, 1e-9) < crossover(25.0, 3, 1e-9) < crossover(100.0, 3, 1e-9)


@pytest.mark.parametrize(
    ("interaction", "dim", "message"),
    [
        (USA, 5, "dimensions 2 and 3, not 5"),
        (WEIGHTED, 3, "at most 64 products"),
        (Interaction(kernel(examples.usa(1.0)), None, True), 3, "without softmax only"),
        (Interaction(kernel({"type": "combined", "phi": "linear"}), None, False), 3, "exponential profile"),
    ],
)
def test_where_there_is_no_spectral_field(interaction: Interaction, dim: int, message: str) -> None:
    with pytest.raises(ConfigError, match=rf"field = spectral: .*{message}.*use field auto or direct"):
        choose_field("spectral", interaction, (1000, dim), 1e-9)


def test_the_plain_engine_has_no_spectral_field() -> None:
    with pytest.raises(ConfigError, match="field = spectral needs the backend numba"):
        simulate(kernel(examples.usa(1.0)), examples.tokens(4, 3, 0), backend="numpy", field="spectral")


def test_systems() -> None:
    assert isinstance(make_system("numba", "direct", USA, (600, 3), 1e-9, 1), CompiledSystem)
    assert isinstance(make_system("numpy", "direct", USA, (600, 3), 1e-9, 1), ArraySystem)
    assert isinstance(make_system("numba", "spectral", USA, (600, 3), 1e-9, 1), SpectralSystem)
