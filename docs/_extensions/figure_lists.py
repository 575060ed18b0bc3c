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
    """One section for each figure and film: picture, caption, the command that makes it."""
    config = _config(root)
    sections = [
        _section(root, kind, name, entry)
        for kind in ("figures", "films")
        for name, entry in config.get(kind, {}).items()
    ]
    return "\n\n".join(sections)


def _section(root: Path, kind: str, name: str, entry: dict) -> str:
    shown, made = ("png", "pdf") if kind == "figures" else ("gif", "mp4")
    caption = root / "workflow" / "report" / kind / f"{name}.rst"
    text = (
        caption.read_text(encoding="utf-8").strip()
        if caption.exists()
        else _summary(root, kind, entry["draw"])
    )
    if (root / "results" / kind / f"{name}.{shown}").exists():
        picture = f"![{name}: {_plain(text)}](../results/{kind}/{name}.{shown})"
    else:
        picture = "*(No picture here: this site was built before it was made.)*"
    experiments = ", ".join(
        f"[{key}](experiments.md#{anchor(key)})" for key in entry["experiments"]
    )
    title = f"{name} (film)" if kind == "films" else name
    return "\n\n".join(
        [
            f"## {title}",
            picture,
            text,
            f"Drawn by `usaav.{kind}.{entry['draw']}` from {experiments}.",
            f"```bash\nsnakemake --cores all results/{kind}/{name}.{made}\n```",
        ]
    )


def anchor(title: str) -> str:
    """The anchor that MyST gives to a heading of one word."""
    return title.lower()


def _summary(root: Path, kind: str, module: str) -> str:
    """First paragraph of the docstring of a drawing function's module."""
    source = (root / "src" / "usaav" / kind / f"{module}.py").read_text(
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
