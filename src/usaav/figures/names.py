"""Names of the drawing functions with their options, apart from their code.

Reading a configuration so imports no plotting library. Each name is a module of this package with a function
``draw(sources, **options)``.
"""

#: drawing function -> the options it takes
DRAW_OPTIONS: dict[str, tuple[str, ...]] = {
    "circle_trajectories": ("seed", "select"),
    "cluster_staircase": ("seed", "select"),
    "distance_curves": ("floor", "select"),
    "energy": ("floor", "select"),
    "exit_times": ("select",),
    "merge_tree": ("seed", "select"),
    "overview": ("seed", "select"),
    "slices": ("floor", "select"),
    "snapshots_on_sphere": ("seed", "select", "times"),
    "terminal_clusters": ("seed", "select"),
    "terminal_orbit": ("seeds", "select"),
}
DRAW_NAMES = tuple(DRAW_OPTIONS)
