"""A reader follows the pages that add a figure and a claim, to the letter, and runs what they say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import blocks, commands

REPO = Path(__file__).resolve().parents[2]
MADE = {
    "own_figure.md": "results/figures/mean_length.pdf",
    "own_claim.md": "results/claims.csv",
}


def follow(page: Path, code: Path, folder: Path) -> list[str]:
    """Write and insert what the page says; return its Snakemake commands."""
    found = []
    for block in blocks(page):
        if block.action == "file":
            place = (code if block.note.startswith("src/") else folder) / block.note
            place.write_text(block.text, encoding="utf-8")
        elif block.action == "insert":
            match = re.fullmatch(r"(\S+) after `(.+)`", block.note)
            assert match, f"{block}: what comes after which line?"
            target, line = code / match[1], f"{match[2]}\n"
            text = target.read_text(encoding="utf-8")
            assert text.count(line) == 1, f"{match[1]} has no line {match[2]!r}"
            target.write_text(text.replace(line, line + block.text), encoding="utf-8")
        elif block.language == "bash":
            found += commands(block)
    return found


@pytest.mark.workflow
@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_what_the_page_adds_works(name: str, tmp_path) -> None:
    code, folder = tmp_path / "code", tmp_path / "run"
    folder.mkdir()
    for part in ("src", "workflow", "profiles", "envs"):
        shutil.copytree(REPO / part, code / part)
    shutil.copy(REPO / "Snakefile", code)
    (command,) = follow(REPO / "docs" / "how_to" / name, code, folder)
    words = ["2" if word == "all" else word for word in shlex.split(command)[1:]]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "snakemake",
            "-s",
            str(code / "Snakefile"),
            "--directory",
            str(folder),
            *words,
        ],
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(code / "src")},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / MADE[name]).exists()
