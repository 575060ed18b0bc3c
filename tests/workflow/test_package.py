"""The wheel and the sdist hold all that a run elsewhere needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow

TINY = Path(__file__).with_name("tiny.yaml")
WHERE = "import usaav; print(usaav.__file__, usaav.__version__)"


@pytest.fixture(scope="module")
def built(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel unpacked, as installing it does, and the sdist unpacked."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=repo, check=True, capture_output=True, timeout=120)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    shutil.unpack_archive(wheel, folder / "installed", "zip")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / "installed", folder / sdist.name.removesuffix(".tar.gz")


def test_the_wheel_is_the_package(built: tuple[Path, Path], tmp_path: Path) -> None:
    installed, unpacked = built
    done = subprocess.run(
        [sys.executable, "-c", WHERE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(installed / "usaav" / "__init__.py"), version("usaav")]
    sources = {
        path.relative_to(unpacked / "src")
        for path in (unpacked / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {path.relative_to(installed) for path in (installed / "usaav").rglob("*") if path.is_file()}
    assert packed == sources


def test_the_sdist_runs_the_workflow_with_the_wheel(built: tuple[Path, Path], tmp_path: Path) -> None:
    installed, unpacked = built
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "-s", str(unpacked / "Snakefile")]
    where = ["--directory", str(tmp_path), "--configfile", str(TINY), "--", "results/figures/rope.pdf"]
    done = subprocess.run(
        [*command, *where],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "results" / "figures" / "rope.pdf").read_bytes().startswith(b"%PDF")
    names = ("README.md", "LICENSE", "Makefile", "config.yaml", "envs/requirements.txt", "tests/conftest.py")
    assert all((unpacked / name).is_file() for name in names)
