"""The kernels compile for every architecture from sm_70 to sm_90, by whatever compiler is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.compilers import Compiler, at_hand
from usaav.gpu.field import Kind

KINDS = [
    *(Kind(dim) for dim in range(2, 10)),
    Kind(64),
    Kind(3, exponential=False),
    Kind(3, softmax=True),
    Kind(12, softmax=True, precision="float32"),
    Kind(3, weight="distance", precision="float32"),
    Kind(3, weight="square", periodic=True),
    Kind(3, exponential=False, weight="distance", periodic=True),
    Kind(2, weight="cosines", orders=3, precision="float32"),
    Kind(8, weight="cosines", orders=256),
    Kind(12, exponential=False, weight="cosines", orders=2),
]
ARCHITECTURES = (70, 75, 80, 86, 89, 90)


@pytest.fixture
def compilers(repo: Path, tmp_path: Path) -> list[Compiler]:
    found = at_hand(repo, tmp_path)
    if not found:
        pytest.skip("neither NVRTC (make cuda) nor nvcc is here")
    return found


def compiler_for(architecture: int, compilers: list[Compiler]) -> Compiler:
    for compiler in compilers:
        if architecture in compiler.architectures():
            return compiler
    pytest.skip(f"no compiler here knows sm_{architecture} (make cuda brings one)")


def name(kind: Kind) -> str:
    return " ".join(option for option in kind.options if option.startswith("-D"))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_each_architecture(architecture: int, compilers: list[Compiler]) -> None:
    compiled, said = compiler_for(architecture, compilers).compile(Kind(3), architecture)
    assert compiled, said
    assert "field.cu" not in said  # no warning


@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_each_kind_of_interaction(kind: Kind, compilers: list[Compiler]) -> None:
    compiled, said = compiler_for(90, compilers).compile(kind, 90)
    assert compiled, said
    assert "field.cu" not in said  # no warning


def test_what_is_wrong_is_said(compilers: list[Compiler]) -> None:
    for compiler in compilers:
        compiled, said = compiler.compile(Kind(3, weight="square", precision="float32", orders=-1), 90)
        assert compiled, said
        compiled, said = compiler.compile(Kind(-3), 90)
        assert not compiled
        assert "error" in said
