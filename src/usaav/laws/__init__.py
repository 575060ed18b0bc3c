"""Laws of labels, initial tokens and targets: from settings to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from usaav.config.label_models import LabelLaw
from usaav.config.law_models import TokenLaw
from usaav.config.problems import validated
from usaav.errors import ConfigError
from usaav.laws import labels as _labels
from usaav.laws import points as _points
from usaav.laws.labels import Array
from usaav.seeds import generator

__all__ = ["initial_tokens", "labels"]

_LABELS: TypeAdapter[Any] = TypeAdapter(LabelLaw)
_TOKENS: TypeAdapter[Any] = TypeAdapter(TokenLaw)


def initial_tokens(law: Mapping[str, Any], n_tokens: int, dim: int, seed: int = 0) -> Array:
    """Draw tokens on the sphere S^{dim-1}.

    Parameters
    ----------
    law
        Mapping such as ``{"law": "uniform"}``, as under ``initial:`` in a configuration file. Law
        ``anchored`` gives gauge coordinates z: map them with the kernel, ``kernel.from_gauge(z, labels)``.
    n_tokens, dim
        Number of tokens (>= 1) and dimension d (>= 2).
    seed
        Whole number >= 0; equal arguments give equal tokens.

    Returns
    -------
    array (n_tokens, dim)
        Rows of length 1.

    Raises
    ------
    ConfigError
        The law is not valid or does not exist in `dim` dimensions.
    DataError
        The file of law ``points`` cannot be used.
    """
    spec = validated(_TOKENS, TokenLaw, law, "initial")
    _check_numbers(n_tokens=(n_tokens, 1), dim=(dim, 2), seed=(seed, 0))
    return _points.draw(spec, n_tokens, dim, generator("tokens", seed))


def labels(law: Mapping[str, Any], n_tokens: int, seed: int = 0) -> Array:
    """Draw labels ``(n_tokens,)``.

    Parameters
    ----------
    law
        Mapping such as ``{"law": "grid"}``, as under ``labels:`` in a configuration file. Law ``prompts``
        without a count gives every token its own prompt.
    n_tokens
        Number of tokens, >= 1.
    seed
        Whole number >= 0; equal arguments give equal labels.

    Raises
    ------
    ConfigError
        The law is not valid.
    DataError
        The file of law ``points`` cannot be used.
    """
    spec = validated(_LABELS, LabelLaw, law, "labels")
    _check_numbers(n_tokens=(n_tokens, 1), seed=(seed, 0))
    return _labels.draw(spec, n_tokens, generator("labels", seed))


def _check_numbers(**numbers: tuple[int, int]) -> None:
    for name, (value, least) in numbers.items():
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise ConfigError(f"{name} = {value!r}: expected a whole number of at least {least}")
