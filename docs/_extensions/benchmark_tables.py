"""Tables of what ``benchmarks/*.py`` measured, from the files they wrote; nothing is typed in by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import benchmark_figure

Row = Mapping[str, Any]


def field(root: Path) -> str:
    """Evaluations of the field: direct against its limit, spectral by size and beta."""
    return _measured(root, "field", _field_tables)


def trajectory(root: Path) -> str:
    """One trajectory, this package beside other integrators."""
    return _measured(root, "trajectory", _trajectory_table)


def device(root: Path) -> str:
    """Evaluations of the field on a CUDA device, beside other libraries."""
    return _measured(root, "gpu", _device_tables)


def _measured(
    root: Path, name: str, write: Callable[[Mapping[str, Any]], str]
) -> str:
    path = root / "benchmarks" / "results" / f"{name}.json"
    if not path.exists():
        return (
            f"*(Not measured yet on the machine that built this site: `python benchmarks/{name}.py` "
            "writes the numbers that stand here.)*"
        )
    data = json.loads(path.read_text(encoding="utf-8"))
    return f"{write(data['results'])}\n\nMeasured on: {_machine(data['machine'])}."


def _machine(facts: Mapping[str, Any]) -> str:
    shown = {
        key: str(value)
        for key, value in facts.items()
        if isinstance(value, (str, int, float))
    }
    return "; ".join(
        f"{key.replace('_', ' ')} {value}" for key, value in sorted(shown.items())
    )


def _field_tables(results: Mapping[str, Any]) -> str:
    rows: Sequence[Row] = results["evaluations"]
    direct = _table(
        ("n", "d", "beta", "ns per ordered pair", "times the limit"),
        [
            (
                row["n"],
                row["dim"],
                f"{row['beta']:g}",
                f"{row['ns_per_pair']:.2f}",
                f"{row['ratio_to_limit']:.2f}",
            )
            for row in rows
            if row["field"] == "direct"
        ],
    )
    spectral = _table(
        ("n", "d", "beta", "tolerance", "degree", "milliseconds"),
        [
            (
                row["n"],
                row["dim"],
                f"{row['beta']:g}",
                f"{row['tolerance']:.0e}",
                row["degree"],
                f"{row['milliseconds']:.3g}",
            )
            for row in rows
            if row["field"] == "spectral"
        ],
    )
    limit = f"One exponential takes {results['ns_per_exponential']:.2f} ns."
    parts = [
        benchmark_figure.field(results),
        f"Direct field. {limit}",
        direct,
        "Spectral field, one evaluation on one thread.",
        spectral,
        _weighted_tables(rows),
    ]
    return "\n\n".join(part for part in parts if part)


def _weighted_tables(rows: Sequence[Row]) -> str:
    """A weight of labels by its matrix and by its products, if that was measured."""
    found = [row for row in rows if row["field"].endswith("weighted")]
    if not found:
        return ""
    table = _table(
        ("field", "n", "d", "beta", "products", "milliseconds"),
        [
            (
                row["field"].removesuffix(" weighted"),
                row["n"],
                row["dim"],
                f"{row['beta']:g}",
                row.get("rank", "matrix"),
                f"{row['milliseconds']:.3g}",
            )
            for row in found
        ],
    )
    return f"With a weight of labels, one evaluation on one thread.\n\n{table}"


def _device_tables(results: Mapping[str, Any]) -> str:
    rows = [
        (
            row["n"],
            row["runs"],
            row["name"],
            row.get("why_not") or f"{row['pairs_per_second']:.2g}",
            _percent(row.get("part_of_limit")),
            _number(row.get("largest_difference")),
        )
        for row in results["evaluations"]
    ]
    heads = (
        "n",
        "runs",
        "library",
        "pairs per second",
        "of the limit",
        "largest difference",
    )
    limits = "; ".join(
        f"{precision}: a multiply-add takes {found['multiply_adds']:.2g} ns, "
        f"an exponential {found['exponentials']:.2g} ns"
        for precision, found in results["limits"].items()
    )
    return f"{results['device']}, all of it at work: {limits}.\n\n{_table(heads, rows)}"


def _percent(part: float | None) -> str:
    return "" if part is None else f"{100.0 * part:.0f} %"


def _trajectory_table(results: Mapping[str, Any]) -> str:
    rows = [
        (
            row["name"],
            _finish(row),
            _number(row.get("seconds")),
            _number(row.get("error")),
        )
        for row in results["runs"]
    ]
    title = "n = {n}, d = {dim}, beta = {beta:g}, from random tokens to tau = {tau:g}.".format(
        **results
    )
    table = _table(("integrator", "finished", "seconds", "largest error"), rows)
    ratios = "\n".join(f"- {line}" for line in results.get("ratios", ()))
    peers = ", ".join(
        f"{name} {found}" for name, found in results.get("peers", {}).items()
    )
    parts = [title, table, ratios, f"Contenders: {peers}." if peers else ""]
    return "\n\n".join(part for part in parts if part)


def _finish(row: Row) -> str:
    if row.get("finished", True):
        return "yes"
    reached = row.get("tau_reached")
    return "no" if reached is None else f"no, stopped at tau = {reached:.3g}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
