"""The sphere page in a real browser: opens in silence, shows what the data say, can be used by anyone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.webdriver import Page, headless, programs

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        programs() is None, reason="no chromium with chromedriver on PATH (Debian: chromium, chromium-driver)"
    ),
]

_ROPE = {"type": "rope", "beta": 1, "planes": [[0, 1]], "frequencies": [1]}
_PREFIX = {"type": "prefix", "beta": 1, "targets": {"law": "regular", "count": 4}}
_COMMON = {"seeds": 1, "n_tokens": 12, "times": {"start": 0, "stop": 20, "count": 6}, "snapshots": "all"}
_SETTINGS = {
    "rtol": 1e-4,
    "backend": "numpy",
    "experiments": {
        "baseline": {**_COMMON, "kernel": {"type": "usa", "beta": 1}},
        "rope": {**_COMMON, "kernel": _ROPE, "labels": {"law": "grid"}},
        "prefix": {**_COMMON, "kernel": _PREFIX, "labels": {"law": "prompts"}},
    },
}
STATE = "return window.usaav.state()"
PIXELS = "return document.getElementById('sphere').toDataURL()"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where a page of three small runs lies."""
    from usaav.config import from_mapping
    from usaav.figures import Sources
    from usaav.films import write_page
    from usaav.flow.case import simulate_case

    folder = tmp_path_factory.mktemp("page")
    settings = from_mapping(_SETTINGS, [])
    files = []
    for case in settings.cases():
        files.append(folder / case.experiment / f"{case.name}.nc")
        files[-1].parent.mkdir()
        simulate_case(case.to_json(), files[-1], 1)
    write_page("sphere", Sources.of_files(list(settings.experiments), files), {}, folder / "sphere.html")
    return (folder / "sphere.html").as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with headless(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture
def page(browser: Page, address: str) -> Iterator[Page]:
    """The page, newly opened; at the end nothing was complained of and nothing but the page asked for."""
    browser.resize(1000, 700)
    browser.open("about:blank")
    browser.requests()
    browser.log("browser")
    browser.open(address)
    browser.wait("return window.usaav !== undefined && window.usaav.state().drawn > 0")
    yield browser
    assert browser.log("browser") == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [address]


def redrawn(page: Page, before: int) -> None:
    page.wait(f"return window.usaav.state().drawn > {before}")


def test_it_opens_with_the_first_run_at_its_start(page: Page) -> None:
    state = page.run(STATE)
    assert (state["id"], state["frame"], state["time"], state["playing"]) == ("baseline/n12", 0, 0, False)
    names = page.run("return [...document.querySelectorAll('#run option')].map((one) => one.textContent)")
    assert names == ["USA, β = 1, n = 12", "RoPE, β = 1, n = 12", "prefix, β = 1, n = 12"]
    groups = page.run("return [...document.querySelectorAll('#run optgroup')].map((one) => one.label)")
    assert groups == ["baseline", "rope", "prefix"]


def test_moving_the_slider_moves_the_tokens(page: Page) -> None:
    before, drawn = page.run(PIXELS), page.run(STATE)["drawn"]
    page.press("#time", "right", "right")
    redrawn(page, drawn)
    assert page.run(STATE)["time"] == pytest.approx(8.0)
    assert page.run(PIXELS) != before
    assert page.run("return document.getElementById('tau').textContent") == "τ = 8"
    assert page.run("return document.getElementById('time').getAttribute('aria-valuetext')") == "τ = 8"
    assert "Dirac distance" in page.run("return document.getElementById('facts').textContent")


@pytest.mark.parametrize(
    ("key", "azimuth", "elevation"), [("left", -1, 0), ("right", 1, 0), ("up", 0, 1), ("down", 0, -1)]
)
def test_arrow_keys_turn_the_sphere(page: Page, key: str, azimuth: int, elevation: int) -> None:
    drawn = page.run(STATE)["drawn"]
    page.press("#sphere", "home")  # once more what is shown already, at the size that the page has by now
    redrawn(page, drawn)
    before, pixels = page.run(STATE), page.run(PIXELS)
    page.press("#sphere", key)
    redrawn(page, before["drawn"])
    after = page.run(STATE)
    step = 0.0872664626
    assert after["azimuth"] - before["azimuth"] == pytest.approx(azimuth * step)
    assert after["elevation"] - before["elevation"] == pytest.approx(elevation * step)
    assert page.run(PIXELS) != pixels
    page.press("#sphere", "home")
    redrawn(page, after["drawn"])
    assert page.run(PIXELS) == pixels


@pytest.mark.parametrize("kind", ["mouse", "touch"])
def test_dragging_turns_the_sphere(page: Page, kind: str) -> None:
    before = page.run(STATE)
    page.drag("#sphere", 60, 20, kind)
    redrawn(page, before["drawn"])
    after = page.run(STATE)
    assert after["azimuth"] < before["azimuth"] - 0.1
    assert after["elevation"] > before["elevation"] + 0.03


def test_choosing_a_run_shows_it(page: Page) -> None:
    for index, (name, prediction, marks) in enumerate(
        [
            ("rope/n12", "predicted orbit (black line)", 4),
            ("prefix/n12", "predicted places (black rings)", 4),
        ],
        start=1,
    ):
        before, drawn = page.run(PIXELS), page.run(STATE)["drawn"]
        page.click(f"#run option[value='{index}']")
        redrawn(page, drawn)
        assert page.run(STATE)["id"] == name
        assert page.run(PIXELS) != before
        assert page.run("return document.getElementById('predicted-name').textContent") == prediction
        assert page.run("return document.querySelectorAll('#legend li').length") == marks
        assert name.split("/")[0] in page.run("return document.getElementById('sphere').ariaLabel")


def test_the_prediction_can_be_hidden(page: Page) -> None:
    page.click("#run option[value='1']")
    page.wait("return window.usaav.state().id === 'rope/n12'")
    page.press("#time", "right")
    drawn, before = page.run(STATE)["drawn"], page.run(PIXELS)
    page.click("#predicted")
    redrawn(page, drawn)
    assert page.run(PIXELS) != before


def test_it_plays_to_the_end_and_stops(page: Page) -> None:
    page.click("#play")
    assert page.run("return document.getElementById('play').textContent") == "Pause"
    page.wait("return !window.usaav.state().playing")
    state = page.run(STATE)
    assert (state["frame"], state["time"]) == (5, 20)
    assert page.run("return document.getElementById('play').getAttribute('aria-pressed')") == "false"


def test_with_reduced_motion_it_goes_from_still_to_still(page: Page) -> None:
    page.devtools(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}]
    )
    try:
        page.click("#play")
        frames = {page.run(STATE)["frame"] for _ in range(40)}
        assert all(float(frame).is_integer() for frame in frames)
        page.wait("return window.usaav.state().frame >= 1")
        page.click("#play")
        assert page.run(STATE)["playing"] is False
    finally:
        page.devtools("Emulation.setEmulatedMedia", features=[])


def test_it_fits_a_phone(page: Page) -> None:
    page.resize(360, 740, 2.0)
    page.wait(
        "return document.getElementById('sphere').width === 2 * document.getElementById('sphere').clientWidth"
    )
    assert page.run("return document.documentElement.scrollWidth <= 360")
    small = page.run(
        "return [...document.querySelectorAll('button, select')]"
        ".filter((one) => one.offsetHeight < 44).length"
    )
    assert small == 0
    assert page.run("return parseFloat(getComputedStyle(document.body).fontSize)") >= 16


def test_focus_can_be_seen_and_reaches_everything(page: Page) -> None:
    reached = []
    for _ in range(5):
        page.call(
            "actions",
            {
                "actions": [
                    {
                        "type": "key",
                        "id": "keys",
                        "actions": [
                            {"type": "keyDown", "value": "\ue004"},
                            {"type": "keyUp", "value": "\ue004"},
                        ],
                    }
                ]
            },
        )
        reached.append(page.run("return document.activeElement.id"))
        width = page.run("return parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
        assert width >= 2
    assert reached == ["sphere", "run", "play", "time", "predicted"]


def test_every_control_has_a_name(page: Page) -> None:
    tree = page.devtools("Accessibility.getFullAXTree")["nodes"]
    names = {
        node["role"]["value"]: node.get("name", {}).get("value", "")
        for node in tree
        if node.get("role", {}).get("value")
        in {"application", "combobox", "button", "slider", "checkbox", "image"}
    }
    assert {"application", "combobox", "button", "slider", "checkbox", "image"} <= set(names)
    assert all(names.values())


def test_a_picture_of_it_can_be_taken(page: Page, tmp_path: Path) -> None:
    page.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
