"""Claims: each check on small runs, what makes it fail, the table and the page."""

from __future__ import annotations

import csv
import dataclasses
import inspect
import json
import math
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import usaav.config
from usaav import claims, datasets
from usaav.claims.dichotomy import threshold_distance
from usaav.claims.evidence import matches, read, selected
from usaav.claims.names import CHECK_NAMES, CHECK_OPTIONS, COMMON_OPTIONS
from usaav.claims.page import page
from usaav.claims.toeplitz import largest_deviation
from usaav.claims.verdict import COLUMNS, Statement, judge
from usaav.claims.writing import run_check
from usaav.errors import ConfigError, DataError, UsaavError
from usaav.flow.case import simulate_case
from usaav.metrics.tables import write_tables

ROPE = {"type": "rope", "beta": 1, "planes": [[0, 1]], "frequencies": [1]}
USA = {"type": "usa", "beta": 1}
TO_20 = {"start": 0, "stop": 40, "count": 9}
EXPERIMENTS = {
    "baseline": {"kernel": USA, "n_tokens": 8, "times": TO_20, "sweep": {"kernel.beta": [1, 6]}},
    "rope": {"kernel": ROPE, "labels": {"law": "grid"}, "n_tokens": 8, "times": TO_20},
    "prefix": {
        "kernel": {"type": "prefix", "beta": 1, "targets": {"law": "regular", "count": 4}},
        "labels": {"law": "prompts"},
        "n_tokens": 12,
        "times": TO_20,
    },
    "conditional": {"kernel": ROPE, "labels": {"law": "grid", "count": 4}, "n_tokens": 12, "times": TO_20},
    "metastability": {
        "kernel": {**USA, "beta": 9},
        "n_tokens": 16,
        "dim": 2,
        "times": {"start": 1e-4, "stop": 1e30, "count": 103, "spacing": "log"},
        "snapshots": "all",
        "variants": {
            "usa": {"kernel.beta": 9},
            "hot": {"kernel.beta": 25},
            "rope": {"kernel": {**ROPE, "beta": 25}, "labels": {"law": "grid"}},
        },
    },
    "short": {"kernel": {**USA, "beta": 25}, "n_tokens": 8, "times": [0, 1e-4]},
    "toeplitz": {
        "kernel": {"type": "toeplitz", "coefficients": {"1": 1}},
        "labels": {"law": "grid"},
        "n_tokens": 12,
        "times": {"start": 0, "stop": 100, "count": 3},
        "variants": {
            "linear": {"kernel.coefficients": {"1": 1}},
            "exponential": {"kernel.phi": "exponential", "kernel.beta": 1},
        },
    },
    "dichotomy": {
        "kernel": {"type": "toeplitz", "coefficients": {"0": 1, "1": 0}},
        "labels": {"law": "grid"},
        "n_tokens": 12,
        "times": {"start": 0, "stop": 100, "count": 3},
        "variants": {
            name: {"kernel.coefficients.0": 1 - a, "kernel.coefficients.1": a}
            for name, a in {"none": 0, "half": 0.5, "near": 0.66, "most": 0.9}.items()
        },
    },
    "distance_bias": {
        "kernel": {"type": "distance_bias", "beta": 1, "profile": "exponential", "length": 1},
        "labels": {"law": "grid", "stop": 1},
        "n_tokens": 8,
        "times": {"start": 0.1, "stop": 100, "count": 11, "spacing": "log"},
        "variants": {"wide": {"kernel.length": 1}, "narrow": {"kernel.length": 0.01}},
    },
    "orbit_universality": {
        "kernel": ROPE,
        "labels": {"law": "uniform"},
        "n_tokens": [8, 16, 64],
        "times": TO_20,
        "variants": {"uniform": {"labels": {"law": "uniform"}}},
    },
    "gauge_universality": {
        "kernel": {"type": "prefix", "beta": 1, "targets": {"law": "uniform"}},
        "labels": {"law": "prompts"},
        "initial": {"law": "anchored"},
        "n_tokens": 12,
        "times": TO_20,
    },
    "mode_selection": {
        "kernel": USA,
        "n_tokens": 1024,
        "dim": 2,
        "seeds": 3,
        "times": {"start": 0, "stop": 13, "count": 61},
        "snapshots": 2,
        "mode_degrees": 16,
        "rtol": 1e-6,
    },
    "mean_field": {
        "kernel": USA,
        "n_tokens": [64, 512],
        "times": {"start": 0, "stop": 16, "count": 81},
        "snapshots": 2,
        "mode_degrees": 1,
        "rtol": 1e-6,
    },
    "layers": {
        "kernel": USA,
        "n_tokens": 8,
        "times": {"start": 0, "stop": 20, "count": 21},
        "snapshots": "all",
        "variants": {
            "flow": {"method": "adaptive"},
            "coarse": {"method": "layers", "step": 0.1},
            "fine": {"method": "layers", "step": 0.05},
        },
    },
}
CLAIMS = {
    "baseline": ("collapse", 1e-3, {"beta": 1}),
    "rope": ("orbit", 1e-3, {}),
    "prefix": ("prefix_clusters", 1e-3, {"figure": "figure_2"}),
    "conditional": ("slices_collapse", 1e-3, {}),
    "metastability": ("metastability", 1e-6, {"isolated": 0.05}),
    "toeplitz": ("toeplitz", 1e-3, {}),
    "dichotomy": ("dichotomy", 1e-3, {}),
    "distance_bias": ("distance_bias", 1e-3, {"collapsed": {"variant": ["wide"]}, "time": 100}),
    "orbit_universality": ("orbit_universality", 1e-3, {"slope": 0.3}),
    "gauge_universality": ("gauge_universality", 1e-3, {}),
    "mode_selection": ("mode_selection", 0.2, {"count": 1}),
    "mean_field": ("mean_field", 0.2, {"slope": 1.0, "least_slope": 64, "least_growth": 64}),
    "layers": ("layers", 1e-3, {}),
}


class Made:
    """Data files and tables of all experiments above, each made when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        defaults = {"seeds": 2, "backend": "numpy"}
        experiments = {name: {**defaults, **entry} for name, entry in EXPERIMENTS.items()}
        self.config = usaav.config.from_mapping({"experiments": experiments})

    def files(self, experiment: str) -> tuple[list[Path], list[Path], list[Path]]:
        table = self.folder / f"{experiment}.csv"
        events = self.folder / f"{experiment}.events.csv"
        paths = [
            self.folder / experiment / f"{case.name}.nc"
            for case in self.config.cases()
            if case.experiment == experiment
        ]
        if not table.exists():
            for case in self.config.cases():
                if case.experiment == experiment:
                    simulate_case(case.to_json(), self.folder / experiment / f"{case.name}.nc", 1)
            write_tables(paths, 0.1, table, events, self.folder / f"{experiment}.columns.csv")
        return paths, [table], [events]

    def cases(self, experiment: str):
        return read(*self.files(experiment))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("results"))


def rows_of(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False, na_values=[""]).set_index("id", drop=False)


# ------------------------------------------------------------------ names


def test_every_name_is_a_check_with_these_options():
    for name in CHECK_NAMES:
        parameters = inspect.signature(import_module(f"usaav.claims.{name}").check).parameters
        options = [key for key, value in parameters.items() if value.kind is value.KEYWORD_ONLY]
        assert sorted([*options, *COMMON_OPTIONS]) == sorted(CHECK_OPTIONS[name]), name


def test_the_package_loads_its_names_on_first_use():
    assert {name for name in claims.__all__ if callable(getattr(claims, name))} == set(claims.__all__)
    with pytest.raises(AttributeError, match="write_verdicts"):
        _ = claims.write_verdicts


# ------------------------------------------------------------------ judging


def test_the_worst_run_is_judged_and_the_median_told():
    verdict = judge(Statement("", "x"), "case", [1.0, 1.3, 0.9], 1.0, 0.2, ["a", "b"])
    assert (verdict.measured, verdict.median, verdict.seeds, verdict.holds) == (1.3, 1.0, 3, False)
    assert verdict.note == "a; b"
    assert judge(Statement("", "x"), "case", [1.0, 1.3, 0.9], 1.0, 0.31).holds


def test_each_run_may_have_its_own_prediction():
    verdict = judge(Statement("", "x"), "case", [1.0, 2.0, 3.5], [1.0, 2.0, 3.0], 0.1)
    assert (verdict.measured, verdict.predicted, verdict.holds) == (3.5, 3.0, False)


@pytest.mark.parametrize(("relation", "holds"), [("=", False), ("<", False), (">", True)])
def test_relations(relation, holds):
    assert judge(Statement("", "x", relation=relation), "case", [2.0, 3.0], 1.0, 0.0).holds is holds
    flipped = {"<": True, ">": False}.get(relation, False)
    assert judge(Statement("", "x", relation=relation), "case", [-2.0], 1.0, 0.0).holds is flipped


def test_a_run_that_could_not_be_measured_is_counted_and_does_not_hold():
    verdict = judge(Statement("", "x"), "case", [1.0, math.nan, 1.0], 1.0, 0.1)
    assert (verdict.holds, verdict.measured, verdict.median) == (False, 1.0, 1.0)
    assert "2 of 3 measured; 1 did not get there" in verdict.note
    nothing = judge(Statement("part", "x"), "case", [math.nan], 1.0, 0.1, runs=7)
    assert not nothing.holds
    assert math.isnan(nothing.measured)
    assert nothing.row("claim", "figure")["id"] == "claim.part"
    assert nothing.row("claim", "figure")["seeds"] == 7


def test_a_median_may_be_judged_and_the_worst_run_is_told():
    verdict = judge(Statement("", "x"), "case", [1.0, 1.3, 0.99], 1.0, 0.02, ["a"], statistic="median")
    assert (verdict.measured, verdict.median, verdict.seeds, verdict.holds) == (1.3, 1.0, 3, True)
    assert verdict.note == "a; judged on the median"
    assert verdict.row("claim", "figure")["judged"] == "median"
    assert not judge(Statement("", "x"), "case", [1.3, 1.0, 1.3], 1.0, 0.02, statistic="median").holds


@pytest.mark.parametrize(("reached", "holds"), [(3, True), (2, True), (1, False), (0, False)])
def test_a_median_needs_half_of_the_runs(reached, holds):
    values = [1.0] * reached + [math.nan] * (4 - reached)
    verdict = judge(Statement("", "x"), "case", values, 1.0, 0.02, statistic="median", missing="ended before")
    assert verdict.holds is holds
    assert f"{reached} of 4 measured; {4 - reached} ended before" in verdict.note


# ------------------------------------------------------------------ checks


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_holds_on_small_runs(made, tmp_path, name):
    check, tolerance, options = CLAIMS[name]
    claim = {"check": check, "tolerance": tolerance, "options": options, "experiments": [name]}
    claims.write_verdict(name, claim, *made.files(name), tmp_path / "verdict.csv")
    rows = rows_of(tmp_path / "verdict.csv")
    assert tuple(rows.columns) == COLUMNS
    assert rows["holds"].all(), rows[["measured", "predicted"]]
    assert (rows["seeds"] >= 2).all()
    assert rows["claim"].str.endswith(").").all()
    assert rows["figure"].unique().tolist() == [options.get("figure", name)]
    assert not rows[["predicted", "measured", "median"]].isna().any().any()


def test_what_each_check_looks_at(made):
    parts = {
        name: {verdict.statement.part for verdict in run_check(check, made.cases(name), tolerance, bare)}
        for name, (check, tolerance, options) in CLAIMS.items()
        for bare in [{key: value for key, value in options.items() if key != "figure"}]
    }
    assert parts == {
        "baseline": {"", "energy"},
        "rope": {"", "marginal", "energy"},
        "prefix": {"", "count", "energy"},
        "conditional": {"", "marginal"},
        "metastability": {"", "one_cluster", "pairs", "slope"},
        "toeplitz": {"", "circle", "energy"},
        "dichotomy": {"", "phase"},
        "distance_bias": {"", "no_rise", "energy"},
        "orbit_universality": {"", "rate"},
        "gauge_universality": {""},
        "mode_selection": {"", "count"},
        "mean_field": {"", "logarithm"},
        "layers": {"", "order"},
    }


def test_energy_is_judged_where_it_is_asked_for(made):
    for check in ("collapse", "orbit", "prefix_clusters"):
        cases = made.cases("prefix")
        with_energy = run_check(check, cases, 10.0, {})
        without = run_check(check, cases, 10.0, {"energy": None})
        assert len(without) == len(with_energy) - 1


def test_clusters_are_counted_against_targets_and_not_against_what_was_found(made):
    from usaav.claims.prefix_clusters import _near_images

    count = run_check("prefix_clusters", made.cases("prefix"), 1e-3, {"energy": None})[0]
    assert (count.predicted, count.measured, count.note) == (4.0, 4.0, "")
    # counted too coarsely, clusters are missed: the number of targets does not follow
    coarse = run_check("prefix_clusters", made.cases("prefix"), 1e-3, {"energy": None, "angle": 3.0})[0]
    assert (coarse.predicted, coarse.holds) == (4.0, False)
    assert "in 2 of 2 runs two predicted places are nearer than 3 rad" in coarse.note
    targets = np.array([[[1.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    turned = np.array([[0.0, 0, 1], [0, 0, 1], [0, math.sin(5e-3), math.cos(5e-3)]])
    assert "1 of 1 runs" in _near_images(targets, turned[None], 0.01)[0]
    assert "(least 0.005)" in _near_images(targets, turned[None], 0.01)[0]
    assert _near_images(targets[:, :2], turned[None, :2], 0.01) == []


def test_large_beta_is_reported_and_not_judged(made):
    verdicts = run_check("collapse", made.cases("baseline"), 1e-3, {"beta": 1})
    assert len(verdicts) == 2
    assert "beta = 6 (not judged): " in verdicts[0].note
    everything = run_check("collapse", made.cases("baseline"), 1e-3, {})
    assert len(everything) == 4


@pytest.mark.parametrize(
    ("check", "experiment", "options"),
    [
        ("collapse", "baseline", {"beta": 6, "time": 5}),
        ("collapse", "rope", {"energy": None}),
        ("orbit", "toeplitz", {}),
        ("slices_collapse", "conditional", {"marginal": 1.4}),
        ("orbit_universality", "orbit_universality", {"slope": 1e-9}),
        ("layers", "layers", {"order": 1e-9}),
        ("distance_bias", "distance_bias", {"time": 0.1}),
        ("metastability", "short", {}),
    ],
)
def test_a_claim_that_is_not_so_does_not_hold(made, check, experiment, options):
    try:
        verdicts = run_check(check, made.cases(experiment), 1e-3, options)
    except DataError:
        assert (check, experiment) == ("orbit", "toeplitz")
        return
    assert not all(verdict.holds for verdict in verdicts)


def test_runs_that_ended_before_the_last_merge_are_counted(made):
    verdicts = run_check("metastability", made.cases("short"), 1e-3, {})
    last = next(verdict for verdict in verdicts if verdict.statement.part == "")
    assert not last.holds
    assert "0 of 2 measured; 2 did not get there" in last.note


def test_what_is_not_judged_is_told(made):
    verdicts = run_check("metastability", made.cases("metastability"), 1e-3, {"isolated": 0.0})
    assert {verdict.statement.part for verdict in verdicts} == {"", "one_cluster", "slope"}
    told = [verdict.note for verdict in verdicts if verdict.statement.part == ""]
    assert all("isolated pairs: 0 observed, so not judged" in note for note in told)
    verdicts = run_check(
        "distance_bias", made.cases("distance_bias"), 1e-9, {"collapsed": {"variant": "none"}}
    )
    told = [verdict.note for verdict in verdicts if verdict.statement.part == "no_rise"]
    judged = {verdict.case for verdict in verdicts if verdict.statement.part == "energy"}
    assert sum("0 of 2 runs, so no energy is judged" in note for note in told) == len(told) - len(judged)
    verdicts = run_check("toeplitz", made.cases("toeplitz"), 1e-3, {})
    notes = {verdict.case: verdict.note for verdict in verdicts if verdict.statement.part == ""}
    assert [("energy not judged" in note) for case, note in sorted(notes.items())] == [True, False]


def test_cases_of_a_collapse_are_chosen(made):
    verdicts = run_check("collapse", made.cases("baseline"), 1e-3, {"select": {"beta": 1}})
    assert len(verdicts) == 2
    assert verdicts[0].note == ""


def test_medians_are_judged_where_single_runs_scatter(made):
    growth, counts = run_check("mode_selection", made.cases("mode_selection"), 1.0, {"count": 10})
    assert (growth.judged, counts.judged, growth.seeds, counts.seeds) == ("median", "median", 3, 3)
    assert "density smoothed by the kernel" in counts.statement.claim
    assert "at total amplitude 0.5" in counts.note
    assert "local maxima of the density itself, noise included: median" in counts.note
    growth, counts = run_check("mode_selection", made.cases("mode_selection"), 1.0, {"saturated": 100.0})
    assert not counts.holds
    assert "0 of 3 measured; 3 did not get there" in counts.note


def test_a_slope_is_one_regression_and_needs_two_sizes(made):
    whole = run_check("mean_field", made.cases("mean_field"), 1.0, {"least_slope": 64})[-1]
    assert "one regression over the means of 2 sizes, n >= 64, 4 runs" in whole.note
    few = run_check("mean_field", made.cases("mean_field"), 1.0, {"least_slope": 512})[-1]
    assert (few.holds, few.seeds, math.isnan(few.measured)) == (False, 2, True)


def test_near_the_threshold_nothing_is_judged(made):
    verdicts = run_check("dichotomy", made.cases("dichotomy"), 1e-3, {})
    assert {verdict.case.split("/")[1].split("_")[0] for verdict in verdicts} == {"none", "half", "most"}
    assert threshold_distance({0: 1.0}) == math.inf
    assert threshold_distance({0: 0.4, 1: 0.6}) == pytest.approx(2.0 / 3.0 - 0.6)


def test_a_single_step_has_no_order(made):
    few = [case for case in made.cases("layers") if "coarse" not in case.case.name]
    assert {verdict.statement.part for verdict in run_check("layers", few, 1e-3, {})} == {""}
    alone = [case for case in few if "fine" in case.case.name]
    with pytest.raises(DataError, match="beside it"):
        run_check("layers", alone, 1e-3, {})


def test_checks_refuse_cases_that_they_are_not_for(made):
    for check in ("prefix_clusters", "gauge_universality", "orbit_universality", "dichotomy", "toeplitz"):
        with pytest.raises(DataError, match="needs"):
            run_check(check, made.cases("baseline"), 1e-3, {})


def test_checks_refuse_unknown_names_and_options(made):
    with pytest.raises(ConfigError, match="no check 'orbits'"):
        run_check("orbits", [], 1e-3, {})
    with pytest.raises(ConfigError, match="unknown option 'energi'; it takes energy, select"):
        run_check("orbit", [], 1e-3, {"energi": 1})


def test_pairs_need_all_tokens(made, tmp_path):
    from usaav.claims.metastability import all_pairs

    case = made.cases("metastability")[0]
    whole = all_pairs(case)
    assert sum(map(len, whole)) > 0
    assert all(
        pair.ratio == pytest.approx(1.0, abs=0.6 * pair.influence + 1e-6)
        for run in whole
        for pair in run
        if pair.influence < 0.1
    )
    part = case.dataset().isel(token=slice(0, 8)).assign_coords(token=np.arange(8))
    part["token"].attrs = {"long_name": "index", "units": "1"}
    datasets.save(part, tmp_path / case.path.name)
    assert all_pairs(dataclasses.replace(case, path=tmp_path / case.path.name)) == [[], []]


def test_singular_values_of_a_great_circle():
    angles = 2.0 * np.pi * np.arange(12) / 12
    circle = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
    expected = np.sqrt([0.5, 0.5, 0.0])
    assert largest_deviation(circle, expected) < 1e-15
    assert largest_deviation(np.tile([0.0, 0.0, 1.0], (12, 1)), expected) == pytest.approx(math.sqrt(0.5))
    assert largest_deviation(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), expected) < 1e-15


# ------------------------------------------------------------------ evidence


def test_cases_are_selected_by_facts(made):
    cases = made.cases("baseline")
    assert [case.facts["beta"] for case in cases] == [1.0, 6.0]
    assert [case.facts["beta"] for case in selected(cases, {"beta": [6], "n_tokens": 8})] == [6.0]
    assert not matches(cases[0], {"variant": "rope"})
    with pytest.raises(DataError, match="there are"):
        selected(cases, {"beta": 2})


def test_values_at_a_time(made):
    case = made.cases("baseline")[0]
    assert case.at("time", 12.0).tolist() == [10.0, 10.0]
    assert case.at("time").tolist() == [40.0, 40.0]
    with pytest.raises(DataError, match="no column distance"):
        case.at("distance")
    with pytest.raises(DataError, match="rows at the last time"):
        case.at("time", -1.0)


def test_evidence_that_is_missing_is_named(made, tmp_path):
    paths, tables, events = made.files("baseline")
    with pytest.raises(DataError, match=r"0 rows of case .*expected 18 \(seeds x times\)"):
        read(paths, made.files("rope")[1], events)
    with pytest.raises(DataError, match="no such table"):
        read(paths, [tmp_path / "no.csv"], events)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match=r"empty\.csv: it is empty"):
        read(paths, tables, [tmp_path / "empty.csv"])


def test_an_experiment_without_a_merge_has_a_table_of_merges_without_rows(made, tmp_path):
    paths, tables, events = made.files("baseline")
    header = Path(events[0]).read_text().splitlines()[0]
    (tmp_path / "header.csv").write_text(f"{header}\n")
    assert read(paths, tables, [tmp_path / "header.csv"])[0].events.empty


# ------------------------------------------------------------------ table and page


@pytest.fixture
def verdicts(made, tmp_path):
    paths = []
    for name in ("baseline", "rope"):
        check, tolerance, options = CLAIMS[name]
        claim = {"check": check, "tolerance": tolerance, "options": options}
        paths.append(tmp_path / f"{name}.csv")
        claims.write_verdict(name, claim, *made.files(name), paths[-1])
    return paths


def failing(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    rows[1][COLUMNS.index("holds")] = "False"
    rows[1][COLUMNS.index("measured")] = ""
    rows[1][COLUMNS.index("note")] = "<script>alert(1)</script>"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


def test_all_verdicts_make_one_table(verdicts, tmp_path, capfd):
    claims.collect_verdicts(verdicts, tmp_path / "claims.csv", tmp_path / "claims.html")
    rows = rows_of(tmp_path / "claims.csv")
    assert len(rows) == sum(len(rows_of(path)) for path in verdicts)
    assert rows["holds"].dtype == bool
    assert "All 5 rows hold" in (tmp_path / "claims.html").read_text(encoding="utf-8")
    claims.require_all(tmp_path / "claims.csv")
    assert capfd.readouterr().err == ""


def test_a_failing_claim_is_loud(verdicts, tmp_path, capfd, caplog):
    failing(verdicts[1])
    claims.collect_verdicts(verdicts, tmp_path / "claims.csv", tmp_path / "claims.html")
    assert "1 of 5 claims that were checked DO NOT HOLD" in caplog.text
    html = (tmp_path / "claims.html").read_text(encoding="utf-8")
    assert 'role="alert"' in html
    assert "1 of 5 rows DO NOT HOLD" in html
    assert html.count("FAILS") == 1
    assert "<script>alert" not in html
    with pytest.raises(UsaavError, match=r"rope \(rope/n8\): measured nothing, expected = 0.0"):
        claims.require_all(tmp_path / "claims.csv")


class Outline(HTMLParser):
    """Open elements must be closed in order; what the page refers to is collected."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.links += [value for key, value in attrs if key in ("href", "src")]
        self.ids += [value for key, value in attrs if key == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(verdicts, tmp_path):
    failing(verdicts[0])
    claims.collect_verdicts(verdicts, tmp_path / "claims.csv", tmp_path / "claims.html")
    outline = Outline()
    outline.feed((tmp_path / "claims.html").read_text(encoding="utf-8"))
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    outside = [link for link in outline.links if ":" in link]
    assert outside == ["https://arxiv.org/abs/2605.30229"]
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)
    assert "figures/rope.png" in outline.links


def test_a_page_without_claims_says_so():
    assert "makes no claims" in page([])


def test_expectations_are_spelt_out():
    def shown(relation, tolerance, predicted="1.0"):
        statement = Statement("", "It is so (here).", relation=relation)
        row = judge(statement, "case", [1.0], float(predicted or "nan"), tolerance).row("id", "figure")
        return page([{key: str(value) if key != "predicted" else predicted for key, value in row.items()}])

    assert "1 ± 0.1" in shown("=", 0.1)
    assert "exactly 1" in shown("=", 0.0)
    assert "at most 1<" in shown("<", 0.0)
    assert "at least 1 (± 0.1)" in shown(">", 0.1)
    assert "a number" in shown("=", 0.1, "")


def test_a_table_that_is_none_is_refused(tmp_path):
    with pytest.raises(DataError, match="can't read"):
        claims.require_all(tmp_path / "no.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="columns"):
        claims.require_all(tmp_path / "other.csv")


def test_the_case_of_a_data_file_comes_with_it(made):
    case = made.cases("rope")[0]
    assert json.loads(case.dataset().attrs["settings"])["name"] == case.case.name
    assert case.where == "rope/n8"
