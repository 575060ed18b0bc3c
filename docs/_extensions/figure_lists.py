"""The gallery of all figures, and the table figure -> rule -> function that the README and the site share.

Both follow from ``config.yaml``, the captions of the report and the docstrings. ``python
docs/_extensions/figure_lists.py`` writes the table into the README.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

README_TABLE = re.compile(
    r"(<!-- figure table -->\n).*?(<!-- end of figure table -->)", re.DOTALL
)


@dataclass(frozen=True)
class Kind:
    """A section of the configuration whose entries are drawn.

    Attributes
    ----------
    section
        Its name there.
    rule
        The rule of the workflow that draws an entry.
    folder
        Where the result goes, in ``results/``; also the package that has the functions.
    made, shown
        Endings of the file that a reader asks for, and of the picture on the site.
    """

    section: str
    rule: str
    folder: str
    made: str
    shown: str


KINDS = (
    Kind("figures", "draw", "figures", "pdf", "png"),
    Kind("films", "film", "films", "mp4", "gif"),
    Kind("pages", "page", "films", "html", ""),
)


def table(root: Path) -> str:
    """The table figure -> rule -> function, films and pages included, as Markdown."""
    rows = [
        f"| `{kind.folder}/{name}.{kind.made}` | `{kind.rule}` | `usaav.{kind.folder}.{entry['draw']}` "
        f"| {_listed(entry['experiments'])} |"
        for kind, name, entry in _entries(root)
    ]
    head = [
        "| in `results/` | rule | drawn by | from the experiments |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *rows])


def _listed(experiments: list[str]) -> str:
    shown = experiments if len(experiments) <= 4 else [*experiments[:3], "..."]
    return ", ".join(shown)


def gallery(root: Path) -> str:
    """One section for each figure, film and page: picture, caption, the command that makes it."""
    return "\n\n".join(_section(root, *entry) for entry in _entries(root))


def _section(root: Path, kind: Kind, name: str, entry: dict) -> str:
    caption = root / "workflow" / "report" / kind.section / f"{name}.rst"
    text = (
        caption.read_text(encoding="utf-8").strip()
        if caption.exists()
        else _summary(root, kind, entry["draw"])
    )
    file = f"results/{kind.folder}/{name}"
    if not kind.shown:
        picture = ""
    elif (root / f"{file}.{kind.shown}").exists():
        picture = f"![{name}: {_plain(text)}](../{file}.{kind.shown})"
    else:
        picture = "*(No picture here: this site was built before it was made.)*"
    experiments = ", ".join(
        f"[{key}](experiments.md#{anchor(key)})" for key in entry["experiments"]
    )
    parts = [
        f"## {name}" if kind.rule == "draw" else f"## {name} ({kind.rule})",
        picture,
        text,
        f"Drawn by `usaav.{kind.folder}.{entry['draw']}` from {experiments}.",
        f"```bash\nsnakemake --cores all {file}.{kind.made}\n```",
    ]
    return "\n\n".join(part for part in parts if part)


def anchor(title: str) -> str:
    """The anchor that MyST gives to a heading of one word."""
    return title.lower()


def _summary(root: Path, kind: Kind, module: str) -> str:
    """First paragraph of the docstring of a drawing function's module."""
    source = (root / "src" / "usaav" / kind.folder / f"{module}.py").read_text(
        encoding="utf-8"
    )
    return (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]


def _plain(text: str) -> str:
    """Text fit for the description of a picture."""
    return re.sub(r"[\[\]`*]", "", " ".join(text.split()))


def _entries(root: Path) -> Iterator[tuple[Kind, str, dict]]:
    """What config.yaml has drawn: kind, name, settings."""
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    for kind in KINDS:
        for name, entry in config.get(kind.section, {}).items():
            yield kind, name, entry


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
