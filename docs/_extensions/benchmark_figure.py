"""Figure of what ``benchmarks/field.py`` measured: time of one evaluation against n, with the limit."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG

from usaav.figures.style import BLACK, PAGE, Look, new_figure, ordered, styled

Row = Mapping[str, Any]


@styled
def field(results: Mapping[str, Any]) -> str:
    """An ``img`` element: direct and spectral field by beta, a panel for each dimension that has both."""
    rows: Sequence[Row] = results["evaluations"]
    rows = [
        row for row in rows if "gain_over_direct" not in row
    ]  # another tolerance
    spectral = [row for row in rows if row["field"] == "spectral"]
    betas = sorted({row["beta"] for row in spectral})
    looks = dict(zip(betas, ordered(len(betas)), strict=True))
    dims = sorted({row["dim"] for row in spectral})
    figure = new_figure(PAGE, 3.0)
    panels = figure.subplots(1, len(dims), sharey=True, squeeze=False)[0]
    for axes, dim in zip(panels, dims, strict=True):
        for beta, look in looks.items():
            _draw(axes, rows, ("direct", dim, beta), look)
            _draw(axes, rows, ("spectral", dim, beta), look)
        sizes = sorted({row["n"] for row in rows if row["field"] == "direct"})
        limit = [0.5e-6 * n**2 * results["ns_per_exponential"] for n in sizes]
        axes.plot(
            sizes,
            limit,
            color=BLACK,
            linewidth=0.8,
            linestyle=":",
            label="limit: $n^2/2$ exponentials",
        )
        axes.set_title(f"$d = {dim}$")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("number of tokens $n$")
    panels[0].set_ylabel("milliseconds an evaluation")
    panels[0].legend(loc="upper left")
    drawn = io.BytesIO()
    FigureCanvasSVG(figure).print_svg(drawn, metadata={"Date": None})
    source = base64.b64encode(drawn.getvalue()).decode()
    alt = "Milliseconds of one evaluation against the number of tokens, direct and spectral."
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{source}">'


def _draw(
    axes: Axes, rows: Sequence[Row], key: tuple[str, int, float], look: Look
) -> None:
    found = [row for row in rows if (row["field"], row["dim"], row["beta"]) == key]
    if not found:
        return
    kind, _, beta = key
    filled = look.color if kind == "spectral" else "none"
    axes.plot(
        [row["n"] for row in found],
        [row["milliseconds"] for row in found],
        color=look.color,
        linestyle=look.line,
        marker=look.marker,
        markerfacecolor=filled,
        linewidth=0.9,
        label=rf"{kind}, $\beta = {beta:g}$",
    )
