"""The digest of a stage's code: what counts, what does not, and what must not be missed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from usaav import digests
from usaav.errors import UsaavError

FILES = {
    "__init__.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from usaav.flow import simulate
        def __getattr__(name): ...
        """,
    "errors.py": "class UsaavError(Exception): ...",
    "kernels/__init__.py": """
        from usaav.kernels.plain import keep
        from usaav.kernels.rope import rotate
        top = 3
        """,
    "kernels/rope.py": "def rotate(x):\n    return x",
    "kernels/plain.py": "def keep(x):\n    return x",
    "flow/__init__.py": "from usaav.flow.engine import simulate",
    "flow/engine.py": """
        from typing import TYPE_CHECKING
        from usaav.errors import UsaavError
        if TYPE_CHECKING:
            from usaav.figures import draw
        else:
            import usaav.flow.fast
        def simulate(x):
            from usaav.kernels import rotate
            try:
                return rotate(x)
            except UsaavError:
                from . import slow
            match x:
                case 1:
                    import usaav.flow.matched
        """,
    "flow/fast.py": "import json",
    "flow/slow.py": "from ..kernels import top\nfrom .fast import *",
    "flow/matched.py": "",
    "figures/__init__.py": "def draw(): ...",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small package in place of ours."""
    for name, text in FILES.items():
        write(tmp_path / name, text)
    monkeypatch.setattr(digests, "ROOT", tmp_path)
    forget()
    yield tmp_path
    forget()


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = text.strip("\n").splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    file.write_text("\n".join(line[margin:] for line in lines), encoding="utf-8")
    forget()


def forget() -> None:
    for function in (digests._file, digests._tree, digests._module_digest, digests._imports):
        function.cache_clear()


def test_follows_imports_of_all_kinds_but_not_those_for_type_checkers(package: Path) -> None:
    assert digests.modules("usaav.flow.engine") == [
        "usaav.flow.engine",
        "usaav.flow.fast",
        "usaav.flow.matched",
        "usaav.flow.slow",
        "usaav.kernels",
        "usaav.kernels.plain",
        "usaav.kernels.rope",
    ]


def test_a_name_that_a_package_passes_on_is_its_module(package: Path) -> None:
    write(package / "user.py", "from usaav.kernels import keep")
    assert digests.modules("usaav.user") == ["usaav.kernels.plain", "usaav.user"]


def test_a_name_that_a_package_loads_on_first_use_is_its_module(package: Path) -> None:
    write(package / "user.py", "from usaav import simulate")
    assert "usaav.flow.engine" in digests.modules("usaav.user")


def test_a_script_is_an_entry(package: Path, tmp_path: Path) -> None:
    script = tmp_path / "outside" / "simulate.py"
    write(script, "def main(job):\n    from usaav.kernels.plain import keep")
    assert digests.modules(script) == ["usaav.kernels.plain"]
    before = digests.digest(script)
    write(script, "def main(job):\n    from usaav.kernels.plain import keep\n    keep(job)")
    assert digests.digest(script) != before


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "kernels/rope.py",
            '"""A docstring."""\n# and a comment\n\ndef rotate(x):\n    """Turn."""\n    return (x)',
        ),
        ("kernels/plain.py", "def keep(x):\n    return -x"),
        ("figures/__init__.py", "def draw():\n    return 1"),
        ("errors.py", "class UsaavError(Exception):\n    code = 1"),
    ],
    ids=["comment, docstring, layout", "not imported", "only for type checkers", "beyond the boundary"],
)
def test_does_not_change_with(package: Path, file: str, text: str) -> None:
    write(package / "user.py", "from usaav.kernels import rotate\nfrom usaav.errors import UsaavError")
    before = digests.digest("usaav.user")
    write(package / file, text)
    assert digests.digest("usaav.user") == before


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("kernels/rope.py", "def rotate(x):\n    return x + 0"),
        ("kernels/rope.py", "def rotate(x):\n    return 'a text that is returned'"),
        ("user.py", "from usaav.kernels import rotate, keep"),
        ("kernels/rope.cu", "__global__ void rotate() {}"),
    ],
)
def test_changes_with(package: Path, file: str, text: str) -> None:
    write(package / "user.py", "from usaav.kernels import rotate")
    before = digests.digest("usaav.user")
    write(package / file, text)
    assert digests.digest("usaav.user") != before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import usaav", "hides what is used"),
        ("from usaav.nowhere import thing", "usaav.nowhere"),
        ("from usaav.kernels.nowhere import thing", "usaav.kernels.nowhere"),
    ],
)
def test_refuses_what_it_cannot_follow(package: Path, text: str, message: str) -> None:
    write(package / "user.py", text)
    with pytest.raises(UsaavError, match=message):
        digests.digest("usaav.user")


def test_refuses_an_entry_that_is_no_module(package: Path) -> None:
    with pytest.raises(UsaavError, match=r"no module usaav\.figures\.nowhere"):
        digests.digest("usaav.figures.nowhere")


def test_simulations_do_not_depend_on_what_comes_after_them() -> None:
    behind = digests.modules("usaav.flow.case")
    assert {"usaav.flow.case", "usaav.kernels.gauges", "usaav.laws.points", "usaav.datasets"} <= set(behind)
    after = ("usaav.figures", "usaav.films", "usaav.claims", "usaav.metrics.tables", "usaav.config.models")
    assert not [name for name in behind if name.startswith((*after, "usaav.config.loading"))]


def test_is_fast_enough_for_every_start_of_snakemake() -> None:
    everything = [
        ".".join(("usaav", *file.relative_to(digests.ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for file in sorted(digests.ROOT.rglob("*.py"))
    ]
    forget()
    start = time.process_time()
    digests.digest(*everything)
    # 0.1 to 0.3 s of an idle core, 1.03 s of a busy one; what this is to catch takes far more
    assert time.process_time() - start < 4.0
