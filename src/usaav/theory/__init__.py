"""Predictions: maximisers, energy maxima, two-cluster times, growth rates, the spectral dichotomy.

Derived from the equation in the paper (arXiv:2605.30229) alone; nothing here runs a simulation.
"""

from usaav.theory.dichotomy import dichotomy_threshold, mode_eigenvalue, toeplitz_energy, top_mode
from usaav.theory.energy_maxima import EnergyBound, energy_bound, energy_maximum
from usaav.theory.equiangular import equiangular_cosine, equiangular_rate
from usaav.theory.great_circle import (
    toeplitz_dirac_distance,
    toeplitz_maximiser,
    toeplitz_singular_values,
)
from usaav.theory.maximisers import consensus, predicted_tokens
from usaav.theory.modes import fastest_mode, mode_growth_rate
from usaav.theory.two_clusters import two_cluster_time

__all__ = [
    "EnergyBound",
    "consensus",
    "dichotomy_threshold",
    "energy_bound",
    "energy_maximum",
    "equiangular_cosine",
    "equiangular_rate",
    "fastest_mode",
    "mode_eigenvalue",
    "mode_growth_rate",
    "predicted_tokens",
    "toeplitz_dirac_distance",
    "toeplitz_energy",
    "toeplitz_maximiser",
    "toeplitz_singular_values",
    "top_mode",
    "two_cluster_time",
]
