"""Quantiles of label laws against their samples."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import TypeAdapter

from usaav.config.label_models import LabelLaw
from usaav.errors import DataError
from usaav.laws.labels import draw
from usaav.laws.quantiles import quantiles
from usaav.metrics import circle_wasserstein

LAWS = [
    {"law": "grid"},
    {"law": "grid", "count": 5},
    {"law": "uniform", "start": 1.0, "stop": 2.0},
    {"law": "von_mises", "kappa": 4.0, "mean": 3.0},
    {"law": "arcs", "arcs": [[3.5, 5.0], [0.5, 1.5]]},
    {"law": "atoms", "positions": [4.0, 1.0, 0.0], "weights": [1, 2, 3]},
    {"law": "atoms", "positions": [4.0, 1.0]},
    {"law": "cantor"},
]


def law_of(mapping):
    return TypeAdapter(LabelLaw).validate_python(mapping)


@pytest.mark.parametrize("mapping", LAWS, ids=str)
def test_quantiles_are_near_a_large_sample(mapping):
    law = law_of(mapping)
    sample = draw(law, 20_000, np.random.default_rng(0))
    assert circle_wasserstein(sample, quantiles(law, 4096)) < 0.03
    # and nearer than the sample is to another one
    assert circle_wasserstein(quantiles(law, 4096), quantiles(law, 65536)) < 2e-3


def test_quantiles_of_a_file(tmp_path):
    (tmp_path / "labels.csv").write_text("1.0\n2.0\n")
    law = law_of({"law": "points", "file": str(tmp_path / "labels.csv")})
    assert quantiles(law, 4).tolist() == [1.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize("law", [None, law_of({"law": "prompts"})])
def test_prompts_have_no_quantiles(law):
    with pytest.raises(DataError, match="quantiles"):
        quantiles(law, 4)
