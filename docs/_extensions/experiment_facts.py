"""What the configuration says of one experiment: size, figures, claims, and the command that runs it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import yaml
from figure_lists import anchor

from usaav.config import Config, load


def facts(root: Path, experiment: str) -> str:
    """A list of facts, as Markdown."""
    config = _config(root)
    cases = config.cases(experiment)
    runs = sum(len(case.seeds) for case in cases)
    figures = [
        name
        for name, entry in config.figures.items()
        if experiment in entry.experiments
    ]
    tokens = _range(sorted({case.settings.n_tokens for case in cases}))
    dims = _range(sorted({case.settings.dim for case in cases}))
    latest = _latest(max(case.settings.times[-1] for case in cases))
    shown = ", ".join(f"[{name}](gallery.md#{anchor(name)})" for name in figures)
    size = f"{tokens} tokens in dimension {dims}; {len(cases)} cases, {runs} runs"
    lines = [
        f"*{_description(root, experiment)}*",
        "",
        f"- Size: {size}, to $\\tau={latest}$.",
        f"- Figures: {shown or 'none'}.",
        *_claims(root, experiment),
        "",
        f"```bash\nsnakemake --cores all --config only={experiment}\n```",
    ]
    return "\n".join(lines)


@cache
def _config(root: Path) -> Config:
    return load([root / "config.yaml"])


def _description(root: Path, experiment: str) -> str:
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    return str(config["experiments"][experiment].get("description", ""))


def _claims(root: Path, experiment: str) -> list[str]:
    """One item for each claim: what it checks, in the words of its module, and its tolerance."""
    return [
        f"- Claim `{name}`, checked by `usaav.claims.{entry.check}` with tolerance {entry.tolerance:g}: "
        f"{_summary(root, entry.check)}"
        for name, entry in _config(root).claims.items()
        if experiment in entry.experiments
    ]


def _summary(root: Path, check: str) -> str:
    source = (root / "src" / "usaav" / "claims" / f"{check}.py").read_text(
        encoding="utf-8"
    )
    first = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
    return " ".join(first.split())


def _range(values: list[int]) -> str:
    few = [f"{value:,}".replace(",", " ") for value in values]
    if len(few) > 4:
        return f"{few[0]} to {few[-1]}"
    return " or ".join([", ".join(few[:-1]), few[-1]] if len(few) > 1 else few)


def _latest(time: float) -> str:
    mantissa, _, exponent = f"{time:g}".partition("e+")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa}\times{power}"
