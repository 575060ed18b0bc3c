"""Names of the checks, apart from their code so that reading a configuration imports no data library."""

CHECK_NAMES = (
    "collapse",
    "orbit",
    "prefix_clusters",
    "slices_collapse",
    "equal_energy",
)
