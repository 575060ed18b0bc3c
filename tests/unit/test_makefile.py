"""The set-up that `make` does: once, again when a lock file changes, and wherever the clone lies.

A stand-in for Python takes the place of the interpreter, so that nothing is installed: it writes down how it
was called, and `-m venv` makes a `.venv/bin/python` that is the stand-in itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

STAND_IN = """#!/bin/sh
printf '%s\\n' "$*" >> "{log}"
if [ "$1 $2" = "-m venv" ]; then
    for last in "$@"; do :; done
    mkdir -p "$last/bin" && cp "{python}" "$last/bin/python"
fi
"""


# Without what an outer `make test` hands down, such as its ARGS.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}
}


class Clone:
    """A folder with the files that set-up reads, and a stand-in for Python beside it."""

    def __init__(self, repo: Path, folder: Path) -> None:
        self.root = folder / "a 'clone' à côté"
        self.log = folder / "calls"
        self.python = folder / "the python"
        shutil.copytree(repo / "envs", self.root / "envs")
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(repo / name, self.root / name)
        self.python.write_text(STAND_IN.format(log=self.log, python=self.python), encoding="utf-8")
        self.python.chmod(0o755)

    def make(self, *arguments: str) -> list[str]:
        """Run `make`, and return how the stand-in was called."""
        self.log.write_text("", encoding="utf-8")
        command = ["make", f"PYTHON={self.python}", *arguments]
        subprocess.run(command, cwd=self.root, env=ENVIRONMENT, check=True, capture_output=True)
        return self.log.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def clone(repo: Path, tmp_path: Path) -> Clone:
    return Clone(repo, tmp_path)


def installs(calls: list[str]) -> list[str]:
    """What was installed, by the last word of each call of pip."""
    return [call.rsplit(" ", 1)[1] for call in calls if "-m pip" in call and " install " in call]


BUILD, RUNTIME, DEV = (f"envs/requirements{suffix}.txt" for suffix in ("-build", "", "-dev"))


def test_first_call_installs_the_lock_file_and_the_package(clone: Clone) -> None:
    calls = clone.make("figures")
    assert installs(calls) == [BUILD, RUNTIME, "."]
    assert all("--require-hashes" in call for call in calls if "envs/" in call)
    assert calls[-1] == "-m snakemake --cores all"


def test_second_call_sets_nothing_up(clone: Clone) -> None:
    clone.make("figures")
    (clone.root / RUNTIME).touch()
    assert clone.make("figures", "CORES=2", "ARGS=--dry-run") == ["-m snakemake --cores 2 --dry-run"]


def test_tests_need_more_and_figures_then_nothing(clone: Clone) -> None:
    clone.make("figures")
    assert installs(clone.make("test")) == [BUILD, DEV, "."]
    assert installs(clone.make("figures")) == []


def test_changed_lock_file_is_installed_into_the_same_environment(clone: Clone) -> None:
    clone.make("figures")
    with (clone.root / RUNTIME).open("a", encoding="utf-8") as lock:
        lock.write("# changed\n")
    calls = clone.make("figures")
    assert installs(calls) == [BUILD, RUNTIME, "."]
    assert not any("-m venv" in call for call in calls)


def test_moved_clone_makes_its_environment_anew(clone: Clone) -> None:
    clone.make("figures")
    clone.root = clone.root.rename(clone.root.with_name("elsewhere"))
    assert any(call == "-m venv --clear .venv" for call in clone.make("figures"))


def test_interrupted_set_up_is_done_again(clone: Clone) -> None:
    clone.make("figures")
    (clone.root / ".venv/bin/python").unlink()
    for stamp in (clone.root / ".venv").glob(".runtime-*"):
        stamp.unlink()
    assert installs(clone.make("figures")) == [BUILD, RUNTIME, "."]


def test_missing_python_is_named(clone: Clone) -> None:
    clone.python = Path("/nowhere/python3")
    with pytest.raises(subprocess.CalledProcessError) as failure:
        clone.make("figures")
    message = failure.value.stderr.decode()
    assert "needs Python 3.11 or newer" in message
    assert "/nowhere/python3" in message
    assert "make PYTHON=" in message


def test_clean_keeps_the_page_about_results(clone: Clone) -> None:
    for name in ("results/README.md", "results/figures/rope.pdf", ".snakemake/log"):
        (clone.root / name).parent.mkdir(parents=True, exist_ok=True)
        (clone.root / name).touch()
    clone.make("clean")
    assert [path.name for path in (clone.root / "results").iterdir()] == ["README.md"]
    assert not (clone.root / ".snakemake").exists()


def test_help_lists_every_target(clone: Clone) -> None:
    text = subprocess.run(
        ["make"], cwd=clone.root, env=ENVIRONMENT, check=True, capture_output=True, text=True
    ).stdout
    for target in ("figures", "test", "lint", "docs", "lock", "clean"):
        assert f"make {target} " in text


def test_the_environment_of_another_place_is_not_cleared_through_a_link(clone: Clone, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    (clone.root / ".venv").symlink_to(other)
    with pytest.raises(subprocess.CalledProcessError) as failed:
        clone.make("figures")
    assert ".venv is a link" in failed.value.stderr.decode()
    assert clone.log.read_text(encoding="utf-8") == ""
    assert [path.name for path in other.iterdir()] == ["kept"]
