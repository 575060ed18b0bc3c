"""What each figure shows of small runs, and that it says what is missing."""

from __future__ import annotations

import inspect
from importlib import import_module

import numpy as np
import pytest

from unit.figure_examples import drawn, lines_of, titles
from usaav.errors import ConfigError, DataError
from usaav.figures import draw_figure
from usaav.figures.merge_tree import branches, leaf_order
from usaav.figures.names import DRAW_NAMES, DRAW_OPTIONS
from usaav.figures.sources import Sources


@pytest.mark.parametrize("name", DRAW_NAMES)
def test_every_figure_can_be_drawn(name, sources_of):
    figure = drawn(name, sources_of)
    figure.draw_without_rendering()
    assert figure.get_figwidth() <= 7.0


@pytest.mark.parametrize("name", DRAW_NAMES)
def test_options_are_those_that_the_configuration_knows(name):
    parameters = inspect.signature(import_module(f"usaav.figures.{name}").draw).parameters
    assert tuple(sorted(set(parameters) - {"sources"})) == DRAW_OPTIONS[name]
    assert all(one.kind is one.KEYWORD_ONLY for key, one in parameters.items() if key != "sources")


def test_an_unknown_figure_or_option_is_refused(sources_of):
    with pytest.raises(ConfigError, match="no drawing function 'pie'"):
        draw_figure("pie", sources_of("rope"))
    with pytest.raises(ConfigError, match="unknown option 'flor'; it takes floor, select"):
        draw_figure("distance_curves", sources_of("rope"), {"flor": 1})


def test_distance_curves_are_medians_of_the_table(sources_of):
    figure = drawn("distance_curves", sources_of, floor=1e-6)
    assert titles(figure) == [
        r"(a)  USA, $\beta = 1$",
        r"(b)  USA, $\beta = 4$",
        r"(c)  RoPE, $\beta = 1$",
    ]
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_ylabel() == "Dirac distance"
    assert figure.axes[0].get_xlabel() == r"time $\tau$"
    table = sources_of("baseline").tables["baseline"]
    for line, n_tokens in zip(lines_of(figure.axes[1]), (8, 12), strict=True):
        rows = table[(table["n_tokens"] == n_tokens) & (table["beta"] == 4)]
        median = rows.groupby("time")["dirac_distance"].median().clip(lower=1e-6)
        np.testing.assert_allclose(line.get_ydata(), median)
        np.testing.assert_allclose(line.get_xdata(), median.index)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["$n = 8$", "$n = 12$", "quartiles", "largest of 2 seeds"]
    looks = {line.get_linestyle() + str(line.get_color()) for line in lines_of(figure.axes[0])}
    assert len(looks) == 2


def test_a_panel_counts_the_seeds_that_have_collapsed_where_not_all_have(sources_of):
    sources = sources_of("baseline")
    table = sources.tables["baseline"].copy()
    last = table["time"] == table["time"].max()
    table.loc[last, "dirac_distance"] = 1e-9
    table.loc[
        last & (table["beta"] == 4) & (table["n_tokens"] == 8) & (table["seed"] == 0), "dirac_distance"
    ] = 0.5
    changed = Sources(["baseline"], {"baseline": table}, sources.events, sources.stored)
    cool, hot = draw_figure("distance_curves", changed).axes
    assert not cool.texts
    assert hot.texts[0].get_text().splitlines()[1:] == ["$n = 8$: 1 of 2", "$n = 12$: 2 of 2"]


def test_slices_show_both_distances_on_one_axis(sources_of):
    figure = drawn("slices", sources_of)
    assert len(figure.axes) == 2
    whole, worst = lines_of(figure.axes[0])
    assert whole.get_ydata()[-1] > 0.1
    assert worst.get_ydata()[-1] < whole.get_ydata()[-1]


def test_energies_are_over_their_own_maximum_and_never_fall(sources_of):
    figure = drawn("energy", sources_of)
    above = figure.axes[:3]
    runs = [line for axes in above for line in axes.get_lines() if line.get_linewidth() == 0.5][:8]
    assert all(np.all(np.diff(line.get_ydata()) >= -1e-9) for line in runs)
    assert all(line.get_ydata()[-1] <= 1.0 + 1e-12 for line in runs)
    assert titles(figure)[:3] == ["(a)  baseline\n8 runs", "(b)  rope\n4 runs", "(c)  prefix\n4 runs"]
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {r"$\beta = 1$", r"$\beta = 4$"}


def test_energies_without_a_known_maximum_are_left_out_and_counted(sources_of):
    experiments = ("baseline", "rope", "prefix", "conditional", "toeplitz", "metastability")
    figure = draw_figure("energy", sources_of(*experiments), {})
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert len(figure.axes) == 2 * len(panels) == 12
    assert panels[4].get_title(loc="left") == "(e)  toeplitz\n4 runs, 1 case out"
    # the second row of experiments has places of its own, and time by decades where the times are
    assert panels[4].get_subplotspec().rowspan.start == 2
    assert [axes.get_xscale() for axes in panels] == ["linear"] * 5 + ["log"]
    assert {text.get_text() for text in figure.legends[0].get_texts()} >= {"linear profile", r"$\beta = 1$"}


def test_the_overview_shows_first_and_last_tokens(sources_of):
    figure = drawn("overview", sources_of, select={"beta": 1, "variant": "poles"})
    assert titles(figure)[:3] == ["(a)  USA", "(b)  RoPE", "(c)  prefix, poles"]
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts.count(r"$\tau = 0$") == 3
    assert texts.count(r"$\tau = 20$") == 3
    assert "Dirac distance < 0.001" in texts
    assert "all 12" in texts
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "tokens, coloured by label",
        r"predicted orbit $G_\xi^{T} u$",
        "tokens, marked by prompt",
        "predicted cluster",
    ]


def test_snapshots_have_a_column_for_each_time(sources_of):
    figure = drawn("snapshots_on_sphere", sources_of, times=[0, 8, 20])
    assert [axes.get_title() for axes in figure.axes] == [r"$\tau = 0$", r"$\tau = 8$", r"$\tau = 20$"] * 2
    with pytest.raises(DataError, match=r"no tokens stored at tau = 9, only at 0, 4, 8, .* `snapshots:`"):
        drawn("snapshots_on_sphere", sources_of, times=[9])


def test_the_orbit_comes_with_its_largest_deviation(sources_of):
    figure = drawn("terminal_orbit", sources_of)
    assert titles(figure) == ["(a)  RoPE, $n = 12$, seed 1"]
    assert any("largest deviation" in text.get_text() for text in figure.axes[0].texts)
    with pytest.raises(DataError, match=r"no seed 7; there are 0 \.\.\. 1"):
        drawn("terminal_orbit", sources_of, seeds=[7])


def test_clusters_are_ordered_by_the_number_of_prompts(sources_of):
    figure = drawn("terminal_clusters", sources_of)
    assert titles(figure) == ["(a)  $K = 2$, poles", "(b)  $K = 4$, tetrahedron"]
    with pytest.raises(DataError, match="the labels are no prompts"):
        draw_figure("terminal_clusters", sources_of("rope"))


def test_the_staircase_ends_with_one_cluster_at_full_energy(sources_of):
    figure = drawn("cluster_staircase", sources_of)
    counts, energies = figure.axes[:4], figure.axes[4:]
    for axes in counts:
        for line in lines_of(axes):
            assert line.get_ydata()[0] <= 10
            assert line.get_ydata()[-1] == 1
            assert np.all(np.diff(line.get_ydata()) <= 0)
    assert all(abs(line.get_ydata()[-1] - 1.0) < 1e-9 for axes in energies for line in lines_of(axes))
    assert counts[0].get_ylabel() == "number of clusters"
    assert counts[0].get_xscale() == "log"


def test_exit_times_lie_on_the_diagonal(sources_of):
    figure = drawn("exit_times", sources_of)
    points = np.concatenate([np.asarray(one.get_offsets()) for one in figure.axes[0].collections])
    assert len(points) == 16
    np.testing.assert_allclose(points[:, 1], points[:, 0], rtol=1e-3)
    sources = sources_of("metastability")
    unfinished = sources.events["metastability"].query("clusters_left > 1")
    cut = Sources(["metastability"], sources.tables, {"metastability": unfinished}, sources.stored)
    with pytest.raises(DataError, match="no run ended with one cluster"):
        draw_figure("exit_times", cut)


def test_the_circle_has_a_line_for_each_token(sources_of):
    figure = drawn("circle_trajectories", sources_of)
    assert len(figure.axes) == 4
    assert figure.axes[0].get_ylabel() == "angle of $z_i$ (rad)"
    assert len(figure.axes[0].collections[0].get_paths()) >= 10
    sources = sources_of("metastability")
    stored = sources.one_each("metastability", {"dim": 2})[0]
    merged = sources.merges(stored).query("seed == 0 and time > 0")["time"]
    start, end = figure.axes[0].get_xlim()
    assert start == pytest.approx(max(merged.min() / 10.0, stored.stored_times[stored.stored_times > 0.0][0]))
    assert merged.max() < end <= stored.stored_times[-1]
    nothing = Sources(
        ["metastability"],
        sources.tables,
        {"metastability": sources.events["metastability"].iloc[:0]},
        sources.stored,
    )
    whole = draw_figure("circle_trajectories", nothing, {"select": {"dim": 2}}).axes[0]
    assert whole.get_xlim()[1] == stored.stored_times[-1]
    with pytest.raises(DataError, match="dim is 3"):
        drawn("circle_trajectories", sources_of, select={"dim": 3})


def test_branches_do_not_cross_and_end_in_one_trunk(sources_of):
    sources = sources_of("metastability")
    stored = sources.cases("metastability")[0]
    merges = sources.merges(stored)
    merges = merges[merges["seed"] == 0]
    assert sorted(leaf_order(merges, 10)) == list(range(10))
    tree = branches(merges, 10, 1e-9, 1e8)
    assert len(tree) == 19
    assert [branch.mass for branch in tree if branch.target is None] == [pytest.approx(1.0)]
    ends = sorted(branch.end for branch in tree if branch.target is not None)
    np.testing.assert_allclose(ends[::2], np.sort(merges["time"]))
    nothing = Sources(
        ["metastability"],
        {},
        {"metastability": sources.events["metastability"].assign(time=0.0)},
        sources.stored,
    )
    with pytest.raises(DataError, match="nothing has merged"):
        draw_figure("merge_tree", nothing)


def test_tokens_that_are_not_on_the_sphere_are_refused(sources_of):
    with pytest.raises(DataError, match="a sphere shows dim: 3"):
        draw_figure("overview", sources_of("metastability"), {"select": {"dim": 2}})


def test_missing_data_are_named(sources_of):
    sources = sources_of("conditional")
    bare = sources.tables["conditional"].drop(columns="conditional_dirac_distance")
    with pytest.raises(DataError, match="no column conditional_dirac_distance; there are experiment"):
        draw_figure("slices", Sources(["conditional"], {"conditional": bare}, {}, sources.stored))
    holes = sources.tables["conditional"].assign(conditional_dirac_distance=np.nan)
    with pytest.raises(DataError, match="values are missing"):
        draw_figure("slices", Sources(["conditional"], {"conditional": holes}, {}, sources.stored))
    unknown = sources.tables["conditional"].assign(energy_maximum=np.nan)
    with pytest.raises(DataError, match="the energy maximum is not known"):
        draw_figure("energy", Sources(["conditional"], {"conditional": unknown}, {}, sources.stored))
    none = sources.tables["conditional"].assign(case="other")
    with pytest.raises(DataError, match="no rows of case"):
        draw_figure("slices", Sources(["conditional"], {"conditional": none}, {}, sources.stored))
