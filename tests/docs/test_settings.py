"""Every piece of configuration in the README and the site is valid; lists of figures are complete."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

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


def extension(name: str) -> ModuleType:
    """A module of docs/_extensions."""
    spec = importlib.util.spec_from_file_location(name, REPO / "docs" / "_extensions" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_figures_in_the_readme_is_that_of_the_configuration() -> None:
    expected = extension("figure_lists").readme_with_table(REPO)
    assert (REPO / "README.md").read_text(encoding="utf-8") == expected, (
        "the README's table is out of date: run python docs/_extensions/figure_lists.py"
    )


def test_every_model_of_the_configuration_has_a_table() -> None:
    text = extension("configuration_tables").all_tables(REPO)
    for key in ("`n_tokens`", "`type: combined`", "`law: anchored`", "`law: prompts`", "`coefficients`"):
        assert key in text


def test_every_figure_is_in_the_gallery() -> None:
    gallery = extension("figure_lists").gallery(REPO)
    config = yaml.safe_load((REPO / "config.yaml").read_text(encoding="utf-8"))
    for name in config["figures"]:
        assert f"snakemake --cores all results/figures/{name}.pdf" in gallery
