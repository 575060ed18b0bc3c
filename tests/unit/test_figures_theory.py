"""Figures that set measurements beside predictions: points are those of the data, lines those of theory."""

from __future__ import annotations

import numpy as np
import pytest

from unit.figure_examples import EXAMPLES, drawn, lines_of, titles
from usaav.errors import DataError
from usaav.figures import Sources, draw_figure, save
from usaav.figures.bands import count_seeds, draw_ranges
from usaav.figures.dichotomy import share, weight_at
from usaav.figures.gauge_orbits import plane_angles
from usaav.figures.layers import flow_distances
from usaav.figures.orbit_laws import distances_to_law, law_angles
from usaav.figures.sphere import VIEW, best_view
from usaav.figures.style import kinds, new_figure
from usaav.figures.targets_reached import target_points
from usaav.metrics.modes import levelled_collapse_times
from usaav.theory import fastest_mode, mode_growth_rate

NEW = (
    "dichotomy",
    "distance_bias",
    "gauge_orbits",
    "great_circles",
    "layers",
    "mean_field",
    "mode_selection",
    "orbit_laws",
    "softmax",
    "targets_reached",
)


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def medians(axes, index=0):
    """Places and heights of the markers of one call of draw_ranges."""
    return axes.containers[index].lines[0].get_data()


def selected(sources, experiment, **wanted):
    return sources.cases(experiment, {key.replace("__", "."): value for key, value in wanted.items()})


@pytest.mark.parametrize("name", NEW)
def test_equal_data_give_equal_bytes(name, sources_of, tmp_path):
    for copy in "ab":
        save(drawn(name, sources_of), tmp_path / f"{copy}.pdf", tmp_path / f"{copy}.png")
    for kind in ("pdf", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_orbits_of_both_kinds_have_their_deviation(sources_of):
    figure = drawn("gauge_orbits", sources_of)
    assert [title.splitlines()[0] for title in titles(figure)] == ["(a)  torus, seed 1", "(b)  wavy, seed 1"]
    assert sum("largest deviation" in title for title in titles(figure)) == 2
    torus = selected(sources_of("generalized_rope"), "generalized_rope", variant="torus")[0]
    shown = np.asarray(figure.axes[0].collections[0].get_offsets())
    tokens = torus.tokens(1)
    np.testing.assert_allclose(shown[:, 0], np.arctan2(tokens[:, 1], tokens[:, 0]))
    np.testing.assert_allclose(shown[:, 1], np.arctan2(tokens[:, 3], tokens[:, 2]))
    # the angles move by minus omega times the label
    moved = np.mod(shown + torus.labels(1)[:, None] * np.array([1.0, 1.5]), 2 * np.pi)
    np.testing.assert_allclose(np.cos(moved - moved[0]), 1.0, atol=1e-6)
    wavy = selected(sources_of("generalized_rope"), "generalized_rope", variant="wavy")[0]
    with pytest.raises(DataError, match="two planes that share no axis"):
        plane_angles(wavy, tokens)


def test_histograms_sum_to_one_and_law_is_drawn(sources_of):
    figure = drawn("orbit_laws", sources_of)
    assert titles(figure) == ["(a)  atoms, $n = 32$", "(b)  uniform, $n = 32$", "(c)  distance to the law"]
    realised, law = (patch.get_data().values for patch in figure.axes[0].patches)
    assert realised.sum() == pytest.approx(1.0)
    # atoms 0 and 1 turn by 0 and 2 radians: in the first and the seventh of twenty bins
    expected = np.zeros(20)
    expected[[0, 6]] = 0.25, 0.75
    np.testing.assert_allclose(law, expected, atol=1e-4)
    assert set(np.flatnonzero(realised)) == {0, 6}
    stored = selected(sources_of("orbit_universality"), "orbit_universality", variant="uniform", n_tokens=32)[
        0
    ]
    angles = law_angles(stored, 600)
    assert 0.0 <= angles.min() < 0.02
    assert 5.95 < angles.max() < 6.0
    sizes, heights = medians(figure.axes[2], 1)
    np.testing.assert_allclose(sizes, [8, 32])
    assert heights[1] == pytest.approx(np.median(distances_to_law(stored)))
    with pytest.raises(DataError, match="need RoPE with one plane"):
        draw_figure("orbit_laws", sources_of("toeplitz"))


def test_targets_are_reached_in_their_own_view(sources_of):
    figure = drawn("targets_reached", sources_of)
    assert titles(figure)[:2] == ["(a)  cap", "(b)  spiral"]
    assert sum(r"$W_2$ < 1e-12" in text or "$W_2$ =" in text for text in texts(figure)) == 2
    sources = sources_of("gauge_universality")
    cap = selected(sources, "gauge_universality", variant="cap", n_tokens=16)[0]
    targets = target_points(cap, 0)
    np.testing.assert_allclose(cap.tokens(0), targets, atol=1e-3)
    view = best_view(targets)
    assert view.azimuth == pytest.approx(90.0, abs=10.0)
    assert best_view(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])) == VIEW
    with pytest.raises(DataError, match="the labels are no prompts"):
        draw_figure("targets_reached", sources_of("rope"))


def test_distances_start_after_zero_on_logarithmic_axes(sources_of):
    figure = drawn("distance_bias", sources_of, floor=1e-6)
    assert titles(figure) == ["(a)  ALiBi, $m = 4$", r"(b)  gaussian, $\ell = 1$"]
    axes = figure.axes[1]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    table = sources_of("distance_bias").tables["distance_bias"]
    rows = table[(table["variant"] == "gaussian_1") & (table["beta"] == 1) & (table["time"] > 0)]
    line = lines_of(axes)[0]
    np.testing.assert_allclose(line.get_xdata(), np.unique(rows["time"]))
    np.testing.assert_allclose(
        line.get_ydata(), rows.groupby("time")["dirac_distance"].median().clip(lower=1e-6)
    )
    assert "at the start" in [text.get_text() for text in figure.legends[0].get_texts()]
    with pytest.raises(DataError, match="the weight is no distance bias"):
        draw_figure("distance_bias", sources_of("rope"))


def test_great_circles_with_predicted_singular_values(sources_of):
    figure = drawn("great_circles", sources_of)
    assert [title for title in titles(figure) if title][:4] == [
        r"(a)  $m = 1$, linear $\varphi$",
        r"(b)  $m = 2$, linear $\varphi$",
        r"(c)  $m = 1$, exponential $\varphi$, $\beta = 1$",
        "(d)",
    ]
    values = figure.axes[-2]
    levels = {
        round(float(line.get_ydata()[0]), 6) for line in values.get_lines() if len(line.get_xdata()) == 2
    }
    assert levels == {0.0, round(np.sqrt(0.5), 6)}
    runs = [line for line in values.get_lines() if line.get_linewidth() == 0.6 and len(line.get_xdata()) > 2]
    assert len(runs) == 2 * 2 * 3
    last = sorted(float(line.get_ydata()[-1]) for line in runs)
    np.testing.assert_allclose(last, [0.0] * 4 + [np.sqrt(0.5)] * 8, atol=2e-3)
    with pytest.raises(DataError, match="no toeplitz kernel without a gauge"):
        draw_figure("great_circles", sources_of("rope"))


def test_the_dichotomy_has_its_threshold_from_theory(sources_of):
    figure = drawn("dichotomy", sources_of)
    distances, energies = figure.axes
    assert "$a = 0.6667$" in texts(figure)
    places, heights = medians(distances)
    np.testing.assert_allclose(places, [0.0, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(heights, [0.0, 0.0, np.sqrt(2.0), np.sqrt(2.0)], atol=1e-2)
    predicted = next(line for line in energies.get_lines() if line.get_label() == "predicted")
    a, highest = predicted.get_data()
    np.testing.assert_allclose(highest, np.maximum((1.0 - a) / 2.0, a / 4.0))
    table = sources_of("dichotomy").tables["dichotomy"]
    last = table[table["time"] == table["time"].max()].groupby("variant")["energy"].median()
    np.testing.assert_allclose(medians(energies)[1], last)
    assert weight_at({2: 1.0}, 0.25) == {0: 0.75, 2: 0.25}


def test_a_family_of_weights_has_one_oscillating_part(sources_of):
    sources = sources_of("dichotomy", "toeplitz")
    mixed = Sources(
        ["dichotomy"], {}, {}, {"dichotomy": [*sources.stored["dichotomy"], *sources.stored["toeplitz"]]}
    )
    with pytest.raises(DataError, match=r"its oscillating part .* is not"):
        draw_figure("dichotomy", mixed)
    constant = [stored for stored in sources.stored["dichotomy"] if share(stored) == 0.0]
    with pytest.raises(DataError, match="no case has an oscillating part"):
        draw_figure("dichotomy", Sources(["dichotomy"], {}, {}, {"dichotomy": constant}))


def test_layers_come_closer_to_the_flow_with_smaller_steps(sources_of):
    figure = drawn("layers", sources_of)
    assert titles(figure) == ["(a)", "(b)  USA", "(c)  RoPE"]
    sources = sources_of("layers")
    flow, half = (selected(sources, "layers", variant=f"usa_eta{step}")[0] for step in ("000", "050"))
    steps, heights = medians(figure.axes[0])
    np.testing.assert_allclose(steps, [0.5, 0.25])
    assert heights[0] == pytest.approx(np.median(flow_distances(half, flow)))
    assert heights[1] < heights[0]
    assert flow_distances(flow, flow).max() == 0.0
    with pytest.raises(DataError, match="no case with method adaptive"):
        drawn("layers", sources_of, select={"variant": "usa_eta050"})
    with pytest.raises(DataError, match="its times or seeds are not those of the flow"):
        flow_distances(half, sources_of("metastability").cases("metastability")[0])


def test_softmax_stands_beside_the_same_model(sources_of):
    figure = drawn("softmax", sources_of)
    assert titles(figure)[:2] == ["(a)  no labels, $n = 12$", "(b)  RoPE, $n = 12$"]
    plain, normalised = lines_of(figure.axes[0])
    for line, experiment, wanted in (
        (plain, "baseline", {"n_tokens": 12, "beta": 1}),
        (normalised, "softmax", {"variant": "usa"}),
    ):
        table = sources_of(experiment).tables[experiment]
        for key, value in wanted.items():
            table = table[table[key] == value]
        median = table.groupby("time")["dirac_distance"].median().clip(lower=1e-8)
        np.testing.assert_allclose(line.get_ydata(), median)
    with pytest.raises(DataError, match="no case with softmax"):
        draw_figure("softmax", sources_of("softmax"))


def test_modes_are_drawn_with_their_predictions(sources_of):
    figure = drawn("mode_selection", sources_of)
    growth, counts = figure.axes
    np.testing.assert_allclose(medians(growth)[0], np.array([1.0, 4.0]) * 0.97)
    lines = {line.get_label(): line.get_data() for line in counts.get_lines()}
    betas, fastest = lines["fastest mode, $d = 2$"]
    assert [fastest_mode(float(betas[index]), 2) for index in (0, -1)] == [fastest[0], fastest[-1]]
    with pytest.raises(DataError, match="no mode amplitudes; set mode_degrees"):
        draw_figure("mode_selection", sources_of("baseline"))


def test_collapse_times_have_a_line_of_the_predicted_slope(sources_of):
    figure = drawn("mean_field", sources_of)
    assert titles(figure)[:2] == ["(a)  USA", "(b)  RoPE"]
    stored = selected(sources_of("mean_field"), "mean_field", variant="usa", n_tokens=256)[0]
    sizes, heights = medians(figure.axes[2])
    np.testing.assert_allclose(sizes, [64, 256, 1024])
    times = levelled_collapse_times(stored.dataset, 0.5, mode_growth_rate(1, 1.0, 3))
    assert heights[1] == pytest.approx(np.median(times))
    lines = {line.get_label(): line.get_data() for line in figure.axes[2].get_lines()}
    (label, (n, tau)), *_ = ((name, data) for name, data in lines.items() if name.startswith("USA: slope"))
    slope = 1.0 / (2.0 * mode_growth_rate(1, 1.0, 3))
    assert f"{slope:.3f}" in label
    assert np.diff(tau) / np.diff(np.log(n)) == pytest.approx(slope)
    with pytest.raises(DataError, match="no mode amplitudes; set mode_degrees"):
        draw_figure("mean_field", sources_of("baseline"))


def test_ranges_and_counts_of_cases_with_different_numbers_of_seeds():
    axes = new_figure(3.0, 2.0).subplots()
    values = [np.array([3.0, 1.0, 2.0, np.nan]), np.array([np.nan]), np.array([5.0, 4.0])]
    draw_ranges(axes, [1.0, 2.0, 3.0], values, kinds(1)[0])
    places, middle = medians(axes)
    np.testing.assert_array_equal(places, [1.0, 3.0])
    np.testing.assert_array_equal(middle, [2.0, 4.5])
    (bars,) = axes.containers[0].lines[2]
    np.testing.assert_array_equal([bar[:, 1] for bar in bars.get_segments()], [[1.0, 3.0], [4.0, 5.0]])
    assert count_seeds(values) == "1 to 4 seeds"
    assert count_seeds(values[:1]) == "4 seeds"


def test_every_new_figure_has_an_example():
    assert set(NEW) <= set(EXAMPLES)
