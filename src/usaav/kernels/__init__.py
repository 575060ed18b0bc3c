"""The kernel family ``h((x, xi), (y, zeta)) = w(xi, zeta) phi(<G_xi x, G_zeta y>)``."""

from usaav.kernels.drawn_targets import DrawnReflections
from usaav.kernels.gauges import Gauge, Identity, PlaneRotation, PlaneRotations, Reflections
from usaav.kernels.kernel import Kernel, kernel
from usaav.kernels.profiles import Exponential, Linear, Profile
from usaav.kernels.weights import Constant, DistanceBias, Toeplitz, Weight

__all__ = [
    "Constant",
    "DistanceBias",
    "DrawnReflections",
    "Exponential",
    "Gauge",
    "Identity",
    "Kernel",
    "Linear",
    "PlaneRotation",
    "PlaneRotations",
    "Profile",
    "Reflections",
    "Toeplitz",
    "Weight",
    "kernel",
]
