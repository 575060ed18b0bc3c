"""Cases that share a file: what goes in comes out, whatever their shapes."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr

from usaav import tables
from usaav.config import from_mapping
from usaav.errors import ConfigError, DataError
from usaav.flow.case import run_case
from usaav.sweeps import gathering, stacks
from usaav.sweeps.batches import measure_batch, simulate_batch

SETTINGS = {
    "rtol": 1e-4,
    "backend": "numpy",
    "experiments": {
        "grid": {
            "labels": {"law": "grid"},
            "n_tokens": [3, 5],
            "seeds": 2,
            "times": {"start": 0, "stop": 30, "count": 5},
            "snapshots": 2,
            "batch": 3,
            "sweep": {"kernel.beta": [1, 4], "times.stop": [20, 30]},
            "variants": {
                "usa": {"kernel": {"type": "usa", "beta": 1}},
                "rope": {"kernel": {"type": "rope", "beta": 1, "planes": [[0, 1]], "frequencies": [1]}},
                "layers": {"kernel": {"type": "usa", "beta": 1}, "method": "layers", "step": 0.5},
            },
        }
    },
}


@pytest.fixture(scope="module")
def config():
    return from_mapping(SETTINGS, [])


@pytest.fixture(scope="module")
def batches(config, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("batches")
    paths = []
    for number, cases in enumerate(config.batches("grid")):
        paths.append(folder / f"{number}.nc")
        simulate_batch([case.to_json() for case in cases], paths[-1], 1)
    return paths


def all_cases(path: Path) -> dict[str, xr.Dataset]:
    return {ds.attrs["case"]: ds for stack in stacks.read(path) for ds in stacks.cases(stack)}


def test_cases_come_out_as_they_went_in(config, batches: list[Path]) -> None:
    for cases, path in zip(config.batches("grid"), batches, strict=True):
        found = all_cases(path)
        assert found.keys() == {case.name for case in cases}
        for case in cases:
            expected = run_case(case)
            # what a batch pads is as between runs
            cut = found[case.name].isel(merge=slice(expected.sizes.get("merge", 0)), missing_dims="ignore")
            for name in expected.variables:
                np.testing.assert_array_equal(cut[name].values, expected[name].values, err_msg=name)
                assert cut[name].attrs == expected[name].attrs
            del expected.attrs["wall_seconds"]
            assert {name: cut.attrs[name] for name in expected.attrs} == expected.attrs


def test_a_group_has_the_cases_of_one_shape_and_one_set_of_times(batches: list[Path], tmp_path: Path) -> None:
    store = tmp_path / "store.nc"
    gathering.gather_stores(batches, store)
    with netCDF4.Dataset(store) as file:
        # with recorded merges and without, times to 20 and to 30
        assert set(file.groups) == {f"n{n}_d3{number}" for n in (3, 5) for number in ("", "_2", "_3", "_4")}
        for group in file.groups.values():
            assert len({float(value) for value in group["times_stop"][:]}) == 1
    assert all_cases(store).keys() == {name for path in batches for name in all_cases(path)}


def test_settings_of_the_cases_are_variables(batches: list[Path], tmp_path: Path) -> None:
    store = tmp_path / "store.nc"
    gathering.gather_stores(batches, store)
    with xr.open_dataset(store, group="n3_d3") as group:
        assert set(group["kernel"].values) == {"usa", "rope"}
        assert set(group["variant"].values) == {"usa", "rope"}
        assert list(group["kernel_beta"].values) == list(group["beta"].values)
        assert group["kernel_beta"].attrs["long_name"] == "setting kernel.beta of the case"


def test_settings_that_some_cases_lack_are_missing(tmp_path: Path) -> None:
    with netCDF4.Dataset(tmp_path / "settings.nc", "w") as file:
        group = file.createGroup("one")
        group.createDimension("case", None)
        group.createVariable("label", "f8", ("case",))
        rows = [{"kernel": "usa", "scale.x": 1.0}, {"kernel": "rope", "label": "a"}]
        gathering._write_settings(group, rows)
        assert list(group["kernel"][:]) == ["usa", "rope"]
        assert np.ma.getmaskarray(group["scale_x"][:]).tolist() == [False, True]
        assert list(group["setting_label"][:]) == ["", "a"]


def test_tables_of_batches_lie_below_one_another(batches: list[Path], tmp_path: Path) -> None:
    parts = []
    for path in batches:
        parts.append(tmp_path / f"{path.stem}.parquet")
        measure_batch(path, 0.1, parts[-1])
    gathering.gather_tables(parts, 0.1, tmp_path / "all.parquet", tmp_path / "columns.csv")
    table = tables.read(tmp_path / "all.parquet")
    assert len(table) == 24 * 2 * 5
    assert table["variant"].nunique() == 3
    described = (tmp_path / "columns.csv").read_text(encoding="utf-8")
    assert all(f"time,{column}," in described for column in table.columns)


def test_a_damaged_file_is_named(batches: list[Path], tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.nc"
    damaged.write_bytes(batches[0].read_bytes()[:300])
    with pytest.raises(DataError, match=r"damaged\.nc"):
        measure_batch(damaged, 0.1, tmp_path / "table.parquet")
    with pytest.raises(DataError, match=r"damaged\.nc"):
        gathering.gather_stores([damaged], tmp_path / "store.nc")
    with pytest.raises(DataError, match=r"damaged\.nc"):
        gathering.gather_tables([damaged], 0.1, tmp_path / "all.parquet", tmp_path / "columns.csv")
    netCDF4.Dataset(tmp_path / "empty.nc", "w").close()
    with pytest.raises(DataError, match=r"empty\.nc: no cases"):
        stacks.groups(tmp_path / "empty.nc")
    assert {path.name for path in tmp_path.iterdir()} == {"damaged.nc", "empty.nc"}


def test_a_case_that_fails_is_named_and_nothing_is_written(config, tmp_path: Path) -> None:
    good, bad = (case.to_json() for case in config.cases("grid")[:2])
    with pytest.raises(ConfigError):
        simulate_batch([good, bad.replace('"law":"grid"', '"law":"grids"')], tmp_path / "batch.nc", 1)
    with pytest.raises(ConfigError, match=r"grid\.usa_.*precision.*float32 needs backend cupy, not numpy"):
        simulate_batch([good, bad.replace('"float64"', '"float32"')], tmp_path / "batch.nc", 1)
    assert not list(tmp_path.iterdir())


def test_progress_counts_the_cases(config, tmp_path: Path) -> None:
    told = []
    texts = [case.to_json() for case in config.cases("grid")[:2]]
    simulate_batch(texts, tmp_path / "batch.nc", 1, lambda case, fraction: told.append((case, fraction)))
    assert told == [(0, 1.0), (1, 1.0)]
