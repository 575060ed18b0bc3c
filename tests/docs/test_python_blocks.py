"""Every Python block of the README and the site runs, in a folder that looks like a clone."""

from __future__ import annotations

import shutil
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from docs.blocks import INERT, Block, blocks, pages

REPO = Path(__file__).resolve().parents[2]
KNOWN = {"python", "bash", "yaml"} | INERT


def python_blocks(page: Path) -> list[Block]:
    """What a reader would paste, one block after the other."""
    return [
        block
        for block in blocks(page)
        if block.language == "python" and not block.skipped and block.action != "insert"
    ]


PAGES = [page for page in pages(REPO) if python_blocks(page)]


def name_of(page: Path) -> str:
    return page.relative_to(REPO).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_of_a_page_run_one_after_the_other(page: Path, tmp_path, monkeypatch) -> None:
    for name in ("config", "config.yaml"):
        copy = shutil.copytree if (REPO / name).is_dir() else shutil.copy
        copy(REPO / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    for block in python_blocks(page):
        # line numbers of the page, so that a traceback leads there
        code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
        exec(code, namespace)
    plt.close("all")


@pytest.mark.parametrize("page", pages(REPO), ids=name_of)
def test_blocks_say_their_language_and_why_they_are_not_run(page: Path) -> None:
    for block in blocks(page):
        assert block.language in KNOWN, f"{block}: language {block.language!r}"
        if block.skipped:
            assert len(block.note) > 10, f"{block}: say why it is not run"


def test_some_blocks_are_found() -> None:
    found = [block for page in pages(REPO) for block in blocks(page)]
    assert {"python", "bash", "yaml"} <= {block.language for block in found}
    fences = sum(page.read_text(encoding="utf-8").count("\n```") for page in pages(REPO))
    directives = sum(
        page.read_text(encoding="utf-8").count(f"```{{{name}}}")
        for page in pages(REPO)
        for name in ("toctree", "eval-rst", "image")
    )
    assert len(found) == fences // 2 - directives
