"""Names of the drawing functions with their options, apart from their code.

Reading a configuration so imports no plotting library. Each name is a module of this package with a function
``draw(sources, **options)``.
"""

#: drawing function -> the options it takes
DRAW_OPTIONS: dict[str, tuple[str, ...]] = {
    "circle_trajectories": ("select", "seed"),
    "cluster_staircase": ("select", "seed"),
    "distance_curves": ("floor", "select"),
    "energy": ("floor", "select"),
    "exit_times": ("select",),
    "merge_tree": ("select", "seed"),
    "overview": ("select", "seed"),
    "slices": ("floor", "select"),
    "snapshots_on_sphere": ("select", "seed", "times"),
    "terminal_clusters": ("select", "seed"),
    "terminal_orbit": ("seeds", "select"),
}
DRAW_NAMES = tuple(DRAW_OPTIONS)
