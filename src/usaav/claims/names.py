"""Names of the checks, kept apart so that reading a configuration imports no heavy library."""

CHECK_NAMES = ("collapse", "orbit", "prefix_clusters", "slices_collapse")
