"""Rules that tie settings together: kernel and dimension, labels and kernel, times and method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from usaav.config.part_models import ConstantWeight, IdentityGauge, PrefixGauge
from usaav.config.values import Faults

if TYPE_CHECKING:
    from usaav.config.cases import CaseSettings

#: least error tolerance of a step whose pair sums have terms in float32
COARSEST_SINGLE = 1e-6
REAL_LABELS = "grid, uniform, von_mises, arcs, atoms, cantor or points"
PROMPT_LABELS = "prompts, or atoms or points with the whole numbers of the targets"


def misfits(settings: CaseSettings) -> Faults:
    """Everything in `settings` that does not go together, as pairs (key, expected)."""
    found: Faults = []
    found += _dimension(settings)
    found += _labels(settings)
    found += _times(settings)
    found += _method(settings)
    return found


def _dimension(settings: CaseSettings) -> Faults:
    kernel, dim = settings.kernel, settings.dim
    # a combined kernel keeps its parts one level down
    gauge_key: tuple[str, ...] = ("kernel", "gauge") if kernel.type == "combined" else ("kernel",)
    found: Faults = [((*gauge_key, *key), expected) for key, expected in kernel.gauge.needs(dim)]
    found += [(("initial", *key), expected) for key, expected in settings.initial.needs(dim)]
    if settings.initial.law != "regular" and settings.initial.count is not None:
        found.append((("initial", "count"), "no count: initial tokens are n_tokens many"))
    return found


def _labels(settings: CaseSettings) -> Faults:
    kernel, labels = settings.kernel, settings.labels
    gauge, weight = kernel.gauge, kernel.weight
    if isinstance(gauge, IdentityGauge) and isinstance(weight, ConstantWeight):
        return []  # labels are then names of slices only; any law will do
    if labels is None:
        laws = PROMPT_LABELS if isinstance(gauge, PrefixGauge) else REAL_LABELS
        return [(("labels",), f"labels, as the kernel depends on them: {{law: ...}} with {laws}")]
    if isinstance(gauge, PrefixGauge):
        return _prompts(gauge, labels, settings.n_tokens)
    if labels.law == "prompts":
        return [
            (
                ("labels", "law"),
                f"real labels for this kernel: {REAL_LABELS} (grid with a count repeats labels)",
            )
        ]
    return []


def _prompts(gauge: PrefixGauge, labels: Any, n_tokens: int) -> Faults:
    targets = gauge.n_targets
    if labels.law == "prompts":
        if targets is not None and labels.count is not None and labels.count > targets:
            return [(("labels", "count"), f"at most as many prompts as the kernel has targets, {targets}")]
        return []
    if labels.law == "atoms":
        limit = targets if targets is not None else n_tokens
        wrong = [value for value in labels.positions if not value.is_integer() or not 0 <= value < limit]
        return (
            [(("labels", "positions"), f"whole numbers 0 ... {limit - 1} that name targets")] if wrong else []
        )
    if labels.law == "points":
        return []
    return [(("labels", "law"), f"labels that name prompts: {PROMPT_LABELS}")]


def _times(settings: CaseSettings) -> Faults:
    found: Faults = []
    if settings.method == "layers" and settings.step is not None:
        off = [
            time for time in settings.times if abs(time / settings.step - round(time / settings.step)) > 1e-6
        ]
        if off:
            found.append(
                (("times",), f"multiples of step ({settings.step:g}) with method layers; {off[0]:g} is none")
            )
    if settings.snapshots[-1] >= len(settings.times) or settings.snapshots[0] < 0:
        found.append((("snapshots",), f"indices of times, 0 ... {len(settings.times) - 1}"))
    return found


def _method(settings: CaseSettings) -> Faults:
    found: Faults = []
    kernel = settings.kernel
    if settings.method == "layers" and settings.step is None:
        found.append((("step",), "a number > 0 (eta), as method is layers"))
    if settings.method == "adaptive" and settings.step is not None:
        found.append((("step",), "no step with method adaptive, which chooses its own (accuracy: rtol)"))
    if settings.field == "spectral" and settings.dim not in (2, 3):
        found.append(
            (
                ("field",),
                f"auto or direct: the spectral field exists for dim 2 and 3, and dim is {settings.dim}",
            )
        )
    if settings.field == "spectral" and getattr(kernel.weight, "profile", "gaussian") != "gaussian":
        found.append(
            (
                ("field",),
                "auto or direct: the spectral field exists for weight 1, Toeplitz and gaussian weights only",
            )
        )
    if settings.precision == "float32" and settings.backend != "cupy":
        found.append((("precision",), f"float64: float32 needs backend cupy, not {settings.backend}"))
    if settings.precision == "float32" and settings.method == "adaptive" and settings.rtol < COARSEST_SINGLE:
        found.append((("rtol",), f"at least {COARSEST_SINGLE:g} with precision float32, which rounds more"))
    if settings.mode_degrees > 0 and settings.dim not in (2, 3):
        found.append((("mode_degrees",), f"0: modes exist for dim 2 and 3, and dim is {settings.dim}"))
    if settings.normalization == "softmax" and kernel.phi != "exponential":
        found.append((("normalization",), "none: softmax needs a kernel with exponential phi"))
    return found
