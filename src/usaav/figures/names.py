"""Names of the drawing functions with their options, apart from their code.

Reading a configuration so imports no plotting library. Each name is a module of this package with a function
``draw(sources, **options)``.
"""

#: drawing function -> the options it takes
DRAW_OPTIONS: dict[str, tuple[str, ...]] = {
    "circle_trajectories": ("seed", "select"),
    "cluster_staircase": ("seed", "select"),
    "dichotomy": ("select",),
    "distance_bias": ("floor", "select"),
    "distance_curves": ("floor", "select"),
    "energy": ("floor", "select"),
    "exit_times": ("select",),
    "gauge_orbits": ("seeds", "select"),
    "great_circles": ("seed", "select"),
    "layers": ("floor", "select"),
    "mean_field": ("collapsed", "floor", "least_slope", "select"),
    "merge_tree": ("seed", "select"),
    "mode_selection": ("linear", "saturated", "select"),
    "orbit_laws": ("bins", "seed", "select"),
    "overview": ("seed", "select"),
    "phase_diagram": ("across", "select", "up"),
    "slices": ("floor", "select"),
    "snapshots_on_sphere": ("seed", "select", "times"),
    "softmax": ("floor", "seed", "select"),
    "targets_reached": ("seed", "select"),
    "terminal_clusters": ("seed", "select"),
    "terminal_orbit": ("seeds", "select"),
}
DRAW_NAMES = tuple(DRAW_OPTIONS)
#: drawing functions that need only tables, so that sweeps, which keep no file for each case, can be drawn too
DRAWN_FROM_TABLES = ("phase_diagram",)
