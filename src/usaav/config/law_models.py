"""Settings of the laws on the sphere, from which initial tokens and prefix targets are drawn.

The samplers are in :mod:`usaav.laws.points`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from usaav.config.label_models import Concentration, Fraction, PointsFile, check_weights
from usaav.config.values import Count, Faults, Number, Spec, Vector, fault


class Points(Spec):
    """Base of the laws on the sphere S^{d-1}."""

    count: Count | None = Field(
        default=None,
        description="Number of prefix targets to draw (under kernel.targets only); null: one per prompt.",
    )

    @property
    def in_gauge(self) -> bool:
        """Whether the drawn points are gauge coordinates z, to be mapped to tokens by x = G^T z."""
        return False

    def needs(self, dim: int) -> Faults:
        """What is wrong with this law in dimension `dim`: pairs (key, expected)."""
        return []


def _direction(vector: tuple[float, ...], *key: str) -> None:
    if math.hypot(*vector) < 1e-12:
        raise fault("a vector that is not zero", *key)


def _length(vector: tuple[float, ...] | None, dim: int, key: str) -> Faults:
    if vector is None or len(vector) == dim:
        return []
    return [((key,), f"{dim} components, as dim is {dim}")]


class UniformPoints(Points):
    """Independent, uniform on the sphere."""

    law: Literal["uniform"]


class VonMisesFisherPoints(Points):
    """Independent with density proportional to ``exp(kappa <mean, x>)``."""

    law: Literal["von_mises_fisher"]
    mean: Vector = Field(description="Mean direction, d components, not zero; its length does not matter.")
    kappa: Concentration = Field(description="Concentration > 0.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        _direction(self.mean, "mean")
        return self

    def needs(self, dim: int) -> Faults:
        """`mean` must have `dim` components."""
        return _length(self.mean, dim, "mean")


class HemispherePoints(Points):
    """Independent, uniform on the cap of all points within `angle` of `pole`."""

    law: Literal["hemisphere"]
    pole: Vector | None = Field(
        default=None, description="Centre of the cap, not zero; null: the last basis vector."
    )
    angle: Annotated[Number, Field(gt=0, le=math.pi)] = Field(
        default=math.pi / 2, description="Opening angle in radians from the pole; default pi/2, a hemisphere."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.pole is not None:
            _direction(self.pole, "pole")
        return self

    def needs(self, dim: int) -> Faults:
        """`pole` must have `dim` components."""
        return _length(self.pole, dim, "pole")


class AnchoredPoints(Points):
    """Pairs ``z, 2 <z, u0> u0 - z`` in gauge coordinates, z uniform on the half sphere ``<z, u0> > 0``.

    The symmetry keeps the consensus of the flow at ``u0 = e_d`` exactly (model: gauge-level universality).
    With an odd number of tokens the last one is ``u0`` itself.
    """

    law: Literal["anchored"]

    @property
    def in_gauge(self) -> bool:
        """True: these are gauge coordinates."""
        return True


class RegularPoints(Points):
    """Vertices of a regular figure; token ``i`` takes vertex ``i mod count``.

    d = 2: any polygon. d = 3: 2 poles, 4 tetrahedron, 6 octahedron, 8 cube, 12 icosahedron. Any d: 2 poles, d
    + 1 simplex, 2 d cross-polytope.
    """

    law: Literal["regular"]
    count: Count = Field(description="Number of vertices.")

    def needs(self, dim: int) -> Faults:
        """`count` must belong to a regular figure in `dim` dimensions."""
        if dim == 2 and self.count >= 2:
            return []
        known = sorted({2, dim + 1, 2 * dim} | ({8, 12} if dim == 3 else set()))
        if self.count in known:
            return []
        some = "2 or more" if dim == 2 else ", ".join(map(str, known))
        return [(("count",), f"the vertex number of a regular figure in dim {dim}: {some}")]


class SpiralPoints(Points):
    """Independent, uniform in height on the spiral from the north to the south pole (d = 3)."""

    law: Literal["spiral"]
    turns: Annotated[Number, Field(gt=0, le=1000)] = Field(
        default=4.0, description="Turns round the axis e_3."
    )

    def needs(self, dim: int) -> Faults:
        """Only on S^2."""
        return [] if dim == 3 else [(("law",), f"a law for dim {dim}; the spiral needs dim 3")]


class BandPoints(Points):
    """Independent, uniform on the band of latitudes within `width`/2 of `latitude` (axis e_d)."""

    law: Literal["band"]
    width: Annotated[Number, Field(gt=0, le=math.pi)] = Field(
        default=0.5, description="Full width in radians."
    )
    latitude: Annotated[Number, Field(ge=-math.pi / 2, le=math.pi / 2)] = Field(
        default=0.0, description="Latitude of the middle in radians; default 0, the equator."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if abs(self.latitude) + self.width / 2 > math.pi / 2 + 1e-12:
            raise fault("a band between the poles: |latitude| + width/2 <= pi/2", "width")
        return self


class FilePoints(Points, PointsFile):
    """Rows of a CSV file with d columns, each scaled to length 1.

    Fewer points than rows: a random choice without repetition, in the file's order; more: whole copies first.
    """

    law: Literal["points"]


ComponentLaw = Annotated[
    UniformPoints | VonMisesFisherPoints | HemispherePoints | SpiralPoints | BandPoints,
    Field(discriminator="law"),
]


class MixturePoints(Points):
    """Independent, each from one of several laws chosen at random."""

    law: Literal["mixture"]
    components: tuple[ComponentLaw, ...] = Field(min_length=1, max_length=1000, description="The laws.")
    weights: tuple[Fraction, ...] | None = Field(
        default=None, description="Their relative weights (any positive sum); null: equal."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for index, component in enumerate(self.components):
            if component.count is not None:
                raise fault("no count in a component; the mixture has one", "components", index, "count")
        check_weights(self.weights, len(self.components), "components")
        return self

    def needs(self, dim: int) -> Faults:
        """Each component must fit `dim`."""
        return [
            (("components", index, *key), expected)
            for index, component in enumerate(self.components)
            for key, expected in component.needs(dim)
        ]


TokenLaw = Annotated[
    UniformPoints
    | VonMisesFisherPoints
    | MixturePoints
    | HemispherePoints
    | AnchoredPoints
    | RegularPoints
    | SpiralPoints
    | BandPoints
    | FilePoints,
    Field(discriminator="law"),
]

Rows = Annotated[tuple[Vector, ...], Field(min_length=1, max_length=100_000)]


def _kind_of_targets(value: Any) -> str:
    return "rows" if isinstance(value, (list, tuple)) else "drawn"


Targets = Annotated[
    Annotated[Rows, Tag("rows")] | Annotated[TokenLaw, Tag("drawn")],
    Discriminator(_kind_of_targets),
]
