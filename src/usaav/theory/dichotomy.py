"""Spectral dichotomy: which mode of a Toeplitz weight wins when labels are uniform on the circle."""

from __future__ import annotations

from collections.abc import Mapping

from usaav.errors import ConfigError

Coefficients = Mapping[int, float]


def mode_eigenvalue(coefficients: Coefficients, m: int) -> float:
    """Eigenvalue of mode m under uniform labels: ``c_0`` on constants, ``c_m/2`` on cosine and sine."""
    value = float(coefficients.get(m, 0.0))
    return value if m == 0 else 0.5 * value


def top_mode(coefficients: Coefficients) -> int:
    """The mode m with the largest eigenvalue: 0 means collapse to a Dirac mass, m >= 1 a great circle.

    For the linear profile and uniform labels on the circle; between equal ones the smallest m.
    """
    modes = sorted({0, *coefficients})
    return max(modes, key=lambda m: (mode_eigenvalue(coefficients, m), -m))


def toeplitz_energy(coefficients: Coefficients) -> float:
    """Energy maximum of the linear profile under uniform labels: ``c_0/2`` or ``c_m/4``, the larger."""
    return 0.5 * mode_eigenvalue(coefficients, top_mode(coefficients))


def dichotomy_threshold(oscillating: Coefficients, constant: Coefficients | None = None) -> float:
    """The share a at which ``w = (1-a) constant + a oscillating`` goes from a Dirac mass to a great circle.

    Below it the top eigenspace under uniform labels is the constants, above it a mode m >= 1. The difference
    of their eigenvalues is concave in a, so there is one change. ``dichotomy_threshold({1: 1.0})`` is 2/3.

    Parameters
    ----------
    oscillating
        Coefficients ``{m: c_m}`` of the weight at a = 1; its top mode must not be 0.
    constant
        Coefficients of the weight at a = 0, whose top mode must be 0; default ``{0: 1}``.

    Raises
    ------
    ConfigError
        The weights are on the same side, so that nothing changes between them.
    """
    start = {0: 1.0} if constant is None else constant
    crossings = []
    for m in sorted({*start, *oscillating} - {0}):
        before = mode_eigenvalue(start, 0) - mode_eigenvalue(start, m)
        after = mode_eigenvalue(oscillating, 0) - mode_eigenvalue(oscillating, m)
        if before <= 0.0:
            raise ConfigError(
                f"the weight at a = 0 does not collapse: its mode {m} is at least as strong as mode 0"
            )
        if after < 0.0:
            crossings.append(before / (before - after))
    if not crossings:
        raise ConfigError("the weight at a = 1 collapses too: no mode m >= 1 is stronger than mode 0")
    return min(crossings)
