"""The gallery of all figures, and the table figure -> rule -> function that the README and the site share.

Both follow from ``config.yaml``, the captions of the report and the docstrings. ``python
docs/_extensions/figure_lists.py`` writes the table into the README.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import yaml

README_TABLE = re.compile(
    r"(<!-- figure table -->\n).*?(<!-- end of figure table -->)", re.DOTALL
)


def table(root: Path) -> str:
    """The table figure -> rule -> function, films included, as Markdown."""
    config = _config(root)
    rows = [
        f"| `{kind}/{name}` | `{rule}` | `usaav.{kind}.{entry['draw']}` | {', '.join(entry['experiments'])} |"
        for kind, rule in (("figures", "draw"), ("films", "film"))
        for name, entry in config.get(kind, {}).items()
    ]
    return "\n".join(
        [
            "| in `results/` | rule | drawn by | from the experiments |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def gallery(root: Path) -> str:
    """One section for each figure: picture, caption, the command that makes it."""
    config = _config(root)
    sections = [
        _section(root, name, entry)
        for name, entry in config.get("figures", {}).items()
    ]
    return "\n\n".join(sections)


def _section(root: Path, name: str, entry: dict) -> str:
    caption = root / "workflow" / "report" / "figures" / f"{name}.rst"
    text = (
        caption.read_text(encoding="utf-8").strip()
        if caption.exists()
        else _summary(root, entry["draw"])
    )
    if (root / "results" / "figures" / f"{name}.png").exists():
        picture = f"![{name}: {_plain(text)}](../results/figures/{name}.png)"
    else:
        picture = (
            "*(No picture here: this site was built before the figure was made.)*"
        )
    experiments = ", ".join(
        f"`{experiment}`" for experiment in entry["experiments"]
    )
    command = f"```bash\nsnakemake --cores all results/figures/{name}.pdf\n```"
    drawn = f"Drawn by `usaav.figures.{entry['draw']}` from the experiments {experiments}."
    return f"## {name.replace('_', ' ')}\n\n{picture}\n\n{text}\n\n{drawn}\n\n{command}"


def _summary(root: Path, module: str) -> str:
    """First paragraph of the docstring of a drawing function's module."""
    source = (root / "src" / "usaav" / "figures" / f"{module}.py").read_text(
        encoding="utf-8"
    )
    return (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]


def _plain(text: str) -> str:
    """Text fit for the description of a picture."""
    return re.sub(r"[\[\]`*]", "", " ".join(text.split()))


def _config(root: Path) -> dict:
    config: dict = yaml.safe_load(
        (root / "config.yaml").read_text(encoding="utf-8")
    )
    return config


def readme_with_table(root: Path) -> str:
    """The text of the README with the table as it should be."""
    text = (root / "README.md").read_text(encoding="utf-8")
    return README_TABLE.sub(
        lambda match: f"{match[1]}{table(root)}\n{match[2]}", text
    )


if __name__ == "__main__":
    here = Path(__file__).resolve().parents[2]
    (here / "README.md").write_text(readme_with_table(here), encoding="utf-8")
    sys.stdout.write("README.md has the table of figures of config.yaml.\n")
