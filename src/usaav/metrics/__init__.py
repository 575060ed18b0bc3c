"""Observables of tokens: from a Dataset to a DataArray, or from arrays to numbers.

Every function takes the Dataset of :func:`usaav.simulate` (or one read from a file) and returns a DataArray
over the dimensions that are left, usually run and time, or run and snapshot; those on tokens also take unit
rows ``(n, d)`` and return a number. What a run ended too early to show is missing (NaN), never its end time.
"""

from usaav.metrics.clusters import cluster_count, cluster_sizes
from usaav.metrics.dirac import dirac_distance
from usaav.metrics.energies import energy
from usaav.metrics.merges import merge_tree, metastability_times, plateaus
from usaav.metrics.order import order_parameter
from usaav.metrics.slices import conditional_dirac_distance
from usaav.metrics.transport import circle_wasserstein, wasserstein

__all__ = [
    "circle_wasserstein",
    "cluster_count",
    "cluster_sizes",
    "conditional_dirac_distance",
    "dirac_distance",
    "energy",
    "merge_tree",
    "metastability_times",
    "order_parameter",
    "plateaus",
    "wasserstein",
]
