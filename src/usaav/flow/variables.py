"""Names, dimensions, long names and units of everything a dataset holds."""

from __future__ import annotations

#: of the metadata of every dataset
CONVENTIONS = "CF-1.11"

#: variable -> (dimensions, long name, units); the netCDF files and the documentation read the same table
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "tokens": (("run", "time", "token", "component"), "token, a unit vector", "1"),
    "label": (
        ("run", "token"),
        "auxiliary label of the token (radians for rotary gauges, prompt number for prefix)",
        "1",
    ),
    "energy": (("run", "time"), "interaction energy E = 1/2 sum_ij w_ij phi / n^2", "1"),
    "dirac_distance": (("run", "time"), "chordal W2 distance to the nearest Dirac mass", "1"),
    "conditional_dirac_distance": (
        ("run", "time"),
        "largest Dirac distance of the tokens that share a label",
        "1",
    ),
    "mean_token": (("run", "time", "component"), "mean of all tokens", "1"),
    "mode_amplitude": (
        ("run", "time", "degree"),
        "amplitude of the modes of a degree in gauge coordinates",
        "1",
    ),
    "mode_phase": (("run", "time", "degree"), "phase of the mode on the circle (0 on the sphere)", "rad"),
    "step_count": (("run",), "integration steps, rejected ones included, or layers", "1"),
    "unrecorded_merges": (("run",), "merges among very many tokens, made in bulk and not listed", "1"),
    "handover_time": (
        ("run",),
        "tau at which the direct field took over from the spectral one or from a GPU; -1: never",
        "1",
    ),
    "merge_time": (
        ("run", "merge"),
        "tau at which two clusters came closer than merge_angle (extrapolated while more than 32 are left)",
        "1",
    ),
    "merge_first": (("run", "merge"), "smallest token index of the first cluster; -1: no such merge", "1"),
    "merge_second": (("run", "merge"), "smallest token index of the second cluster; -1: no such merge", "1"),
    "merge_mass_first": (("run", "merge"), "mass of the first cluster", "1"),
    "merge_mass_second": (("run", "merge"), "mass of the second cluster", "1"),
    "merge_duration": (
        ("run", "merge"),
        "tau from the moment both clusters existed to merge_time; NaN where more than 512 were left then",
        "1",
    ),
    "merge_angle_before": (
        ("run", "merge"),
        "angle between the clusters at that moment; NaN where more than 512 were left then",
        "rad",
    ),
}
COORDINATES: dict[str, tuple[str, str]] = {
    "time": ("time tau of the flow", "1"),
    "snapshot_time": ("time tau of the stored tokens", "1"),
    "token": ("index of the token in the run", "1"),
    "degree": ("degree of the mode", "1"),
    "seed": ("seed of the run", "1"),
}
#: in place of a token index where a run has fewer merges than others
NO_CLUSTER = -1
