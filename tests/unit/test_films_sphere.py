"""The page with a sphere to turn, as a text; tests/browser opens it."""

from __future__ import annotations

import base64
import inspect
import json
import re
from importlib import import_module

import numpy as np
import pytest

from usaav.errors import ConfigError, DataError
from usaav.films import sphere, template_digest, write_page
from usaav.films.names import PAGE_NAMES, PAGE_OPTIONS
from usaav.films.sphere import page
from usaav.theory import consensus

ALL = ("baseline", "rope", "prefix", "gauge_universality", "distance_bias", "toeplitz", "dichotomy")


def runs_of(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return {run["id"]: run for run in json.loads(found[1])}


def points(text):
    return np.frombuffer(base64.b64decode(text), dtype="<i2").reshape(-1, 3) / 32767.0


def test_equal_data_give_equal_bytes(tmp_path, sources_of):
    for copy in "ab":
        write_page("sphere", sources_of("rope"), {"seed": 1}, tmp_path / f"{copy}.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_nothing_is_loaded_from_elsewhere(sources_of):
    text = page(sources_of("rope"))
    assert not re.search(r"https?://|\beval\b|\bimport\b", text)
    assert re.findall(r"<link[^>]*>", text) == ['<link rel="icon" href="data:,">']
    assert "default-src 'none'" in text
    assert "/*RUNS*/" not in text


def test_tokens_and_prediction_are_those_of_the_run(sources_of):
    sources = sources_of("rope", "prefix", "baseline")
    runs = runs_of(page(sources, seed=1, select={"beta": 1}))
    assert list(runs) == ["rope/n12", "prefix/poles_n12", "prefix/tetrahedron_n12", "baseline/beta1_n12"]
    stored = sources.one_each("rope")[0]
    run = runs["rope/n12"]
    tokens = points(run["tokens"]).reshape(6, 12, 3)
    np.testing.assert_allclose(tokens, stored.trajectory(1), atol=2e-5)
    assert run["times"] == [0, 4, 8, 12, 16, 20]
    u = consensus(stored.kernel, stored.tokens(1), stored.labels(1))
    np.testing.assert_allclose(points(run["curve"])[:, 2], u[2], atol=2e-5)
    # a mark for each quarter of the labels, which are on a grid
    assert list(base64.b64decode(run["shapes"])) == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert len(points(runs["prefix/tetrahedron_n12"]["rings"])) == 4
    assert [entry["text"] for entry in runs["prefix/poles_n12"]["legend"]] == ["prompt 1", "prompt 2"]
    assert len(points(runs["baseline/beta1_n12"]["rings"])) == 1


def test_every_kind_of_kernel_has_a_title_and_marks(sources_of):
    runs = runs_of(page(sources_of(*ALL), select={"dim": 3}))
    titles = {run["title"] for run in runs.values()}
    assert "distance bias, ALiBi m = 4, β = 4, n = 8" in titles
    assert "Toeplitz, mode 2, linear profile, n = 12" in titles
    assert {run["group"] for run in runs.values()} == {name.replace("_", " ") for name in ALL}
    for run in runs.values():
        assert len(base64.b64decode(run["colors"])) == 3 * run["n"]
        assert max(base64.b64decode(run["shapes"])) < 12
        assert len(points(run["tokens"])) == run["n"] * len(run["times"])
    assert len(points(runs["toeplitz/linear_1_n12"]["curve"])) == 361
    assert not runs["dichotomy/a000_n12"]["curve"]
    assert not runs["gauge_universality/spiral_n16"]["rings"]


def test_long_runs_are_thinned_and_large_pages_refused(sources_of, monkeypatch):
    monkeypatch.setattr("usaav.films.sphere.FRAMES", 3)
    run = runs_of(page(sources_of("rope")))["rope/n12"]
    assert [run["times"][0], run["times"][-1]] == [0, 20]
    assert len(run["times"]) == 3
    monkeypatch.setattr("usaav.films.sphere.LARGEST", 1000)
    with pytest.raises(DataError, match=r"more than 0 MB; name fewer experiments"):
        page(sources_of("rope"))


def test_of_a_long_run_what_stands_still_is_skipped():
    trajectory = np.zeros((200, 2, 3))
    angle = np.clip((np.arange(200) - 90) / 20, 0, 1) * np.pi
    trajectory[:, :, 0], trajectory[:, :, 1] = np.cos(angle)[:, None], np.sin(angle)[:, None]
    assert sphere._frames(trajectory).tolist() == [0, *range(90, 111), 199]
    # one that moves throughout is thinned evenly, one that never does too
    angle = np.linspace(0, 3, 200)
    trajectory[:, :, 0], trajectory[:, :, 1] = np.cos(angle)[:, None], np.sin(angle)[:, None]
    for still in (1, 0):
        frames = sphere._frames(trajectory * still)
        assert (len(frames), frames[0], frames[-1]) == (sphere.FRAMES, 0, 199)
        assert np.diff(frames).max() - np.diff(frames).min() <= 1
    assert sphere._frames(trajectory[: sphere.FRAMES]).tolist() == list(range(sphere.FRAMES))


def test_nothing_in_the_data_ends_their_element(sources_of, monkeypatch):
    monkeypatch.setattr("usaav.films.sphere.variant_name", lambda _: "</script><b>")
    text = page(sources_of("prefix"))
    assert text.count("</script>") == 2
    assert "</script><b>" in runs_of(text)["prefix/poles_n12"]["title"]


def test_tokens_that_are_not_on_the_sphere_are_refused(sources_of):
    with pytest.raises(DataError, match="a sphere shows dim: 3"):
        page(sources_of("metastability"), select={"dim": 2})


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_options_are_those_that_the_configuration_knows(name):
    parameters = inspect.signature(import_module(f"usaav.films.{name}").page).parameters
    assert tuple(sorted(set(parameters) - {"sources"})) == PAGE_OPTIONS[name]
    assert len(template_digest(name)) == 16


def test_an_unknown_page_or_option_is_refused(tmp_path, sources_of):
    with pytest.raises(ConfigError, match="no page function 'cube'; there are sphere"):
        write_page("cube", sources_of("rope"), {}, tmp_path / "a.html")
    with pytest.raises(ConfigError, match="unknown option 'sed'; it takes seed, select"):
        write_page("sphere", sources_of("rope"), {"sed": 1}, tmp_path / "a.html")
