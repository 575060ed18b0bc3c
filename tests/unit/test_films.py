"""Films of small runs."""

from __future__ import annotations

import inspect
import subprocess
from importlib import import_module

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from usaav.errors import ConfigError, DataError
from usaav.figures import Sources
from usaav.films import metastability, write_film, writing
from usaav.films.names import FILM_NAMES, FILM_OPTIONS
from usaav.films.overview import scene
from usaav.films.writing import HOLD_FIRST, HOLD_LAST, LARGEST

OVERVIEW = ("baseline", "rope", "prefix")


def test_a_film_has_a_frame_for_each_stored_time_and_equal_bytes(tmp_path, sources_of):
    done = []
    for name in ("a", "b"):
        films = tmp_path / f"{name}.gif", tmp_path / f"{name}.mp4"
        write_film("overview", sources_of(*OVERVIEW), {"seed": 1}, *films, lambda _, part: done.append(part))
    for kind in ("gif", "mp4"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    assert done[:6] == pytest.approx(np.arange(1, 7) / 6)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 6
        assert film.info["loop"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "a.mp4", "b.gif", "b.mp4"]


@pytest.mark.parametrize(
    ("name", "experiment", "options", "length"),
    [
        ("gauge_universality", "gauge_universality", {}, 6),
        ("metastability", "metastability", {"frames": 7, "select": {"kernel.beta": 9}}, 7),
    ],
)
def test_other_films_have_their_frames_and_equal_bytes(
    tmp_path, sources_of, name, experiment, options, length
):
    for copy in "ab":
        write_film(name, sources_of(experiment), options, tmp_path / f"{copy}.gif", tmp_path / f"{copy}.mp4")
    for kind in ("gif", "mp4"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == length


def test_metastability_is_shown_where_it_can_be_seen(sources_of):
    film = metastability.scene(sources_of("metastability"), frames=5, select={"kernel.beta": 9})
    titles = [axes.get_title() for axes in film.figure.axes if axes.get_title()]
    assert titles == [
        r"USA, $d = 2$, $\beta = 9$",
        r"USA, $d = 3$, $\beta = 9$",
        r"RoPE, $d = 3$, $\beta = 9$",
    ]
    first, last = film.picture(0), film.picture(4)
    assert np.any(first != last)
    counts = film.figure.axes[3]
    assert counts.get_xscale() == "log"
    assert counts.get_lines()[0].get_ydata()[-1] == 1
    sources = sources_of("metastability")
    none = Sources(
        ["metastability"],
        sources.tables,
        {"metastability": sources.events["metastability"].assign(seed=9)},
        sources.stored,
    )
    with pytest.raises(DataError, match="nothing has merged in this run"):
        metastability.scene(none)
    with pytest.raises(DataError, match="the film shows circle and sphere"):
        metastability.scene(sources_of("generalized_rope"), select={"variant": "torus"})


def test_the_mp4_can_be_decoded(tmp_path):
    pictures = [np.full((32, 48, 3), shade, dtype=np.uint8) for shade in (0, 128, 255)]
    writing.write_film(pictures, tmp_path / "a.mp4")
    ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
    command = [
        ffmpeg,
        "-loglevel",
        "error",
        "-i",
        str(tmp_path / "a.mp4"),
        "-f",
        "rawvideo",
        "-pix_fmt",
        "gray",
        "-",
    ]
    frames = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, dtype=np.uint8)
    shown = frames.reshape(-1, 32, 48)[:, 16, 24]
    assert len(shown) == HOLD_FIRST + 1 + HOLD_LAST
    assert shown[0] < 20
    assert shown[-1] > 235


def test_frames_differ_and_what_stands_still_stays(sources_of):
    film = scene(sources_of(*OVERVIEW))
    first, last = film.picture(0), film.picture(film.length - 1)
    assert first.shape[0] % 2 == first.shape[1] % 2 == 0
    assert np.any(first != last)
    np.testing.assert_array_equal(first, film.picture(0))
    np.testing.assert_array_equal(first[:40], last[:40])


@pytest.mark.parametrize("name", FILM_NAMES)
def test_options_are_those_that_the_configuration_knows(name):
    parameters = inspect.signature(import_module(f"usaav.films.{name}").scene).parameters
    assert tuple(sorted(set(parameters) - {"sources"})) == FILM_OPTIONS[name]


def test_an_unknown_film_or_option_is_refused(tmp_path, sources_of):
    films = tmp_path / "a.gif", tmp_path / "a.mp4"
    with pytest.raises(ConfigError, match="no film function 'opera'; there are"):
        write_film("opera", sources_of("rope"), {}, *films)
    with pytest.raises(ConfigError, match="unknown option 'sed'; it takes seed, select"):
        write_film("overview", sources_of("rope"), {"sed": 1}, *films)


def test_films_of_nothing_and_into_nowhere_are_refused(tmp_path):
    picture = np.zeros((32, 32, 3), dtype=np.uint8)
    for name in ("a.gif", "a.mp4"):
        with pytest.raises(DataError, match="a film of no frames"):
            writing.write_film([], tmp_path / name)
        (tmp_path / "file").write_text("")
        with pytest.raises(DataError, match="can't write"):
            writing.write_film([picture], tmp_path / "file" / name)
    with pytest.raises(DataError, match="ffmpeg ended with"):
        writing.write_film([picture[:31]], tmp_path / "a.mp4")
    with pytest.raises(DataError, match=r"no film can end with '\.avi'; name it \.gif or \.mp4"):
        writing.write_film([picture], tmp_path / "a.avi")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_a_film_over_its_budget_is_refused_with_its_size(tmp_path, monkeypatch, ending):
    noise = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), dtype=np.uint8)
    film = tmp_path / f"film.{ending}"
    writing.write_film(list(noise), film)
    size = film.stat().st_size
    film.unlink()
    monkeypatch.setattr(writing, "LARGEST", size - 1)
    with pytest.raises(
        DataError, match=rf"film\.{ending}: {size / 1e6:.1f} MB for 3 frames.*`frames`.*`snapshots:`"
    ):
        writing.write_film(list(noise), film)
    assert list(tmp_path.iterdir()) == []
    assert LARGEST == 5_000_000


def test_tokens_must_be_stored_at_the_same_times(tmp_path, sources_of):
    with pytest.raises(DataError, match="tokens are stored at other times"):
        scene(sources_of("rope", "metastability"), select={"dim": 3})
