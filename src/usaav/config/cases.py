"""A case: one simulation job, that is one point of a sweep with all its seeds.

The text of :meth:`Case.to_json` is what the workflow passes to a job and compares between runs, and what
every data file carries; equal settings give equal text however they were spelt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from usaav.config.fits import misfits
from usaav.config.kernel_models import KernelSpec
from usaav.config.label_models import LabelLaw, PointsFile
from usaav.config.law_models import TokenLaw
from usaav.config.part_models import PrefixGauge
from usaav.config.problems import raise_problems, translate
from usaav.config.values import Count, Number, Positive, Spec, Whole, faults
from usaav.errors import ConfigError

Backend = Literal["auto", "numba", "numpy", "cupy"]
Precision = Literal["float64", "float32"]
Method = Literal["adaptive", "layers"]
Normalization = Literal["none", "softmax"]
Field_ = Literal["auto", "direct", "spectral"]
Tolerance = Annotated[Number, Field(ge=1e-14, le=1e-2)]
Angle = Annotated[Number, Field(ge=1e-6, le=3.0)]
Degrees = Annotated[Whole, Field(ge=0, le=1000)]
Dim = Annotated[Whole, Field(ge=2, le=4096)]
Seed = Annotated[Whole, Field(ge=0, lt=2**63)]


class CaseSettings(Spec):
    """All that the numbers of one case depend on, besides its seeds."""

    kernel: KernelSpec
    labels: LabelLaw | None
    initial: TokenLaw
    dim: Dim
    n_tokens: Count
    times: tuple[float, ...] = Field(min_length=1)
    snapshots: tuple[int, ...] = Field(min_length=1)
    method: Method
    step: Positive | None
    normalization: Normalization
    backend: Backend
    precision: Precision = "float64"
    field: Field_
    rtol: Tolerance
    merge_angle: Angle
    stored_tokens: Count
    mode_degrees: Degrees

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        found = misfits(self)
        if found:
            raise faults(found)
        return self

    @property
    def n_targets(self) -> int | None:
        """Number of prefix targets (rows given, or to be drawn); None for kernels without targets."""
        if not isinstance(self.kernel.gauge, PrefixGauge):
            return None
        if self.kernel.gauge.n_targets is not None:
            return self.kernel.gauge.n_targets
        return getattr(self.labels, "count", None) or self.n_tokens


_SETTINGS: TypeAdapter[CaseSettings] = TypeAdapter(CaseSettings)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


@dataclass(frozen=True)
class Case:
    """One simulation job.

    Attributes
    ----------
    experiment
        Name of the experiment, a folder in ``results/simulations``.
    name
        Name of the case, the stem of its file; never parsed.
    seeds
        One independent run each.
    settings
        Everything else that the simulation needs.
    parameters
        What distinguishes the case within its experiment: ``variant`` and the swept keys with their values.
    """

    experiment: str
    name: str
    seeds: tuple[int, ...]
    settings: CaseSettings
    parameters: Mapping[str, float | str]

    def to_json(self) -> str:
        """The case as canonical JSON: sorted keys, shortest exact numbers, ASCII."""
        return _text(
            {
                "experiment": self.experiment,
                "name": self.name,
                "seeds": self.seeds,
                "settings": self.settings.model_dump(mode="json"),
                "parameters": dict(self.parameters),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Case:
        """The case of :meth:`to_json`.

        Raises
        ------
        ConfigError
            The text is not the JSON of a case.
        """
        try:
            data = json.loads(text)
            settings = data["settings"]
            experiment, name = str(data["experiment"]), str(data["name"])
            seeds = tuple(int(seed) for seed in data["seeds"])
            parameters = dict(data["parameters"])
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"not the JSON of a case ({error!r}): {text[:80]!r}") from None
        try:
            return cls(experiment, name, seeds, _SETTINGS.validate_python(settings), parameters)
        except ValidationError as error:
            prefix = (experiment, name)
            raise_problems([problem.below(*prefix) for problem in translate(error, CaseSettings, settings)])
            raise

    @property
    def draw_key(self) -> str:
        """What the initial tokens of a seed depend on, as text.

        Seed k so starts alike alone, in a sweep, and at every beta.
        """
        drawn = self.settings.model_dump(mode="json", include={"dim", "initial", "n_tokens"})
        return _text(drawn)

    @property
    def label_key(self) -> str:
        """What the labels of a seed depend on, as text (see :attr:`draw_key`)."""
        return _text(self.settings.model_dump(mode="json", include={"labels", "n_tokens"}))

    @property
    def files(self) -> tuple[str, ...]:
        """CSV files that the case reads (inputs of its job), as paths from the working directory."""
        laws = [
            self.settings.labels,
            self.settings.initial,
            getattr(self.settings.kernel.gauge, "targets", None),
        ]
        return tuple(dict.fromkeys(law.file for law in laws if isinstance(law, PointsFile)))
