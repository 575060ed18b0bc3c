"""The files that describe the environment agree: pyproject.toml, the lock files, conda, the citation."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

# Packages that conda knows by another name.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal"}
LOCKS = (
    "requirements-build",
    "requirements",
    "requirements-cluster",
    "requirements-dev",
    "requirements-docs",
)
PIN = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ;]+)(?: ; (?P<marker>.+))? \\")
HASH = re.compile(r" {4}--hash=sha256:[0-9a-f]{64}(?: \\)?")

Pins = dict[str, set[tuple[str, str]]]


@pytest.fixture(scope="module")
def project(repo: Path) -> dict[str, Any]:
    """The whole of pyproject.toml."""
    return tomllib.loads((repo / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pins(repo: Path) -> Mapping[str, Pins]:
    """Of every lock file: name -> its (version, marker) pairs."""
    return {lock: read_pins(repo / "envs" / f"{lock}.txt") for lock in LOCKS}


def read_pins(path: Path) -> Pins:
    """Read a lock file, in which every line is the header, a pin or a hash."""
    found: Pins = {}
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    assert header == "# Written by `make lock` from pyproject.toml: versions and hashes only."
    for number, line in enumerate(lines, start=2):
        if match := PIN.fullmatch(line):
            found.setdefault(match["name"], set()).add((match["version"], match["marker"] or ""))
        else:
            assert HASH.fullmatch(line), f"{path.name}, line {number}: neither a pin nor a hash: {line}"
    return found


def assert_satisfied(requirements: list[str], pins: Pins) -> None:
    for requirement in map(Requirement, requirements):
        versions = pins.get(canonicalize_name(requirement.name))
        assert versions, f"{requirement} is not locked: run `make lock`"
        for version, _ in versions:
            assert requirement.specifier.contains(version), (
                f"{requirement}, but {version} is locked: run `make lock`"
            )


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_files_hold_only_versions_and_hashes(lock: str, pins: Mapping[str, Pins]) -> None:
    assert pins[lock]


def test_lock_files_satisfy_the_ranges(project: dict[str, Any], pins: Mapping[str, Pins]) -> None:
    extras = project["project"]["optional-dependencies"]
    build = [*project["dependency-groups"]["build"], *project["build-system"]["requires"]]
    assert_satisfied(build, pins["requirements-build"])
    assert_satisfied([*project["project"]["dependencies"], *build], pins["requirements"])
    assert_satisfied(extras["cluster"], pins["requirements-cluster"])
    assert_satisfied([*extras["test"], *extras["lint"]], pins["requirements-dev"])
    assert_satisfied(extras["docs"], pins["requirements-docs"])


def test_the_lock_file_of_the_device_compilers_satisfies_its_ranges(
    repo: Path, project: dict[str, Any]
) -> None:
    locked = read_pins(repo / "envs" / "requirements-cuda.txt")
    assert_satisfied(project["dependency-groups"]["cuda"], locked)
    assert set(project["dependency-groups"]["cuda"]) == set(
        project["project"]["optional-dependencies"]["cuda12"]
    )


def test_each_lock_file_holds_the_one_before(pins: Mapping[str, Pins]) -> None:
    for small, large in itertools.pairwise(LOCKS):
        assert pins[small].items() <= pins[large].items(), f"{small} is not part of {large}: run `make lock`"


def test_no_deep_learning_framework_is_pulled_in(pins: Mapping[str, Pins]) -> None:
    assert not {"torch", "jax", "jaxlib", "tensorflow"} & pins["requirements-docs"].keys()


def conda_ranges(path: Path) -> tuple[dict[str, SpecifierSet], list[Any]]:
    """The packages of a conda environment with their ranges, and what else it lists."""
    listed = yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]
    packages = [entry.split(" ", maxsplit=1) for entry in listed if isinstance(entry, str) and " " in entry]
    rest = [entry for entry in listed if not isinstance(entry, str) or " " not in entry]
    return {name: SpecifierSet(versions) for name, versions in packages}, rest


def expected_ranges(project: dict[str, Any]) -> dict[str, SpecifierSet]:
    """What pyproject.toml asks for, under conda's names."""
    expected = {"python": SpecifierSet(project["project"]["requires-python"])}
    for requirement in map(Requirement, project["project"]["dependencies"]):
        name = canonicalize_name(requirement.name)
        expected[CONDA_NAMES.get(name, name)] = requirement.specifier
    return expected


def test_conda_environment_has_the_ranges_of_pyproject(repo: Path, project: dict[str, Any]) -> None:
    ranges, rest = conda_ranges(repo / "envs" / "usaav.yaml")
    assert rest == ["pip", {"pip": ["-e .."]}]
    assert ranges == expected_ranges(project)
    with_cupy, rest = conda_ranges(repo / "envs" / "gpu.yaml")
    assert rest == ["pip", {"pip": ["-e .."]}]
    extras = project["project"]["optional-dependencies"]
    (cupy,) = {str(Requirement(extras[name][0]).specifier) for name in ("cuda12", "cuda13")}
    assert with_cupy == {**ranges, "cupy": SpecifierSet(cupy)}


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("analyse", {"docutils", "pygments", "snakemake-minimal"}),
        ("simulate", None),
    ],
)
def test_environments_of_rules_have_the_ranges_of_pyproject(
    repo: Path, project: dict[str, Any], name: str, left_out: set[str] | None
) -> None:
    ranges, rest = conda_ranges(repo / "envs" / f"{name}.yaml")
    expected = expected_ranges(project)
    assert not rest
    assert ranges.items() <= expected.items()
    if left_out is not None:
        assert expected.keys() - ranges.keys() == left_out


def test_each_rule_with_a_script_names_its_environment(repo: Path) -> None:
    for file in (repo / "workflow" / "rules").glob("*.smk"):
        for text in re.split(r"^rule ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name = text.split(":")[0]
            wanted = "simulate" if name.startswith("simulate") else "analyse"
            assert f'conda:\n        environment("{wanted}")' in text, name


def test_version_is_the_same_wherever_it_is_repeated(repo: Path, project: dict[str, Any]) -> None:
    version = project["project"]["version"]
    citation = yaml.safe_load((repo / "CITATION.cff").read_text(encoding="utf-8"))
    headings = re.findall(
        r"^## \[(\d[^]]*)\]", (repo / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert str(citation["version"]) == version
    assert max(headings, key=Version) == version


@pytest.mark.parametrize("name", ["Dockerfile", "usaav.def"])
def test_images_are_made_from_the_lock_files(repo: Path, name: str) -> None:
    text = (repo / name).read_text(encoding="utf-8")
    for lock in ("requirements-build", "requirements-cluster"):
        assert re.search(rf"pip install --require-hashes .*-r envs/{lock}\.txt", text)
    for part in (
        "pyproject.toml",
        "LICENSE",
        "README.md",
        "Snakefile",
        "config.yaml",
        "src",
        "workflow",
        "profiles",
    ):
        assert (repo / part).exists()
        assert re.search(rf"(COPY|^ +).*\b{re.escape(part)}\b", text, re.MULTILINE), part
