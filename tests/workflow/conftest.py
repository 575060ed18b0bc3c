"""One tiny run of the whole workflow, shared by all tests, and Snakemake in a process of its own."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import netCDF4
import pytest

#: what a user's folder may be called
ODD_NAME = """it's a "café" {x} $y %s"""
TINY = Path(__file__).with_name("tiny.yaml")


@dataclass(frozen=True)
class Outcome:
    """What a run of Snakemake left behind: exit status, all its text, seconds of processor time."""

    status: int
    text: str
    seconds: float

    @property
    def jobs(self) -> dict[str, int]:
        """Rule -> number of jobs, of the rules that make something."""
        table = re.search(r"^job +count\n[- ]+\n(.*?)^total", self.text, re.DOTALL | re.MULTILINE)
        rows = [line.split() for line in table.group(1).splitlines()] if table else []
        return {
            rule: int(count) for rule, count in rows if rule not in {"all", "figures", "metrics", "films"}
        }


@dataclass(frozen=True)
class Workflow:
    """The workflow of a source tree, run in a working directory.

    Attributes
    ----------
    code
        The source tree with Snakefile, workflow, profiles and src.
    directory
        Where results go; the configuration is ``tiny.yaml`` there.
    python
        The interpreter that runs Snakemake.
    """

    code: Path
    directory: Path
    python: Path = Path(sys.executable)

    @property
    def results(self) -> Path:
        """The folder of results."""
        return self.directory / "results"

    def command(self, *words: str, config: str | None = "tiny.yaml") -> list[str]:
        """The command line; `words` are options and, after ``--``, targets."""
        files = ["--configfile", str(self.directory / config)] if config else []
        where = ["-s", str(self.code / "Snakefile"), "--directory", str(self.directory)]
        return [str(self.python), "-m", "snakemake", "--cores", "2", *where, *files, *words]

    def start(self, *words: str, config: str | None = "tiny.yaml") -> subprocess.Popen[str]:
        """Start Snakemake in a process group of its own, from a folder of neither code nor results."""
        return subprocess.Popen(
            self.command(*words, config=config),
            cwd=self.directory.parent,
            env={**os.environ, "PYTHONPATH": str(self.code / "src")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, config: str | None = "tiny.yaml") -> Outcome:
        """Run Snakemake to its end."""
        before = processor_time()
        with self.start(*words, config=config) as process:
            text, _ = process.communicate(timeout=240)
        return Outcome(process.returncode, text, processor_time() - before)

    def files(self) -> set[str]:
        """All files in results, as paths from there."""
        return {
            path.relative_to(self.results).as_posix() for path in self.results.rglob("*") if path.is_file()
        }

    def contents(self) -> dict[str, bytes]:
        """What there is in results by name, without logs and benchmarks, which tell of one run.

        Of a data file it is the digest of all that it holds but the seconds that the run took and the commit.
        """
        return {
            name: digest_of(self.results / name)
            if name.endswith(".nc")
            else (self.results / name).read_bytes()
            for name in sorted(
                self.files() - {path.relative_to(self.results).as_posix() for path in self.temporaries()}
            )
            if not name.startswith(("logs/", "benchmarks/"))
        }

    def temporaries(self) -> list[Path]:
        """Files that are being written, or were when a job was killed."""
        return list(self.results.rglob(".*.tmp"))

    def replace(self, file: str, old: str, new: str) -> None:
        """Edit the configuration (``tiny.yaml``) or a file of the code."""
        path = (self.directory if file == "tiny.yaml" else self.code) / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")


def digest_of(path: Path) -> bytes:
    """Digest of a netCDF file: every variable and attribute, with dimensions and types."""
    total = hashlib.sha256()
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        for name, variable in sorted(file.variables.items()):
            total.update(f"{name} {variable.dimensions} {variable.dtype} {variable.shape}".encode())
            total.update(variable[...].tobytes())
        for owner in (file, *file.variables.values()):
            kept = [
                name for name in owner.ncattrs() if name not in {"wall_seconds", "commit", "commit_dirty"}
            ]
            total.update(repr([(name, owner.getncattr(name)) for name in kept]).encode())
    return total.digest()


def processor_time() -> float:
    """Seconds that finished child processes have used, whatever else the machine is busy with."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold `lock`, against the other processes of a parallel test run."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def finished(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """The workflow after a whole run, in a folder with an odd name; not to be changed."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    workflow = Workflow(repo, shared / "finished" / ODD_NAME)
    with alone(shared / "finished.lock"):
        if not workflow.directory.exists():
            fresh(repo, workflow.directory)
            outcome = workflow.run()
            if outcome.status != 0:
                (shared / "failure.txt").write_text(outcome.text, encoding="utf-8")
    failure = shared / "failure.txt"
    if failure.exists():
        pytest.fail(failure.read_text(encoding="utf-8"), pytrace=False)
    return workflow


@pytest.fixture
def unstarted(repo: Path, tmp_path: Path) -> Workflow:
    """The workflow before its first run, in a folder with nothing but the configuration."""
    return fresh(repo, tmp_path / "run")


@pytest.fixture
def copy(finished: Workflow, tmp_path: Path) -> Workflow:
    """A finished run in a folder of its own, to be changed."""
    shutil.copytree(finished.directory, tmp_path / "run")
    return Workflow(finished.code, tmp_path / "run")


@pytest.fixture
def copy_with_code(copy: Workflow, tmp_path: Path) -> Workflow:
    """The same with a source tree of its own, to be changed too."""
    copy_code(copy.code, tmp_path / "code")
    return Workflow(tmp_path / "code", copy.directory)


def fresh(code: Path, directory: Path, config: Path = TINY) -> Workflow:
    """A working directory with nothing in it but the configuration, which is called ``tiny.yaml`` there."""
    directory.mkdir(parents=True)
    shutil.copy(config, directory / "tiny.yaml")
    return Workflow(code, directory)


@pytest.fixture(scope="session")
def workflow_in() -> Callable[[Path, Path, Path], Workflow]:
    """The function :func:`fresh`, for other configurations."""
    return fresh


def copy_code(code: Path, folder: Path) -> None:
    """Copy what a run needs of the source tree."""
    for name in ("src", "workflow", "profiles", "envs"):
        shutil.copytree(code / name, folder / name)
    shutil.copy2(code / "Snakefile", folder)


@pytest.fixture
def odd_clone(repo: Path, tmp_path: Path) -> Workflow:
    """A source tree and a virtual environment in a folder with an odd name, and results in another."""
    clone = tmp_path / ODD_NAME
    copy_code(repo, clone)
    venv.create(clone / ".venv", symlinks=True)
    # the packages of the environment that the tests run in
    (found,) = (clone / ".venv" / "lib").glob("python*/site-packages")
    (found / "tests.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    elsewhere = fresh(clone, tmp_path / f"results of {ODD_NAME}")
    return replace(elsewhere, python=clone / ".venv" / "bin" / "python")
