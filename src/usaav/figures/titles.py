"""What experiments and variants are called in figures."""

from __future__ import annotations

from usaav.config.cases import Case
from usaav.config.kernel_models import KernelSpec
from usaav.figures.sources import name_of

_KERNELS = {
    "usa": "USA",
    "rope": "RoPE",
    "generalized_rope": "generalised RoPE",
    "prefix": "prefix",
    "distance_bias": "distance bias",
    "toeplitz": "Toeplitz",
    "combined": "combined kernel",
}

# people keep their capital
_PEOPLE = {"cantor": "Cantor", "mises": "Mises"}


def kernel_name(spec: KernelSpec, normalization: str = "none") -> str:
    """The kernel as the paper calls it, such as USA or RoPE; SA for the softmax-normalised flow."""
    if normalization == "softmax":
        return "SA" if spec.type == "usa" else f"{_KERNELS[spec.type]} (SA)"
    return _KERNELS[spec.type]


def kernel_order(spec: KernelSpec) -> int:
    """Place of the kernel among several: in the order of the paper, the baseline first."""
    return list(_KERNELS).index(spec.type)


def variant_name(case: Case) -> str:
    """The variant in words (``two_peaks`` becomes "two peaks"); empty if the case has none."""
    words = str(case.parameters.get("variant", "")).split("_")
    return " ".join(_PEOPLE.get(word, word) for word in words)


def case_title(case: Case, *keys: str) -> str:
    """Kernel, variant, and the facts `keys` of the case (see :func:`usaav.figures.sources.name_of`)."""
    kernel = kernel_name(case.settings.kernel, case.settings.normalization)
    parts = [kernel, "" if names_kernel(case) else variant_name(case), name_of(case, keys)]
    return ", ".join(part for part in parts if part)


def names_kernel(case: Case) -> bool:
    """Whether the variant is called like its kernel, so that it tells nothing more."""
    kernel = case.settings.kernel.type
    return variant_name(case).casefold() in {kernel.replace("_", " "), _KERNELS[kernel].casefold()}
