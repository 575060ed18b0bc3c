"""What the columns of the tables are, with their units."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

#: column -> (unit, description); "1" is a plain number, an empty unit marks names and counts
COLUMNS: dict[str, tuple[str, str]] = {
    "experiment": ("", "experiment of the configuration"),
    "case": ("", "case within the experiment: one size, variant and point of the sweep"),
    "n_tokens": ("", "number of tokens n"),
    "dim": ("", "dimension d; the tokens lie on the sphere S^{d-1}"),
    "beta": ("1", "inverse temperature; 0 for the linear profile"),
    "seed": ("", "seed of the run"),
    "time": ("1", "time tau of the flow"),
    "dirac_distance": ("1", "chordal W2 distance to the nearest Dirac mass, sqrt(2 (1 - |mean token|))"),
    "geodesic_dirac_distance": (
        "rad",
        "W2 distance to the nearest Dirac mass measured by angles; only at the first and last stored tokens",
    ),
    "order_parameter": ("1", "length of the mean token"),
    "energy": ("1", "interaction energy E = 1/2 sum_ij w_ij phi(<G_i x_i, G_j x_j>) / n^2"),
    "energy_maximum": ("1", "largest energy of any tokens with these labels; empty where it is not known"),
    "conditional_dirac_distance": (
        "1",
        "largest Dirac distance of the tokens that share a label; empty where all labels differ",
    ),
    "cluster_count": (
        "",
        "connected components of tokens closer than {cluster_angle} rad; empty where no tokens are stored",
    ),
    "gauge_cluster_count": (
        "",
        "clusters in gauge coordinates, from the merge events; empty for methods that record none",
    ),
    "merge": ("", "number of the merge within its run, from 0"),
    "clusters_left": ("", "clusters that are left after the merge"),
    "first": ("", "smallest token index of the first cluster"),
    "second": ("", "smallest token index of the second cluster"),
    "mass_first": ("1", "mass of the first cluster, a fraction of all tokens"),
    "mass_second": ("1", "mass of the second cluster, a fraction of all tokens"),
    "duration": (
        "1",
        "tau from the moment both clusters existed to the merge; empty where that was not kept",
    ),
    "angle_before": ("rad", "angle between the clusters at that moment; empty where it was not kept"),
    "predicted_duration": (
        "1",
        "two-cluster quadrature over the pair's mass; empty for weights, softmax and while many are left",
    ),
}
_OWN_TIME = {"event": ("1", "time tau of the merge: the pair comes closer than the merge angle")}


def describe(tables: Sequence[tuple[str, pd.DataFrame]], cluster_angle: float) -> pd.DataFrame:
    """Rows (table, column, unit, description) for the columns of `tables`: pairs of kind and table."""
    rows = []
    for table, frame in tables:
        for column in map(str, frame.columns):
            unit, text = COLUMNS.get(column, ("", f"setting {column} of the case"))
            if column == "time":
                unit, text = _OWN_TIME.get(table, (unit, text))
            rows.append((table, column, unit, text.replace("{cluster_angle}", f"{cluster_angle:g}")))
    return pd.DataFrame(rows, columns=["table", "column", "unit", "description"])
