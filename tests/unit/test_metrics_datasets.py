"""Metrics of Datasets: dimensions, coordinates, merge events, and the tables of the workflow."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage

import usaav
from usaav import datasets, metrics, theory
from usaav.errors import DataError
from usaav.metrics.tables import event_table, time_table, write_tables

TIMES = [0.0, 1.0, 5.0, 1e6]
ROPE = {"type": "rope", "beta": 9.0, "planes": [[0, 1]], "frequencies": [1.0]}


def run(spec=ROPE, n=12, runs=2, times=TIMES, labels=None, **options):
    tokens = np.stack([usaav.initial_tokens({"law": "uniform"}, n, 3, seed) for seed in range(runs)])
    marks = np.arange(n) % 6 if labels is None else labels
    return usaav.simulate(usaav.kernel(spec), tokens, marks, times, backend="numpy", **options)


def named(dataset, case="n12", **parameters):
    settings = json.dumps({"parameters": parameters})
    return dataset.assign_attrs(experiment="trial", case=case, settings=settings)


@pytest.fixture(scope="module")
def data():
    return run()


@pytest.fixture(scope="module")
def stored():
    return named(run(snapshots=[0, 3]), variant="rope")


# ------------------------------------------------------------------ Dataset -> DataArray


@pytest.mark.parametrize(
    "metric",
    [
        metrics.dirac_distance,
        lambda ds: metrics.dirac_distance(ds, geodesic=True),
        metrics.order_parameter,
        metrics.cluster_count,
        metrics.energy,
        metrics.conditional_dirac_distance,
        lambda ds: metrics.wasserstein(ds, np.eye(3)),
    ],
)
def test_metrics_of_a_dataset_lie_on_run_and_time(data, stored, metric):
    values = metric(data)
    assert isinstance(values, xr.DataArray)
    assert values.dims == ("run", "time")
    assert values["time"].values.tolist() == TIMES
    assert values["seed"].values.tolist() == [0, 1]
    assert {"long_name", "units"} <= set(values.attrs)
    kept = metric(stored)
    assert kept.dims == ("run", "snapshot")
    assert kept["snapshot_time"].values.tolist() == [0.0, 1e6]
    assert kept.values == pytest.approx(values.values[:, [0, 3]], rel=1e-12, abs=1e-15)
    single = metric(data.isel(run=1))
    assert single.dims == ("time",)
    assert single.values == pytest.approx(values.values[1], rel=1e-12, abs=1e-15)


def test_metrics_of_a_dataset_agree_with_what_the_run_recorded(data):
    for name in ("dirac_distance", "conditional_dirac_distance", "energy"):
        found = getattr(metrics, name)(data)
        assert found.values == pytest.approx(data[name].values, rel=1e-10, abs=1e-12)
        assert found.name == name


def test_metrics_take_the_tokens_alone(data):
    assert metrics.dirac_distance(data["tokens"]).equals(metrics.dirac_distance(data))
    with pytest.raises(DataError, match="label"):
        metrics.conditional_dirac_distance(data["tokens"])
    with pytest.raises(DataError, match="kernel"):
        metrics.energy(data["tokens"])
    with pytest.raises(DataError, match="tokens"):
        metrics.dirac_distance(data.drop_vars("tokens"))


def test_sizes_and_slices_have_an_axis_of_their_own(data):
    sizes = metrics.cluster_sizes(data)
    assert sizes.dims == ("run", "time", "cluster")
    assert (sizes.sum("cluster") == 12).all()
    slices = metrics.conditional_dirac_distance(data, per_label=True)
    assert slices.dims == ("run", "time", "slice")
    assert slices.sizes["slice"] == 6
    assert slices.max("slice").values.tolist() == metrics.conditional_dirac_distance(data).values.tolist()


def test_energy_of_a_dataset_without_settings_takes_the_kernel(data):
    bare = data.assign_attrs(kernel="Kernel(...)")
    with pytest.raises(DataError, match="pass the kernel"):
        metrics.energy(bare)
    assert metrics.energy(bare, usaav.kernel(ROPE)).values == pytest.approx(metrics.energy(data).values)


# ------------------------------------------------------------------ merge events


def test_the_merge_tree_is_a_linkage(data):
    tree = metrics.merge_tree(data)
    assert tree.dims == ("run", "merge", "column")
    for row in range(2):
        table = tree.isel(run=row).values
        assert is_valid_linkage(table, throw=True)
        assert len(table) == 11
        assert table[-1, 3] == 12
        assert table[:, 2].tolist() == data["merge_time"].values[row].tolist()
        dendrogram(table, no_plot=True)


def test_plateaus_are_what_lies_between_merges(data):
    table = metrics.plateaus(data)
    for padded, times in zip(table.values, data["merge_time"].values, strict=True):
        row = padded[~np.isnan(padded[:, 0])]
        assert row[0].tolist() == [0.0, times[0], 12.0]
        assert row[1:, 0].tolist() == row[:-1, 1].tolist()
        assert np.isnan(row[-1, 1])
        assert row[-1, 2] == 1
        assert np.all(np.diff(row[:, 2]) < 0)


def test_metastability_times_are_the_merges(data):
    last = metrics.metastability_times(data)
    assert last.dims == ("run",)
    assert last.values.tolist() == data["merge_time"].values[:, -1].tolist()
    assert metrics.metastability_times(data, 3).values.tolist() == data["merge_time"].values[:, -3].tolist()
    assert metrics.metastability_times(data, 12).values.tolist() == [0.0, 0.0]
    with pytest.raises(DataError, match="count"):
        metrics.metastability_times(data, 0)


def test_what_a_run_ended_too_early_to_show_is_missing():
    short = run(times=[0.0, 0.01])
    assert np.isnan(metrics.metastability_times(short).values).all()
    assert np.isnan(metrics.plateaus(short).sel(column="end").values[:, -1]).all()
    nothing = run(times=[0.0, 1e-9])
    assert "merge_time" not in nothing
    assert np.isnan(metrics.metastability_times(nothing).values).all()
    assert metrics.plateaus(nothing).isel(run=0).values[:, [0, 2]].tolist() == [[0.0, 12.0]]
    assert metrics.merge_tree(nothing).sizes["merge"] == 0


def test_runs_with_fewer_merges_are_padded():
    apart = np.array([[1.0, 0, 0], [-1.0, 0, 0], [1.0, 0, 0]])
    near = np.array([[0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]])
    kernel = usaav.kernel({"type": "usa", "beta": 1.0})
    mixed = usaav.simulate(kernel, np.stack([apart, near]), times=[0.0, 50.0], backend="numpy")
    assert np.isnan(metrics.metastability_times(mixed).values).tolist() == [True, False]
    tree = metrics.merge_tree(mixed)
    assert np.isnan(tree.values[0, :, 2]).tolist() == [False, True]
    assert np.isnan(metrics.plateaus(mixed).values[0, -1]).any()


def test_merge_metrics_of_one_run_have_no_run_axis(data):
    one = data.isel(run=0)
    assert metrics.merge_tree(one).dims == ("merge", "column")
    assert float(metrics.metastability_times(one)) == data["merge_time"].values[0, -1]


def test_merges_that_were_made_in_bulk_are_not_known(data):
    # as in runs of very many tokens: the first three merges not listed, five tokens stored
    many = data.isel(token=slice(0, 5), merge=slice(3, None)).assign(unrecorded_merges=("run", [3, 3]))
    many = many.assign_coords(token=np.arange(5))
    with pytest.raises(DataError, match="settings"):
        metrics.plateaus(many)
    many = named(many).assign_attrs(settings=json.dumps({"settings": {"n_tokens": 12}}))
    table = metrics.plateaus(many).isel(run=0).values
    assert np.isnan(table[0, 0])
    assert table[0, 2] == 9
    assert metrics.metastability_times(many).equals(metrics.metastability_times(data))
    assert np.isnan(metrics.metastability_times(many, 9).values).all()
    with pytest.raises(DataError, match="one by one"):
        metrics.merge_tree(many)
    rows = time_table([many])
    assert rows["n_tokens"].unique().tolist() == [12]
    assert rows["gauge_cluster_count"].isna().tolist()[0]
    assert event_table([many])["clusters_left"].tolist() == [*range(8, 0, -1)] * 2


def test_layers_record_no_merges():
    looped = run(method="layers", step=0.5, times=[0.0, 5.0])
    for metric in (metrics.merge_tree, metrics.plateaus, metrics.metastability_times):
        with pytest.raises(DataError, match="adaptive"):
            metric(looped)


# ------------------------------------------------------------------ tables


def test_the_time_table_has_one_row_per_run_and_time(stored):
    table = time_table([stored])
    assert len(table) == 8
    assert table["experiment"].unique().tolist() == ["trial"]
    assert table["variant"].unique().tolist() == ["rope"]
    assert table["beta"].unique().tolist() == [9.0]
    assert table["seed"].tolist() == [0] * 4 + [1] * 4
    assert table["time"].tolist() == TIMES * 2
    assert table["energy"].tolist() == stored["energy"].values.reshape(-1).tolist()
    assert table["energy_maximum"].unique().tolist() == [math.exp(9.0) / 18.0]
    assert table["cluster_count"].isna().tolist() == [False, True, True, False] * 2
    assert table["geodesic_dirac_distance"].isna().tolist() == [False, True, True, False] * 2
    assert table["gauge_cluster_count"].tolist()[:1] == [12]
    assert table["gauge_cluster_count"].tolist()[3::4] == [1, 1]
    assert table["order_parameter"].values == pytest.approx(
        np.sqrt(1.0) - table["dirac_distance"].values ** 2 / 2.0, abs=1e-12
    )


def test_the_event_table_predicts_the_last_merge(stored):
    table = event_table([stored])
    assert len(table) == 22
    last = table[table["clusters_left"] == 1]
    assert last["duration"].values == pytest.approx(last["predicted_duration"].values, rel=1e-6)
    assert (last["mass_first"] + last["mass_second"]).values == pytest.approx([1.0, 1.0])
    expected = theory.two_cluster_time(last["angle_before"].iloc[0], 1e-3, 9.0)
    assert last["predicted_duration"].iloc[0] == pytest.approx(expected, rel=1e-13)


def test_tables_of_cases_that_differ():
    cosine = {"type": "toeplitz", "coefficients": {"1": 1.0}, "phi": "linear"}
    grid = 2.0 * np.pi * np.arange(12) / 12
    random_labels = np.random.default_rng(0).uniform(0.0, 6.0, (2, 12))
    bias = {"type": "distance_bias", "beta": 1.0, "profile": "exponential", "length": 1.0}
    cases = [
        named(run(cosine, labels=grid, times=[0.0, 1.0]), "linear", **{"kernel.phi": "linear"}),
        named(
            run({**cosine, "phi": "exponential", "beta": 1.0}, labels=grid, times=[0.0, 1.0]), "exponential"
        ),
        named(
            run(bias, labels=random_labels, times=[0.0, 1.0]), "bias", **{"kernel.beta": 1.0, "times": [1, 2]}
        ),
        named(run(method="layers", step=0.5, times=[0.0, 1.0]), "layers"),
    ]
    table = time_table(cases).set_index("case")
    assert table.loc["linear", "energy_maximum"].values == pytest.approx([0.25] * 4, rel=1e-13)
    assert table.loc["exponential", "energy_maximum"].isna().all()
    assert table.loc["bias", "energy_maximum"].nunique() == 2
    assert table.loc["bias", "times"].unique().tolist() == ["[1, 2]"]
    assert table.loc["layers", "gauge_cluster_count"].isna().all()
    assert table.loc["linear", "conditional_dirac_distance"].isna().all()
    events = event_table(cases)
    assert len(events) == 0 or events["predicted_duration"].isna().all()
    assert len(event_table([])) == 0


def test_softmax_has_no_prediction():
    events = event_table([named(run(normalization="softmax"))])
    assert len(events)
    assert events["predicted_duration"].isna().all()


def test_written_tables_are_the_same_each_time(tmp_path, stored):
    path = tmp_path / "trial" / "n12.nc"
    datasets.save(stored, path)
    for folder in ("one", "two"):
        made = tmp_path / folder
        write_tables([path], 0.1, made / "t.csv", made / "e.csv", made / "c.csv")
        assert sorted(file.name for file in made.iterdir()) == ["c.csv", "e.csv", "t.csv"]
    for name in ("t.csv", "e.csv", "c.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    read = pd.read_csv(tmp_path / "one" / "t.csv")
    assert read["energy"].tolist() == time_table([stored])["energy"].tolist()
    columns = pd.read_csv(tmp_path / "one" / "c.csv", keep_default_na=False)
    assert set(columns[columns["table"] == "time"]["column"]) == set(read.columns)
    assert columns["description"].str.len().min() > 0
    assert columns.set_index(["table", "column"]).loc[("event", "angle_before"), "unit"] == "rad"
    assert "0.1 rad" in columns.set_index(["table", "column"]).loc[("time", "cluster_count"), "description"]


def test_tables_that_cannot_be_written_say_so(tmp_path, stored):
    path = tmp_path / "trial" / "n12.nc"
    datasets.save(stored, path)
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="can't write"):
        write_tables([path], 0.1, tmp_path / "file" / "t.csv", tmp_path / "e.csv", tmp_path / "c.csv")
