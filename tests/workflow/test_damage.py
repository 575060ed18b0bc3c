"""Damaged files in results: each is refused by name, with what is wrong and what to do."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import netCDF4
import numpy as np
import pytest
import xarray as xr

pytestmark = pytest.mark.faults

Damage = Callable[[Path], None]


# ------------------------------------------------------------------ what happens to files


def cut(fraction: float) -> Damage:
    def damage(path: Path) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int(fraction * len(content))])

    return damage


def replaced(content: bytes) -> Damage:
    return lambda path: path.write_bytes(content) and None


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def flipped(path: Path) -> None:
    """Every hundredth byte of the second half is another one."""
    content = bytearray(path.read_bytes())
    for place in range(len(content) // 2, len(content), 100):
        content[place] ^= 0xFF
    path.write_bytes(content)


def from_another(name: str) -> Damage:
    """The whole file of another case, experiment or table."""
    return lambda path: shutil.copy(path.parents[1] / name, path) and None


def with_attribute(name: str, value: str | None) -> Damage:
    def damage(path: Path) -> None:
        with netCDF4.Dataset(path, "a") as file:
            if value is None:
                file.delncattr(name)
            else:
                file.setncattr(name, value)

    return damage


def rewritten(change: Callable[[xr.Dataset], xr.Dataset]) -> Damage:
    def damage(path: Path) -> None:
        with xr.open_dataset(path) as stored:
            changed = change(stored.load())
        changed.to_netcdf(path)

    return damage


def not_a_number(dataset: xr.Dataset) -> xr.Dataset:
    dataset["tokens"][0, 0, 0, 0] = np.nan
    return dataset


def with_line(change: Callable[[list[str]], list[str]]) -> Damage:
    def damage(path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(change(lines)), encoding="utf-8")

    return damage


def without_a_column(lines: list[str]) -> list[str]:
    """Without the third column from the left: n_tokens of the tables, or ``case`` of a verdict."""
    return [",".join(line.split(",")[:1] + line.split(",")[2:]) for line in lines]


COMMON: dict[str, Damage] = {
    "empty": replaced(b""),
    "text": replaced(b"These are no data.\n"),
    "zeros": replaced(bytes(4096)),
    "missing": Path.unlink,
    "a folder": folder_instead,
}
DATASET: dict[str, Damage] = COMMON | {
    "cut to a half": cut(0.5),
    "cut to a tenth": cut(0.1),
    "without its last byte": cut(0.9999),
    "bits flipped": flipped,
    "another case": from_another("baseline/n6.nc"),
    "another version": with_attribute("format", "usaav-0"),
    "no version": with_attribute("format", None),
    "another netCDF file": lambda path: xr.Dataset({"x": ("x", [1.0])}).to_netcdf(path) and None,
    "without energies": rewritten(lambda dataset: dataset.drop_vars("energy")),
    "tokens of other dimensions": rewritten(lambda dataset: dataset.rename(token="particle")),
    "text for numbers": rewritten(lambda dataset: dataset.assign(energy=dataset["energy"].astype(str))),
    "not a number": rewritten(not_a_number),
}
# what the table of an experiment does not depend on
SETTINGS: dict[str, Damage] = {
    "settings of another version": with_attribute("settings", '{"experiment": "rope"}'),
    "no settings": with_attribute("settings", None),
}
TABLE: dict[str, Damage] = COMMON | {
    "cut in a line": cut(0.5),
    "cut at a line": with_line(lambda lines: lines[:-3]),
    "the header alone": with_line(lambda lines: lines[:1]),
    "without its header": with_line(lambda lines: lines[1:]),
    "another table": from_another("metrics/baseline.csv"),
    "without the column case": with_line(without_a_column),
    "text for a number": with_line(lambda lines: [*lines[:-1], lines[-1].replace("20.0", "late")]),
    "an empty field": with_line(lambda lines: [*lines[:-1], lines[-1].replace("20.0", "")]),
    "a line twice": with_line(lambda lines: [*lines, lines[-1]]),
}
EVENTS: dict[str, Damage] = COMMON | {
    "cut in a line": cut(0.5),
    "without its header": with_line(lambda lines: lines[1:]),
    "without the column case": with_line(without_a_column),
}
VERDICT: dict[str, Damage] = COMMON | {
    "cut in a line": cut(0.9),
    "the header alone": with_line(lambda lines: lines[:1]),
    "without its header": with_line(lambda lines: lines[1:]),
    "without a column": with_line(without_a_column),
    "a short line": with_line(lambda lines: [lines[0], "rope,only\n"]),
    "no verdict": with_line(lambda lines: [line.replace(",True,", ",perhaps,") for line in lines]),
}

# ------------------------------------------------------------------ who reads them

FOLDER = Path(__file__).parents[2] / "workflow" / "scripts"
FIGURE = {"experiments": ["rope"], "options": {}}
#: rule -> the parameters of a job that reads experiment rope
PARAMETERS = {
    "measure": {"cluster_angle": 0.1},
    "draw": {},
    "film": {"film": FIGURE | {"draw": "overview"}},
    "page": {"page": FIGURE | {"draw": "sphere"}},
    "check": {"claim": {"check": "orbit", "experiments": ["rope"], "tolerance": 1e-2, "options": {}}},
    "claims": {},
    "verify": {},
}
MADE = {
    "measure": {"table": "t.csv", "events": "e.csv", "columns": "c.csv"},
    "draw": {"pdf": "f.pdf", "png": "f.png"},
    "film": {"gif": "f.gif", "mp4": "f.mp4"},
    "page": {"html": "p.html"},
    "check": {"verdict": "v.csv"},
    "claims": {"csv": "c.csv", "html": "c.html"},
    "verify": {},
}


class Outputs(SimpleNamespace):
    """Files by name, and all of them one after the other, as Snakemake has them."""

    def __iter__(self):
        return iter(vars(self).values())


def run(rule: str, results: Path, made: Path, figure: str = "distance_curves") -> None:
    """What the job of a rule does, in this process."""
    spec = importlib.util.spec_from_file_location(f"script_{rule}", FOLDER / f"{rule}.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(
        SimpleNamespace(
            input=SimpleNamespace(
                datasets=[str(results / "simulations/rope/n8.nc")],
                tables=[str(results / "metrics/rope.csv")],
                events=[str(results / "metrics/rope.events.csv")],
                verdicts=[str(results / f"claims/{name}.csv") for name in ("baseline", "rope")],
                csv=str(results / "claims.csv"),
            ),
            output=Outputs(**{key: str(made / name) for key, name in MADE[rule].items()}),
            log=SimpleNamespace(text=str(made / "log")),
            params=SimpleNamespace(
                **PARAMETERS[rule], **({"figure": FIGURE | {"draw": figure}} if rule == "draw" else {})
            ),
            wildcards=SimpleNamespace(claim="rope", film="rope", page="rope"),
        )
    )


def cases():
    kinds = [
        ("simulations/rope/n8.nc", DATASET, ["measure", "draw", "film", "page", "check"]),
        ("simulations/rope/n8.nc", SETTINGS, ["draw", "film", "page", "check"]),
        ("metrics/rope.csv", TABLE, ["draw", "check"]),
        ("metrics/rope.events.csv", EVENTS, ["check"]),
        ("claims/rope.csv", VERDICT, ["claims"]),
        ("claims.csv", {name: VERDICT[name] for name in VERDICT if name != "the header alone"}, ["verify"]),
    ]
    return [
        pytest.param(rule, file, damage, id=f"{rule}, {file}, {name}")
        for file, damages, rules in kinds
        for name, damage in damages.items()
        for rule in rules
    ]


@pytest.fixture
def results(finished, tmp_path: Path) -> Path:
    """A copy of the finished results without films, logs and figures."""
    for name in ("simulations", "metrics", "claims"):
        shutil.copytree(finished.results / name, tmp_path / "results" / name)
    shutil.copy(finished.results / "claims.csv", tmp_path / "results")
    return tmp_path / "results"


@pytest.mark.parametrize(("rule", "file", "damage"), cases())
def test_a_damaged_file_is_refused(
    rule: str, file: str, damage: Damage, results: Path, tmp_path: Path, capsys, count
) -> None:
    damage(results / file)
    made = tmp_path / "made"
    made.mkdir()
    with pytest.raises(SystemExit):
        run(rule, results, made, "distance_curves" if file.startswith("metrics") else "terminal_orbit")
    told = capsys.readouterr().err
    # one message, which names the file and what to do
    assert told.count("\n") == 1, told
    experiment = "experiment rope"
    assert str(results / file) in told or (file == "metrics/rope.csv" and experiment in told), told
    assert any(words in told for words in ("delete", "make it", "check")), told
    assert {path.name for path in made.iterdir()} == {"log"}
    assert "Traceback" in (made / "log").read_text(encoding="utf-8")
    count("damaged files refused")


@pytest.mark.parametrize("rule", PARAMETERS)
def test_whole_files_are_read(rule: str, results: Path, tmp_path: Path) -> None:
    """Else the refusals above would tell nothing."""
    made = tmp_path / "made"
    made.mkdir()
    run(rule, results, made)
    assert {path.name for path in made.iterdir()} == {"log", *MADE[rule].values()}
