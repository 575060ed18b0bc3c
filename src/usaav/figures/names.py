"""Names of the drawing functions, apart from their code so that reading a configuration imports no plotting library."""

DRAW_NAMES = (
    "distance_curves",
    "snapshots_on_sphere",
    "terminal_orbit",
    "terminal_clusters",
    "slices",
    "overview",
    "energy",
    "angle_histograms",
    "targets_and_tokens",
    "great_circle",
    "dichotomy",
    "metastability",
    "layers",
    "verdicts",
)
