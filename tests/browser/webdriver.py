"""The little of the WebDriver protocol (https://www.w3.org/TR/webdriver2/) that the tests need, over HTTP."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
#: no proxy: the driver is on this machine
_OPENER = build_opener(ProxyHandler({}))
KEYS = {
    "left": "\ue012",
    "up": "\ue013",
    "right": "\ue014",
    "down": "\ue015",
    "home": "\ue011",
    "tab": "\ue004",
}


def programs() -> tuple[str, str] | None:
    """Chromium and its driver, or None where one of them is missing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Page:
    """One open page of a headless browser."""

    def __init__(self, address: str, session: str) -> None:
        self._base = f"{address}/session/{session}"

    def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """One command of the protocol: GET without a body, else POST."""
        return _call(f"{self._base}/{path}", body)

    def open(self, url: str) -> None:
        self.call("url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that `script`, the body of a function, returns."""
        return self.call("execute/sync", {"script": script, "args": list(arguments)})

    def element(self, selector: str) -> dict[str, str]:
        found = self.call("element", {"using": "css selector", "value": selector})
        return {_ELEMENT: found[_ELEMENT]}

    def click(self, selector: str) -> None:
        self.call(f"element/{self.element(selector)[_ELEMENT]}/click", {})

    def press(self, selector: str, *keys: str) -> None:
        text = "".join(KEYS.get(key, key) for key in keys)
        self.call(f"element/{self.element(selector)[_ELEMENT]}/value", {"text": text})

    def drag(self, selector: str, across: int, down: int, kind: str = "mouse") -> None:
        """Press in the middle of an element, move, let go; `kind` is mouse or touch."""
        moves = [
            {"type": "pointerMove", "duration": 0, "origin": self.element(selector), "x": 0, "y": 0},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "duration": 50, "origin": "pointer", "x": across, "y": down},
            {"type": "pointerUp", "button": 0},
        ]
        pointer = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": moves}
        self.call("actions", {"actions": [pointer]})

    def log(self, kind: str) -> list[dict[str, Any]]:
        """Entries since the last question: of the console (browser) or of the network (performance)."""
        return list(_call(f"{self._base}/se/log", {"type": kind}))

    def requests(self) -> list[str]:
        """Addresses that the page has asked for since the last question."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def devtools(self, command: str, **parameters: Any) -> Any:
        """A command of Chromium's own protocol."""
        return self.call("goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width: int, height: int, scale: float = 1.0) -> None:
        """The size of the page in CSS pixels, as on a device."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("screenshot")))

    def wait(self, script: str, seconds: float = 10.0) -> None:
        """Until `script` returns something true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < end, f"after {seconds:g} s still not: {script}"
            time.sleep(0.05)


@contextmanager
def headless(profile: Path, *flags: str) -> Iterator[Page]:
    """A page in a new headless browser that keeps its files in `profile`."""
    found = programs()
    assert found is not None
    browser, driver = found
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (profile / "driver.log").open("w") as log:
        process = subprocess.Popen([driver, f"--port={port}"], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *flags]
    arguments.append(f"--user-data-dir={profile / 'profile'}")
    options = {"binary": browser, "args": arguments}
    wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
    try:
        _await_driver(address, process)
        started = _call(f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})
        page = Page(address, started["sessionId"])
        try:
            yield page
        finally:
            _call(f"{address}/session/{started['sessionId']}", method="DELETE")
    finally:
        process.terminate()
        process.wait(timeout=10)


def _await_driver(address: str, process: subprocess.Popen[bytes], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            if _call(f"{address}/status")["ready"]:
                return
        except OSError:
            pass
        assert process.poll() is None, "chromedriver ended at once"
        assert time.monotonic() < end, f"chromedriver does not answer after {seconds:g} s"
        time.sleep(0.1)


def _call(url: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with _OPENER.open(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except HTTPError as error:
        raise AssertionError(f"{url}: {error.read().decode(errors='replace')[:1000]}") from error
