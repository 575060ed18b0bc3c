"""Every piece of configuration in the README and the site is valid; lists of figures are complete."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.blocks import Block, blocks, pages
from usaav.config import load, parse_kernel
from usaav.errors import ConfigError

REPO = Path(__file__).resolve().parents[2]


def settings_blocks() -> list[Block]:
    """Blocks of YAML; those for functions that a page adds are run in tests/docs/test_additions.py."""
    return [
        block
        for page in pages(REPO)
        for block in blocks(page)
        if block.language == "yaml"
        and not block.skipped
        and page.name not in {"own_figure.md", "own_claim.md"}
    ]


@pytest.mark.parametrize("block", settings_blocks(), ids=str)
def test_settings_are_valid(block: Block, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.csv").write_text("x,y,z\n1,0,0\n0,1,0\n", encoding="utf-8")
    settings = yaml.safe_load(block.text)
    if "kernel" in settings:
        parse_kernel(settings["kernel"])
        return
    snippet = tmp_path / "snippet.yaml"
    snippet.write_text(block.text, encoding="utf-8")
    # a file that a page calls one stands for itself, any other piece belongs into config.yaml
    files = [snippet] if block.action == "file" else [REPO / "config.yaml", snippet]
    config = load(files)
    for name in settings["experiments"]:
        assert config.cases(name)


def test_number_of_cases_of_the_sweep_is_what_the_page_says() -> None:
    (page,) = [page for page in pages(REPO) if page.name == "sweeps.md"]
    (block,) = [block for block in blocks(page) if block.language == "yaml"]
    text = page.read_text(encoding="utf-8")
    experiment = yaml.safe_load(block.text)["experiments"]["phases"]
    sizes = [
        len(experiment["n_tokens"]),
        *map(len, experiment["sweep"].values()),
        len(experiment["variants"]),
    ]
    total = 1
    for size in sizes:
        total *= size
    assert f"{' x '.join(map(str, sizes))} = {total} cases" in text


def test_a_piece_with_a_mistake_would_be_found(tmp_path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("experiments: {baseline: {sweeep: {kernel.beta: [1]}}}", encoding="utf-8")
    with pytest.raises(ConfigError, match="sweep"):
        load([REPO / "config.yaml", wrong])


@pytest.fixture
def extensions(monkeypatch) -> Callable[[str], Any]:
    """Modules of docs/_extensions, by name."""
    monkeypatch.syspath_prepend(REPO / "docs" / "_extensions")
    return importlib.import_module


def test_the_table_of_figures_in_the_readme_is_that_of_the_configuration(extensions) -> None:
    expected = extensions("figure_lists").readme_with_table(REPO)
    assert (REPO / "README.md").read_text(encoding="utf-8") == expected, (
        "the README's table is out of date: run python docs/_extensions/figure_lists.py"
    )


def test_every_model_of_the_configuration_has_a_table(extensions) -> None:
    text = extensions("configuration_tables").all_tables(REPO)
    for key in ("`n_tokens`", "`type: combined`", "`law: anchored`", "`law: prompts`", "`coefficients`"):
        assert key in text


def test_every_figure_is_in_the_gallery(extensions) -> None:
    gallery = extensions("figure_lists").gallery(REPO)
    config = yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8"))
    for name in config["figures"]:
        assert f"snakemake --cores all results/figures/{name}.pdf" in gallery


def test_every_experiment_has_its_section_with_facts(extensions) -> None:
    page = (REPO / "docs" / "experiments.md").read_text(encoding="utf-8")
    config = load([REPO / "config.yaml"])
    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == set(config.experiments)
    assert set(re.findall(r"^<!-- generated: facts of (\w+) -->$", page, re.MULTILINE)) == set(
        config.experiments
    )
    facts = extensions("experiment_facts").facts(REPO, "baseline")
    assert "usaav.claims.collapse" in facts
    assert "--config only=baseline" in facts
