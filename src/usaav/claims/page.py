"""The table of claims as a page for readers: self-contained, for screen, print and screen reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from jinja2 import Environment

Row = Mapping[str, str]

_TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Claims: {{ holding }} of {{ rows|length }} hold</title>
<style>
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; padding: 1rem;
  max-width: 75rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #c8c8c8; vertical-align: top; }
thead th { border-bottom: 2px solid #555; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.fails td, tr.fails th { background: #fde8e8; border-bottom-color: #a40000; font-weight: 600; }
.verdict { white-space: nowrap; }
.note { min-width: 16em; }
.alarm { border: 3px solid #a40000; background: #fde8e8; padding: .6rem 1rem; }
.alarm h2 { margin-top: 0; color: #a40000; }
.calm { border: 2px solid #22662f; background: #edf7ee; padding: .6rem 1rem; }
a { color: #0b4a8f; }
code { font-size: .95em; }
@media print { body { max-width: none; font-size: 11px; } .scroll { overflow: visible; } }
</style>
</head>
<body>
<main>
<h1>Claims checked</h1>
{% if failing %}
<section class="alarm" role="alert" aria-labelledby="failing">
<h2 id="failing">{{ failing|length }} of {{ rows|length }} rows DO NOT HOLD</h2>
<ul>
{% for row in failing %}
<li><a href="#{{ row.id }}"><code>{{ row.id }}</code></a> ({{ row.case }}): measured
{{ row|decisive|short or "nothing" }}, expected {{ row|expected }}.</li>
{% endfor %}
</ul>
</section>
{% elif rows %}
<p class="calm">All {{ rows|length }} rows hold.</p>
{% else %}
<p>The configuration makes no claims.</p>
{% endif %}
<p>A statement holds for a case if every run does: <em>worst</em> is the run that deviates most, beside the
median of all runs. Where the note says so, the median is judged instead, as single runs scatter about what is
said of many tokens. A slope comes from one regression over the runs that its note counts. A run that ended
before it could be measured is counted in the note and never averaged in: such a run makes the row fail, and
where a median or a slope is judged, the row fails if less than half of the runs could be measured. The paper
is <a href="https://arxiv.org/abs/2605.30229">arXiv:2605.30229</a>; the places in brackets are given by topic,
the paper's numbering is not reproduced.</p>
{% for id, statement in statements %}
<section aria-labelledby="{{ id }}">
<h2 id="{{ id }}">{{ statement[0].claim }}</h2>
<p><code>{{ id }}</code>, <span class="figure"><a href="figures/{{ statement[0].figure }}.png">figure
{{ statement[0].figure }}</a>
(<a href="figures/{{ statement[0].figure }}.pdf">PDF</a>)</span>, unit: {{ statement[0].unit|unit }}</p>
<div class="scroll" tabindex="0" role="region" aria-labelledby="{{ id }}">
<table>
<thead><tr><th scope="col">Case</th><th scope="col">Verdict</th><th scope="col" class="number">Runs</th>
<th scope="col" class="number">Expected</th><th scope="col" class="number">Measured (worst)</th>
<th scope="col" class="number">Median</th><th scope="col" class="number">Off by</th>
<th scope="col">Note</th></tr>
</thead>
<tbody>
{% for row in statement %}
<tr class="{{ 'holds' if row.holds == 'True' else 'fails' }}"><th scope="row">{{ row.case }}</th>
<td class="verdict">{{ "✓ holds" if row.holds == "True" else "✗ FAILS" }}</td>
<td class="number">{{ row.seeds }}</td><td class="number">{{ row|expected }}</td>
<td class="number">{{ row.measured|short or "none" }}</td>
<td class="number">{{ row.median|short or "none" }}</td>
<td class="number">{{ row|off }}{{ " (median)" if row.judged == "median" }}</td>
<td class="note">{{ row.note }}</td></tr>
{% endfor %}
</tbody>
</table>
</div>
</section>
{% endfor %}
</main>
<script>
// inside a report there is no folder of figures beside the page: say where the report shows them
if (window.parent !== window) {
  for (const place of document.querySelectorAll(".figure")) {
    const name = place.querySelector("a").textContent.trim().split(/\\s+/).pop();
    place.replaceChildren("figure ", Object.assign(document.createElement("strong"), {textContent: name}),
      " (under Figures in this report)");
  }
}
</script>
</body>
</html>
"""


def page(rows: Sequence[Row]) -> str:
    """The page for rows with the columns of :data:`usaav.claims.verdict.COLUMNS`, as text, in their order."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(short=_short, expected=_expected, decisive=decisive, off=_off, unit=_unit)
    failing = [row for row in rows if row["holds"] != "True"]
    # the rows of a statement stand together, at the place of the first
    order = {row["id"]: index for index, row in reversed(list(enumerate(rows)))}
    sorted_rows = sorted(rows, key=lambda row: order[row["id"]])
    statements = [(key, list(group)) for key, group in groupby(sorted_rows, key=lambda row: row["id"])]
    template = environment.from_string(_TEMPLATE)
    return template.render(
        rows=rows, failing=failing, holding=len(rows) - len(failing), statements=statements
    )


def decisive(row: Row) -> str:
    """The number that the row is judged by: that of the worst run, or the median; empty if there is none."""
    return row["median"] if row["judged"] == "median" else row["measured"]


def _short(text: str) -> str:
    """A number with six digits."""
    return f"{float(text):.6g}" if text else ""


def _off(row: Row) -> str:
    """How far the number that is judged is from predicted, which six digits may not show."""
    if not decisive(row) or not row["predicted"]:
        return "unknown"
    return f"{float(decisive(row)) - float(row['predicted']):.2g}"


def _expected(row: Row) -> str:
    if not row["predicted"]:
        return "a number"
    predicted, tolerance = _short(row["predicted"]), _short(row["tolerance"])
    exact = float(row["tolerance"]) == 0.0
    if row["relation"] == "=":
        return f"exactly {predicted}" if exact else f"{predicted} ± {tolerance}"
    words = {"<": "at most", ">": "at least"}[row["relation"]]
    return f"{words} {predicted}" + ("" if exact else f" (± {tolerance})")


def _unit(text: str) -> str:
    return "none (plain number)" if text == "1" else text
