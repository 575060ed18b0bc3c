"""Names of the checks with their options, apart from their code.

Reading a configuration so imports no data library. Each name is a module of this package with a function
``check(cases, tolerance, **options)``.
"""

#: options that belong to the table and not to a check: the figure that shows what is claimed
COMMON_OPTIONS = ("figure",)

#: check -> the options it takes
CHECK_OPTIONS: dict[str, tuple[str, ...]] = {
    name: (*options, *COMMON_OPTIONS)
    for name, options in {
        "collapse": ("beta", "energy", "select", "time"),
        "dichotomy": ("margin", "phase"),
        "distance_bias": ("collapsed", "energy", "time"),
        "gauge_universality": ("select",),
        "layers": ("largest_step", "order"),
        "mean_field": ("least_growth", "least_slope", "linear", "slope"),
        "metastability": ("isolated", "pairs", "slope"),
        "mode_selection": ("count", "largest_beta", "linear", "saturated"),
        "orbit": ("energy", "select"),
        "orbit_universality": ("slope",),
        "prefix_clusters": ("angle", "energy", "select"),
        "slices_collapse": ("marginal", "select"),
        "toeplitz": ("energy", "select"),
    }.items()
}
CHECK_NAMES = tuple(CHECK_OPTIONS)
