"""The prefix gauge whose targets are drawn from a law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from usaav.config.law_models import TokenLaw
from usaav.errors import DataError
from usaav.kernels.gauges import Reflections
from usaav.laws import points
from usaav.seeds import generator

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DrawnReflections:
    """Reflections to targets that are drawn once the dimension and the prompts are known.

    Equal law, number and dimension give equal targets, in any case and for any seed of the tokens.

    Attributes
    ----------
    law
        Law of the targets; its ``count`` is their number, None: as many as there are prompts (largest label +
        1).
    """

    law: TokenLaw

    @property
    def is_identity(self) -> bool:
        """False: labels are needed."""
        return False

    def apply(self, tokens: Array, labels: Array | None) -> Array:
        """See :meth:`usaav.kernels.Reflections.apply`."""
        return self.resolve(labels, tokens.shape[-1]).apply(tokens, labels)

    # a reflection is its own inverse
    apply_inverse = apply

    def resolve(self, labels: Array | None, dim: int) -> Reflections:
        """The gauge with its targets drawn, for these `labels` in dimension `dim`.

        Raises
        ------
        DataError
            The number of targets follows the labels, and there are none.
        """
        count = self.law.count
        if count is None:
            if labels is None or np.size(labels) == 0:
                raise DataError("the prefix targets follow the prompts: pass labels, or give the law a count")
            count = int(np.max(labels)) + 1
        return Reflections(_draw(self.law, count, dim))


@lru_cache(maxsize=8)
def _draw(law: TokenLaw, count: int, dim: int) -> Array:
    rng = generator("targets", law.model_dump_json(exclude_none=True), count, dim)
    return points.draw(law, count, dim, rng)
