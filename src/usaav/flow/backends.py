"""Which engine computes: the one place that knows what is installed and turns a backend's name into a system.

Nothing compiled is imported before it is chosen, so that the plain engine works where numba does not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from usaav.errors import BackendError, ConfigError
from usaav.flow.systems import LARGEST_MATRIX, ArraySystem, CompiledSystem, Interaction, System, is_built_in
from usaav.kernels.low_rank import LARGEST_RANK, Products
from usaav.kernels.profiles import Exponential

if TYPE_CHECKING:
    from usaav.gpu.field import Precision

Backend = Literal["auto", "numba", "numpy", "cupy"]
Field = Literal["auto", "direct", "spectral"]

_LOG = logging.getLogger("usaav")


def choose(
    backend: Backend, interaction: Interaction, n_tokens: int, *, without_matrix: bool = False
) -> Backend:
    """The backend that will compute: `backend` itself, or for ``auto`` the fastest that can.

    `without_matrix`: weights of labels are not kept as a matrix (see :func:`needs_no_matrix`), so that the
    compiled engine takes any number of tokens.

    ``auto`` tells once what it takes, and warns when it has to pass over the compiled engine; a backend given
    by name never falls back. ``auto`` keeps to the processor: a device has to be reserved for a job, and
    which engine computes must not depend on what happens to be free.

    Raises
    ------
    BackendError
        A backend given by name can't compute this.
    ConfigError
        No backend has that name.
    """
    if backend not in ("auto", "numba", "numpy", "cupy"):
        raise ConfigError(f"backend = {backend!r}: expected auto, numba, numpy or cupy")
    if backend == "cupy":
        from usaav.gpu import device, field

        why_not = field.why_not(interaction.kernel)
        if why_not is not None:
            raise BackendError(f"backend = cupy: {why_not}; use backend numpy")
        device.require()
        return "cupy"
    if backend == "numpy":
        return "numpy"
    why_not = _why_not_compiled(interaction, 0 if without_matrix else n_tokens)
    if why_not is None:
        if backend == "auto":
            _tell_once("numba")
        return "numba"
    if backend == "numba":
        raise BackendError(f"backend = numba: {why_not}; use backend numpy")
    _LOG.warning("backend auto takes numpy: %s", why_not)
    return "numpy"


@cache
def _tell_once(backend: Backend) -> None:
    _LOG.info("backend auto takes %s", backend)


def choose_field(field: Field, interaction: Interaction, shape: tuple[int, int], rtol: float) -> Field:
    """The field that will sum over tokens ``(n, d)``: ``spectral`` or ``direct``.

    ``auto`` takes the spectral field where it exists (exponential profile, no softmax, d = 2 or 3, w = 1 or a
    sum of few products between the labels) and there are enough tokens for it to be the faster one, or more
    labelled ones than the compiled direct field takes.

    Raises
    ------
    ConfigError
        ``spectral`` was asked for and does not exist for this kernel.
    """
    n_tokens, dim = shape
    why_not = "" if field == "direct" else _why_not_spectral(interaction, dim, rtol)
    if field == "direct" or (field == "auto" and why_not is not None):
        return "direct"
    if why_not is not None:
        raise ConfigError(f"field = spectral: {why_not}; use field auto or direct")
    if field == "spectral" or (interaction.labels is not None and n_tokens > LARGEST_MATRIX):
        return "spectral"
    return "spectral" if n_tokens >= _crossover(interaction, dim, rtol) else "direct"


def needs_no_matrix(field: Field, interaction: Interaction, dim: int, rtol: float) -> bool:
    """Whether the spectral field, which keeps weights of labels as products, may be taken and exists."""
    return field != "direct" and _why_not_spectral(interaction, dim, rtol) is None


class Engine(NamedTuple):
    """What computes the runs of one call.

    Attributes
    ----------
    system
        Makes the right-hand side of a run.
    workers
        Number of runs that advance at a time.
    facts
        What a file should tell about it.
    """

    system: Callable[[Interaction], System]
    workers: int
    facts: Mapping[str, str | int]


@contextmanager
def opened(
    backend: Backend,
    field: Field,
    interaction: Interaction,
    shape: tuple[int, int, int],
    rtol: float,
    threads: int,
    precision: Precision = "float64",
) -> Iterator[Engine]:
    """The engine for tokens ``(runs, n, d)``, on a backend and field that were chosen, for one call.

    Raises
    ------
    BackendError
        The device can't be used, or is too small.
    """
    runs, n_tokens, dim = shape
    if backend != "cupy":
        each = max(1, threads // runs)
        weight = _products(interaction, rtol) if field == "spectral" else None

        def system(one: Interaction) -> System:
            return make_system(backend, field, one, (n_tokens, dim), rtol, each, weight)

        yield Engine(system, min(threads, runs), _facts_of(backend, interaction, dim, rtol))
        return
    from usaav.gpu import engine
    from usaav.gpu.field import law_of

    law = law_of(interaction.kernel, dim, softmax=interaction.softmax, precision=precision)
    with engine.opened(law, n_tokens, runs, _on_processor) as gpu:
        yield Engine(gpu.system, gpu.workers, gpu.device.facts)


def make_system(
    backend: Backend,
    field: Field,
    interaction: Interaction,
    shape: tuple[int, int],
    rtol: float,
    threads: int,
    weight: Products | None = None,
) -> System:
    """The right-hand side on a backend and field that :func:`choose` and :func:`choose_field` returned.

    The spectral field hands over to the direct one below the crossover (and not before the matrix of weights
    of labels is small enough); where it was asked for although there are fewer tokens to begin with, below a
    quarter of those. `weight` is that of the labels as a sum of products, found here if it is not given.
    """
    if field == "spectral":
        from usaav.flow.spectral_system import SpectralSystem

        n_tokens, dim = shape
        weight = weight or _products(interaction, rtol)
        faster = _crossover(interaction, dim, rtol, weight)
        if interaction.labels is not None:
            faster = min(faster, LARGEST_MATRIX)
        handover = faster if n_tokens >= faster else max(2, n_tokens // 4)
        return SpectralSystem(interaction, dim, rtol, handover, threads, weight)
    return CompiledSystem(interaction) if backend == "numba" else ArraySystem(interaction)


def _products(interaction: Interaction, rtol: float) -> Products | None:
    from usaav.flow.spectral_system import products_of

    return products_of(interaction, rtol)


def _crossover(interaction: Interaction, dim: int, rtol: float, weight: Products | None = None) -> int:
    from usaav.flow.spectral_system import crossover

    weight = weight or _products(interaction, rtol)
    return crossover(interaction.beta, dim, rtol, None if weight is None else len(weight.signs))


def _facts_of(backend: Backend, interaction: Interaction, dim: int, rtol: float) -> dict[str, str | int]:
    """From how many tokens ``auto`` takes the spectral field, and of how many products the weight is."""
    if backend != "numba" or _why_not_spectral(interaction, dim, rtol) is not None:
        return {}
    weight = _products(interaction, rtol)
    ranks = {} if weight is None else {"weight_rank": len(weight.signs)}
    return {"field_crossover": _crossover(interaction, dim, rtol, weight), **ranks}


def _on_processor(interaction: Interaction) -> System:
    """Takes over from the device when few clusters are left."""
    clusters = 0 if interaction.labels is None else len(interaction.labels)
    if _why_not_compiled(interaction, clusters) is None:
        return CompiledSystem(interaction)
    return ArraySystem(interaction)


def _why_not_spectral(interaction: Interaction, dim: int, rtol: float) -> str | None:
    if dim not in (2, 3):
        return f"the spectral field exists for dimensions 2 and 3, not {dim}"
    if interaction.softmax or not isinstance(interaction.kernel.profile, Exponential):
        return "the spectral field exists for the exponential profile without softmax only"
    try:
        weight = _products(interaction, rtol)
    except ImportError as error:
        return f"numba can't be imported ({error})"
    if interaction.labels is not None and weight is None:
        return (
            "the spectral field exists for weight 1 and for weights that are a sum of at most "
            f"{LARGEST_RANK} products of functions of the two labels (Toeplitz, Gaussian on a line, few "
            "different labels)"
        )
    return None


def _why_not_compiled(interaction: Interaction, n_tokens: int) -> str | None:
    if not is_built_in(interaction.kernel):
        return f"the compiled engine knows no profile {type(interaction.kernel.profile).__name__}"
    if interaction.labels is not None and n_tokens > LARGEST_MATRIX:
        return (
            f"the compiled engine stores label weights as a matrix, at most for {LARGEST_MATRIX} tokens, "
            f"not {n_tokens}"
        )
    try:
        import_module("usaav.flow.compiled")
    except ImportError as error:
        return f"numba can't be imported ({error})"
    return None
