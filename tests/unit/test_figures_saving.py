"""The look of all figures, and files that are the same byte for byte."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from usaav.errors import DataError
from usaav.figures import draw_figure, save
from usaav.figures.sphere import View
from usaav.figures.style import Look, applied, around_circle, kinds, number, ordered

SCRIPT = """
import sys
from pathlib import Path
from usaav.figures import Sources, draw_figure, save
results, out = map(Path, sys.argv[1:])
sources = Sources.of_files(["rope"], sorted((results / "simulations" / "rope").glob("*.nc")))
save(draw_figure("terminal_orbit", sources), out / "a.pdf", out / "a.png")
"""


def test_equal_data_give_equal_bytes_in_another_process(small_results, tmp_path, sources_of):
    save(draw_figure("terminal_orbit", sources_of("rope")), tmp_path / "b.pdf", tmp_path / "b.png")
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nlines.linewidth: 9\n")
    command = [sys.executable, "-c", SCRIPT, str(small_results), str(tmp_path)]
    subprocess.run(command, check=True, cwd=tmp_path)
    for kind in ("pdf", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_text_stays_text(tmp_path, sources_of):
    save(draw_figure("slices", sources_of("conditional")), tmp_path / "a.pdf", tmp_path / "a.png")
    written = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontType 3" not in written
    assert b"/Subtype /Type3" not in written
    assert b"/CIDFontType2" in written
    assert b"/ToUnicode" in written
    assert b"CreationDate" not in written
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pdf", "a.png"]


def test_a_file_that_cannot_be_written_is_named(tmp_path, sources_of):
    (tmp_path / "file").write_text("")
    figure = draw_figure("slices", sources_of("conditional"))
    with pytest.raises(DataError, match=r"a\.pdf: can't write"):
        save(figure, tmp_path / "file" / "a.pdf", tmp_path / "a.png")


def test_the_style_leaves_no_trace():
    before = dict(mpl.rcParams)
    with applied():
        assert mpl.rcParams["pdf.fonttype"] == 42
    assert dict(mpl.rcParams) == before


def test_series_differ_without_colour():
    for looks in (kinds(6), ordered(6)):
        assert len({look.line for look in looks}) == 6
        assert len({look.marker for look in looks}) == 6
    assert len({(look.color, look.marker) for look in kinds(12)}) == 12
    assert ordered(1) == [Look("#10203f", "-", "o")]


def test_ordered_colours_become_lighter():
    weights = np.array([0.2126, 0.7152, 0.0722])
    lightness = [float(weights @ np.array(to_rgb(look.color)) ** 2.2) for look in ordered(7)]
    assert lightness == sorted(lightness)


def test_colours_close_the_circle():
    np.testing.assert_allclose(around_circle(np.array([0.1])), around_circle(np.array([0.1 + 2 * np.pi])))


def test_numbers_are_written_short():
    assert [number(value) for value in (9.0, 0.5, 1e-3, 1e300)] == ["9", "0.5", "0.001", "1e+300"]


def test_the_view_is_an_orthographic_projection():
    points = np.eye(3)
    across, up, depth = View(elevation=30.0, azimuth=0.0).project(points)
    np.testing.assert_allclose(across, [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(up, [-0.5, 0.0, np.sqrt(3) / 2], atol=1e-15)
    np.testing.assert_allclose(depth, [np.sqrt(3) / 2, 0.0, 0.5], atol=1e-15)
