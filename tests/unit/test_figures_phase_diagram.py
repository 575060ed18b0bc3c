"""The phase diagram, from tables alone."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from usaav.errors import DataError
from usaav.figures import Sources, draw_figure


def table(**settings):
    """Rows like a sweep's: two seeds, two times, for every combination of settings."""
    rows = []
    for values in itertools.product(*settings.values()):
        point = dict(zip(settings, values, strict=True))
        for seed, time in itertools.product((0, 1), (0.0, 5.0)):
            rows.append(
                {
                    "experiment": "one",
                    "case": "_".join(map(str, values)),
                    "n_tokens": 8,
                    "dim": 3,
                    **point,
                    "beta": point.get("kernel.beta", 1.0),
                    "seed": seed,
                    "time": time,
                    "dirac_distance": 0.01 * point.get("kernel.beta", 1.0) + 0.1 * seed if time else 1.4,
                    "cluster_count": 2 + seed if time else 8,
                    "energy": 0.5,
                }
            )
    return pd.DataFrame(rows)


def drawn(frame, **options):
    return draw_figure("phase_diagram", Sources(["one"], {"one": frame}, {}, {}), options)


def images(figure):
    return [axes.collections[0] for axes in figure.axes if axes.get_label() != "<colorbar>"]


BETAS, SCALES = [1.0, 2.0, 4.0], [0.0, 0.5]


def test_cells_are_medians_at_the_last_time() -> None:
    distance, count = images(drawn(table(**{"kernel.beta": BETAS, "kernel.frequencies.0": SCALES})))
    # of two seeds the lower one
    np.testing.assert_allclose(distance.get_array(), [[0.01, 0.02, 0.04]] * 2)
    assert np.all(count.get_array() == 2)


def test_the_setting_upwards_is_that_of_the_kernel() -> None:
    figure = drawn(table(**{"kernel.beta": BETAS, "rtol": [1e-6, 1e-7], "kernel.length": SCALES}))
    assert figure.axes[0].get_ylabel() == "length"
    assert len(images(figure)) == 2 * 2  # a column for each rtol
    assert "rtol = 1e-07" in figure.axes[0].get_title(loc="left") + figure.axes[1].get_title(loc="left")


def test_labels_of_axes_and_ticks() -> None:
    frame = table(**{"kernel.beta": list(map(float, range(1, 31))), "kernel.frequencies.0": SCALES})
    lower = drawn(frame).axes[2 - 1]
    assert lower.get_xlabel() == r"$\beta$"
    assert lower.get_ylabel() == "frequency 1"
    assert len(lower.get_xticks()) <= 9
    assert [tick.get_text() for tick in lower.get_yticklabels()] == ["0", "0.5"]


def test_names_may_stand_upwards() -> None:
    figure = drawn(table(**{"kernel.beta": BETAS, "variant": ["usa", "two_peaks"]}), up="variant")
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["two peaks", "usa"]


def test_combinations_that_are_missing_stay_empty() -> None:
    frame = table(**{"kernel.beta": BETAS, "kernel.length": SCALES})
    frame = frame[(frame["beta"] < 4) | (frame["kernel.length"] < 0.5)]
    assert np.ma.getmaskarray(images(drawn(frame))[0].get_array()).sum() == 1


def test_selection() -> None:
    frame = table(**{"kernel.beta": BETAS, "kernel.length": SCALES, "rtol": [1e-6, 1e-7]})
    assert len(images(drawn(frame, select={"rtol": 1e-6}))) == 2
    assert len(images(drawn(frame, select={"rtol": [1e-6, 1e-7], "nothing": 1}))) == 4
    with pytest.raises(DataError, match="no rows with"):
        drawn(frame, select={"rtol": 1.0})


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (table(**{"kernel.beta": BETAS}), {}, "nothing varies besides beta"),
        (table(**{"kernel.beta": BETAS, "x": [1, 2]}), {"up": "y"}, "no column 'y'"),
        (table(**{"kernel.beta": BETAS, "x": [1, 2], "y": list(range(7))}), {"up": "x"}, "`select`"),
        (table(**{"kernel.beta": BETAS}).drop(columns="cluster_count"), {}, "no column cluster_count"),
    ],
)
def test_what_cannot_be_drawn_is_said(frame, options, message: str) -> None:
    with pytest.raises(DataError, match=message):
        drawn(frame, **options)
