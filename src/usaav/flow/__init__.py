"""The flow: right-hand sides, integration, and what is recorded of a run."""

from usaav.flow.simulation import simulate

__all__ = ["simulate"]
