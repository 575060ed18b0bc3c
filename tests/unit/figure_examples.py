"""What each figure is drawn from in tests, and how its parts are found."""

from __future__ import annotations

from usaav.figures import draw_figure

EXAMPLES = {
    "circle_trajectories": (["metastability"], {"select": {"dim": 2}}),
    "cluster_staircase": (["metastability"], {}),
    "dichotomy": (["dichotomy"], {}),
    "distance_bias": (["distance_bias"], {}),
    "distance_curves": (["baseline", "rope"], {}),
    "energy": (["baseline", "rope", "prefix"], {}),
    "exit_times": (["metastability"], {}),
    "gauge_orbits": (["generalized_rope"], {"seeds": [1]}),
    "great_circles": (["toeplitz"], {}),
    "layers": (["layers"], {}),
    "mean_field": (["mean_field"], {"least_slope": 256}),
    "merge_tree": (["metastability"], {"select": {"variant": "usa"}}),
    "mode_selection": (["mode_selection"], {}),
    "orbit_laws": (["orbit_universality"], {"bins": 20}),
    "overview": (["baseline", "rope", "prefix"], {}),
    "phase_diagram": (["baseline"], {"up": "n_tokens"}),
    "slices": (["conditional"], {}),
    "snapshots_on_sphere": (["baseline", "rope"], {"select": {"beta": 1}}),
    "softmax": (["baseline", "rope", "softmax"], {}),
    "targets_reached": (["gauge_universality"], {}),
    "terminal_clusters": (["prefix"], {}),
    "terminal_orbit": (["rope"], {"seeds": [1]}),
}


def drawn(name, sources_of, **options):
    experiments, usual = EXAMPLES[name]
    return draw_figure(name, sources_of(*experiments), usual | options)


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def lines_of(axes, minimum_width=1.0):
    return [line for line in axes.get_lines() if line.get_linewidth() >= minimum_width]
