"""Configuration: typed models, the loader, and the cases they stand for.

Snakemake reads the configuration at every start and in every job, so nothing here imports more than pydantic,
PyYAML and numpy.
"""

from usaav.config.cases import Case, CaseSettings
from usaav.config.kernel_models import KernelSpec, parse_kernel
from usaav.config.loading import Config, from_mapping, load

__all__ = ["Case", "CaseSettings", "Config", "KernelSpec", "from_mapping", "load", "parse_kernel"]
