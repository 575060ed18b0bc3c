"""Names of the drawing functions, kept apart so that reading a configuration imports no heavy library."""

DRAW_NAMES = ("distance_curves", "snapshots_on_sphere", "terminal_orbit", "slices", "overview", "energy")
