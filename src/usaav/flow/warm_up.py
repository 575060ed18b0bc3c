"""Compile the engine and keep the result on disk, so that no job has to: ``python -m usaav.flow.warm_up``."""

from __future__ import annotations

import numpy as np

from usaav.flow import compiled, spectral
from usaav.metrics.linked import linked


def warm_up() -> None:
    """Call each compiled function once, with the types that runs use."""
    none = np.zeros((1, 1))
    for dim in (2, 3):
        tokens = np.eye(dim)
        masses = np.full(dim, 1.0 / dim)
        velocity = compiled.velocity(tokens, masses, none, compiled.EXPONENTIAL, -0.5, 0.0)
        compiled.step(tokens, velocity, masses, none, compiled.EXPONENTIAL, -0.5, 0.0, 0.1, 1.0)
        compiled.neighbours(tokens, velocity, 1e-6, 1e-18, 9)
        compiled.pair_energy(tokens, masses, none, compiled.EXPONENTIAL, -0.5)
        field = spectral.SpectralField(1.0, dim, 1e-10)
        field.velocity(tokens, masses)
        stages = np.zeros((12, dim, dim))
        field.displaced(tokens, stages, np.ones(12), 0.1)
        field.largest_error(stages, 0.1)
        spectral.local_mass(tokens, masses, tokens[0], -0.5)
        linked(tokens, 0.01)


if __name__ == "__main__":
    warm_up()
