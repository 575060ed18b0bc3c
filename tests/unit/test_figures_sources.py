"""Tables and cases that figures are drawn from, and errors for those that are missing or damaged."""

from __future__ import annotations

import numpy as np
import pytest

from usaav.datasets import FORMAT
from usaav.errors import DataError
from usaav.figures import Sources


def test_cases_are_selected_by_what_they_have(sources_of):
    sources = sources_of("baseline", "prefix")
    assert {stored.case.name for stored in sources.cases("baseline", {"beta": 4, "n_tokens": [8]})} == {
        "beta4_n8"
    }
    assert len(sources.cases("baseline", {"variant": "poles"})) == 4
    assert len(sources.cases("prefix", {"variant": "poles", "beta": 1})) == 1
    with pytest.raises(DataError, match=r"no case with .*'beta': 9.*; there are beta1_n12"):
        sources.cases("baseline", {"beta": 9})


def test_of_cases_that_differ_in_n_one_is_shown(sources_of, monkeypatch):
    sources = sources_of("rope")
    assert [stored.case.settings.n_tokens for stored in sources.one_each("rope")] == [12]
    monkeypatch.setattr("usaav.figures.sources.WELL_SHOWN", 10)
    assert [stored.case.settings.n_tokens for stored in sources.one_each("rope")] == [8]
    monkeypatch.setattr("usaav.figures.sources.WELL_SHOWN", 5)
    assert [stored.case.settings.n_tokens for stored in sources.one_each("rope")] == [8]


def test_tokens_labels_and_times_of_a_case(sources_of):
    stored = sources_of("rope").one_each("rope")[0]
    np.testing.assert_allclose(stored.stored_times, [0, 4, 8, 12, 16, 20])
    np.testing.assert_array_equal(stored.trajectory(1)[2], stored.tokens(1, 8.0))
    np.testing.assert_array_equal(stored.trajectory(None)[-1], stored.tokens(0))
    np.testing.assert_allclose(stored.labels(0), 2 * np.pi * np.arange(12) / 12)
    assert sources_of("baseline").cases("baseline")[0].labels(0) is None
    with pytest.raises(DataError, match="no tokens stored at tau = 5"):
        stored.tokens(0, 5.0)


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    sources = Sources.of_files(["a"], [tmp_path / "missing.nc"], [tmp_path / "a.csv"], [tmp_path / "e.csv"])
    assert list(sources.tables) == ["a"]
    assert len(sources.events) == 1
    with pytest.raises(DataError, match=r"missing\.nc: no such file"):
        len(sources.stored)
    with pytest.raises(DataError, match=r"a\.csv: no such table"):
        sources.tables["a"]
    with pytest.raises(DataError, match="no table of experiment 'b' given, only of a"):
        sources.tables["b"]


def test_each_experiment_has_one_table(tmp_path):
    with pytest.raises(DataError, match="2 tables for 1 experiments"):
        Sources.of_files(["a"], [], [tmp_path / "a.csv", tmp_path / "b.csv"])


def test_a_dataset_without_fitting_settings_is_refused(tmp_path):
    import xarray as xr

    path = tmp_path / "bare.nc"
    xr.Dataset({"x": ("x", [1.0])}).to_netcdf(path)
    with pytest.raises(DataError, match="format None, expected 'usaav-1'"):
        list(Sources.of_files(["a"], [path]).stored)
    old = tmp_path / "old.nc"
    names = {"format": FORMAT, "experiment": tmp_path.name, "case": "old"}
    xr.Dataset({"x": ("x", [1.0])}, attrs={**names, "settings": "{}"}).to_netcdf(old)
    with pytest.raises(DataError, match=r"old\.nc: settings of another version"):
        list(Sources.of_files(["a"], [old]).stored)


def test_the_experiments_of_the_datasets_can_be_listed(sources_of):
    assert list(sources_of("rope", "prefix").stored) == ["rope", "prefix"]
    with pytest.raises(DataError, match="no datasets of experiment 'rope' given"):
        Sources.of_files(["rope"]).cases("rope")
