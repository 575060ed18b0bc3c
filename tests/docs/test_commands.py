"""Every command of the README and the site exists; those of Snakemake are read by Snakemake, and run dry."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from snakemake.cli import parse_args

from docs.blocks import Block, blocks, commands, pages
from usaav.config import load

REPO = Path(__file__).resolve().parents[2]
#: commands of the system that need no test
PLAIN = ("source",)


def shell_blocks() -> list[Block]:
    return [
        block
        for page in pages(REPO)
        for block in blocks(page)
        if block.language == "bash" and not block.skipped
    ]


def all_commands(program: str) -> list[str]:
    """The different commands of the pages that begin with `program`."""
    found = [line for block in shell_blocks() for line in commands(block) if line.split()[0] == program]
    return sorted(set(found))


def written_files(page: Path) -> list[Block]:
    """What a page tells the reader to write into files of his own, and not into the package."""
    return [block for block in blocks(page) if block.action == "file" and not block.note.startswith("src/")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the configuration and the files that pages tell the reader to write."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(REPO / "config", folder / "config")
    shutil.copy(REPO / "config.yaml", folder)
    for page in pages(REPO):
        for block in written_files(page):
            (folder / block.note).write_text(block.text, encoding="utf-8")
    return folder


def adds_to_the_package(command: str) -> bool:
    """Whether a command needs code that its page adds; tests/docs/test_additions.py runs those."""
    return "mean_length" in command or "rising_energy" in command


def parsed(command: str) -> Namespace:
    """What Snakemake makes of the words; an option that it does not know is an error."""
    _, arguments = parse_args(shlex.split(command)[1:])
    return arguments


SNAKEMAKE = [line for line in all_commands("snakemake") if not adds_to_the_package(line)]


@pytest.mark.parametrize("command", SNAKEMAKE)
def test_options_and_settings_of_the_command_are_valid(command: str, folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    arguments = parsed(command)
    files = arguments.configfile or [Path("config.yaml")]
    config = load(files, dict(setting.split("=", 1) for setting in arguments.config or []))
    assert config.cases()


@pytest.mark.workflow
def test_targets_of_all_commands_exist(folder: Path) -> None:
    # in one dry run, and of the small configuration, which has the same figures: the large one takes long
    targets = sorted({target for command in SNAKEMAKE for target in parsed(command).targets})
    assert {"figures", "verify"} <= set(targets)
    here = ["-s", str(REPO / "Snakefile"), "--directory", str(folder), "--cores", "1", "--dry-run"]
    words = [*here, *targets, "--configfile", str(folder / "config" / "quick.yaml")]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_snakemake_commands_are_found() -> None:
    assert len(all_commands("snakemake")) >= 10


@pytest.mark.parametrize("command", all_commands("make"))
def test_make_has_the_target(command: str) -> None:
    words = shlex.split(command)[1:]
    targets = [word for word in words if "=" not in word]
    variables = [word.split("=")[0] for word in words if "=" in word]
    makefile = (REPO / "Makefile").read_text(encoding="utf-8")
    assert targets
    for target in targets:
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), target
    for variable in variables:
        assert re.search(rf"^{variable} \?=", makefile, re.MULTILINE), variable


def test_no_other_commands() -> None:
    for block in shell_blocks():
        for line in commands(block):
            assert line.split()[0] in {"snakemake", "make", *PLAIN}, f"{block}: {line}"


def test_inline_commands_name_what_exists() -> None:
    """Commands within sentences: make targets and scripts."""
    makefile = (REPO / "Makefile").read_text(encoding="utf-8")
    for page in pages(REPO):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"`make ([a-z]+)[^`]*`", text):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"
        for script in re.findall(r"`python ([\w/.]+\.py)", text):
            assert (REPO / script).exists(), f"{page.name}: {script}"


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (REPO / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (REPO / link).exists(), link
