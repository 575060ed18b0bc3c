"""Files and overrides in, one configuration out: numbers, doubled keys, places, merging."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from usaav.config import from_mapping, load
from usaav.errors import ConfigError

ROOT = Path(__file__).parents[2]
SMALL = """\
experiments:
  main:
    kernel: {type: usa, beta: 1e0}
    n_tokens: [8, 16]
    seeds: 4
    times: {start: 1e-3, stop: 1e3, count: 7, spacing: log}
  other:
    kernel: {type: usa, beta: 2}
    n_tokens: 8
    times: [0, 1]
figures:
  both: {draw: overview, experiments: [main, other]}
  one: {draw: overview, experiments: [main]}
films:
  both: {draw: overview, experiments: [main, other]}
claims:
  other: {check: collapse, experiments: [other], tolerance: 1e-3}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL, encoding="utf-8")
    return file


def refusal(*files: Path, **overrides: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(files, overrides)
    return str(caught.value)


@pytest.mark.parametrize("name", ["config.yaml", "config/quick.yaml"])
def test_shipped_files_load(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    config = load([name])
    assert {"baseline", "rope", "prefix", "conditional", "metastability"} <= set(config.experiments)
    assert {"baseline", "rope", "prefix", "conditional", "overview", "energy"} <= set(config.figures)
    assert "overview" in config.films
    assert {"baseline", "rope", "prefix", "conditional"} <= set(config.claims)
    assert all(config.cases(experiment) for experiment in config.experiments)


def test_quick_has_the_same_experiments_but_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    full, quick = load(["config.yaml"]), load(["config/quick.yaml"])
    # a million tokens are never small
    assert list(quick.experiments) == [name for name in full.experiments if name != "mean_field_million"]
    assert (quick.films, quick.pages) == (full.films, full.pages)
    assert {name: figure.draw for name, figure in quick.figures.items()} == {
        name: figure.draw for name, figure in full.figures.items()
    }
    assert set(quick.claims) == set(full.claims)
    assert all(case.seeds == (0, 1, 2) and case.settings.n_tokens <= 4096 for case in quick.cases())
    standard = set(quick.experiments) - {"mode_selection", "mean_field"}
    assert all(case.settings.n_tokens == 32 for name in standard for case in quick.cases(name))


def test_shipped_target_file_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("config.yaml", "config/quick.yaml"):
        case = load([ROOT / name], {"only": "gauge_universality"}).cases()[-1]
        (file,) = case.files
        assert not Path(file).is_absolute()
        assert Path(file).resolve() == ROOT / "config/targets/heart.csv"


def test_reading_is_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    started = time.perf_counter()
    load(["config.yaml"])
    assert time.perf_counter() - started < 0.5  # 0.05 s on a free machine


def test_large_sweep_is_fast(small: Path) -> None:
    values = [1 + index / 1000 for index in range(2500)]
    started = time.perf_counter()
    config = load([small], {"experiments": {"main": {"sweep": {"kernel.beta": values}}}})
    texts = {case.to_json() for case in config.cases("main")}
    assert len(texts) == 5000
    assert time.perf_counter() - started < 5.0


def test_import_is_light() -> None:
    heavy = "{'numpy', 'scipy', 'pandas', 'xarray', 'numba', 'matplotlib', 'netCDF4', 'ot', 'snakemake'}"
    code = f"import sys, usaav.config; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_numbers_of_yaml(small: Path) -> None:
    config = load([small])
    assert config.claims["other"].tolerance == 1e-3
    case = config.cases("main")[0]
    assert case.settings.kernel.beta == 1.0
    assert case.settings.times == (0.0, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-3", 1e-3), ("1E3", 1e3), ("1.e3", 1e3), (".5", 0.5), ("-2", -2), ("+1.5e+2", 150.0)],
)
def test_spellings_of_numbers(small: Path, text: str, value: float) -> None:
    small.write_text(SMALL + f"memory_limit: {text}\n")
    if value <= 0:
        assert "memory_limit" in refusal(small)
    else:
        assert load([small]).settings.memory_limit == value


@pytest.mark.parametrize(
    ("overrides", "seeds", "numbers"),
    [
        ({}, {(0, 1, 2, 3)}, {8, 16}),
        ({"seeds": 2}, {(0, 1)}, {8, 16}),
        ({"seeds": "2"}, {(0, 1)}, {8, 16}),
        ({"seeds": 2.0}, {(0, 1)}, {8, 16}),
        ({"seeds": "[2]"}, {(2,)}, {8, 16}),
        ({"seeds": ["5", "7"]}, {(5, 7)}, {8, 16}),
        ({"seeds": "null"}, {(0, 1, 2, 3)}, {8, 16}),
        ({"n_tokens": "[64]"}, {(0, 1, 2, 3)}, {64}),
        ({"n_tokens": ["64"]}, {(0, 1, 2, 3)}, {64}),
        ({"n_tokens": "64,32"}, {(0, 1, 2, 3)}, {64, 32}),
        ({"n_tokens": 64}, {(0, 1, 2, 3)}, {64}),
        ({"n_tokens": ""}, {(0, 1, 2, 3)}, {8, 16}),
    ],
)
def test_overrides_become_what_they_spell(
    small: Path, overrides: dict[str, Any], seeds: set[tuple[int, ...]], numbers: set[int]
) -> None:
    cases = load([small], overrides).cases("main")
    assert {case.seeds for case in cases} == seeds
    assert {case.settings.n_tokens for case in cases} == numbers


def test_overrides_of_backend_and_rtol_hold_everywhere(small: Path) -> None:
    config = load([small], {"backend": "numpy", "rtol": "1e-6"})
    assert {(case.settings.backend, case.settings.rtol) for case in config.cases()} == {("numpy", 1e-6)}


def test_swept_rtol_is_not_overridden(small: Path) -> None:
    change = {"rtol": 1e-6, "experiments": {"main": {"sweep": {"rtol": [1e-4, 1e-5]}}}}
    config = load([small], change)
    assert {case.settings.rtol for case in config.cases("main")} == {1e-4, 1e-5}
    assert {case.settings.rtol for case in config.cases("other")} == {1e-6}


@pytest.mark.parametrize("only", ["main", ["main"], "[main]", "'main'"])
def test_only_drops_what_needs_other_experiments(small: Path, only: Any) -> None:
    config = load([small], {"only": only})
    assert list(config.experiments) == ["main"]
    assert list(config.figures) == ["one"]
    assert not config.films
    assert not config.claims
    assert {case.experiment for case in config.cases()} == {"main"}
    assert set(config.settings.experiments) == {"main", "other"}


def test_only_takes_a_comma_separated_string(small: Path) -> None:
    assert list(load([small], {"only": "other,main"}).experiments) == ["main", "other"]


def test_unknown_case_and_experiment(small: Path) -> None:
    config = load([small], {"only": "main"})
    assert config.case("main", "n16").settings.n_tokens == 16
    with pytest.raises(ConfigError, match="n8, n16"):
        config.case("main", "n9")
    with pytest.raises(ConfigError, match="there are main"):
        config.cases("other")


def test_message_names_file_and_line(small: Path) -> None:
    small.write_text(SMALL.replace("beta: 2", "betta: 2"))
    message = refusal(small)
    assert f"{small}:8: experiments.other.kernel.betta = 2" in message


def test_message_names_the_file_that_decides(small: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.yaml"
    second.write_text("experiments:\n  main:\n    dim: 1\n")
    assert f"{second}:3: experiments.main.dim = 1" in refusal(small, second)


def test_message_names_the_command_line(small: Path) -> None:
    assert "command line: rtol = 'x'" in refusal(small, rtol="x")


def test_later_files_are_merged_over_earlier_ones(small: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.yaml"
    second.write_text("experiments:\n  main:\n    n_tokens: 32\n")
    config = load([small, second])
    assert [case.name for case in config.cases()] == ["n32", "n8"]
    assert config.cases("main")[0].seeds == (0, 1, 2, 3)


def test_doubled_keys_are_refused(small: Path) -> None:
    small.write_text(SMALL + "figures: {}\n")
    message = refusal(small)
    assert f"{small}:18: figures: this key stands twice (first in line 11)" in message
    small.write_text(SMALL.replace("seeds: 4", "seeds: 4\n    seeds: 5"))
    assert "experiments.main.seeds: this key stands twice" in refusal(small)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("- 1\n", "mapping"),
        ("a: [1\n", "expected YAML"),
        ("\tb: 1\n", "expected YAML"),
        ("a: !!python/object/apply:os.system ['true']\n", "expected YAML"),
        ("a: &a [*a]\n", "expected plain YAML"),
        ("? [1, 2]\n: 3\n", "expected"),
        ("a: 1\n1: 2\n1.0: 3\n", "stands twice"),
        ("true: 1\n", "no word or number"),
        ("a: 2020-01-01T00:00:00\nexperiments: {}\n", "unknown key"),
        ("a: !!binary aGk=\n", "bytes"),
        ("a: " + "[" * 40 + "]" * 40 + "\n", "levels deep"),
        ("__use_yte__: true\nexperiments: {}\n", "__use_yte__"),
    ],
)
def test_files_that_are_no_settings(small: Path, text: str, words: str) -> None:
    small.write_text(text)
    message = refusal(small)
    assert str(small) in message
    assert words in message


def test_alias_bomb_is_refused_quickly(small: Path) -> None:
    rows = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    rows += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 9)]
    small.write_text("\n".join(rows))
    started = time.perf_counter()
    assert "more than 500000 values" in refusal(small)
    assert time.perf_counter() - started < 5.0


def test_aliases_are_fine(small: Path) -> None:
    text = SMALL.replace("kernel: {type: usa, beta: 1e0}", "kernel: &k {type: usa, beta: 1e0}")
    small.write_text(text.replace("kernel: {type: usa, beta: 2}", "kernel: *k"))
    assert {case.settings.kernel.beta for case in load([small]).cases()} == {1.0}


def test_files_that_cannot_be_read(small: Path, tmp_path: Path) -> None:
    assert "readable configuration file" in refusal(tmp_path / "absent.yaml")
    assert "readable configuration file" in refusal(tmp_path)
    small.write_bytes(b"a: \xff\n")
    assert "UTF-8" in refusal(small)
    small.write_bytes(b"#" * 10_000_001)
    assert "10 MB" in refusal(small)


def test_json_files_are_read_too(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(
        '{"experiments": {"a": {"kernel": {"type": "usa", "beta": 1}, "n_tokens": 8, "times": [0, 1]}}}'
    )
    assert [case.name for case in load([file]).cases()] == ["n8"]


def test_overrides_must_be_plain() -> None:
    with pytest.raises(ConfigError, match="command line: function"):
        load([], {"a": test_overrides_must_be_plain})
    with pytest.raises(ConfigError, match="expected a mapping"):
        from_mapping([1])  # type: ignore[arg-type]


def test_mapping_of_snakemake_gives_the_same_cases(small: Path) -> None:
    yaml = pytest.importorskip("yaml")
    merged = yaml.safe_load(SMALL)  # here 1e-3 is a string
    merged["seeds"] = "2"
    config = from_mapping(merged, [small])
    assert [case.to_json() for case in config.cases()] == [
        case.to_json() for case in load([small], {"seeds": 2}).cases()
    ]


def test_mapping_of_snakemake_names_places(small: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = SMALL.replace("beta: 2", "betta: 2") + "rtol: 1e-9\n"
    small.write_text(text)
    merged = {**yaml.safe_load(text), "seeds": "x", "betta": 1}
    with pytest.raises(ConfigError) as caught:
        from_mapping(merged, [small])
    message = str(caught.value)
    assert f"{small}:8: experiments.other.kernel.betta = 2" in message
    assert "command line: betta = 1" in message
    assert "command line: seeds = 'x'" in message
    assert (
        "rtol"
        not in message.replace("known: backend, claims, experiments, figures, films", "").split("known")[0]
    )


def test_mapping_of_snakemake_reports_doubled_keys(small: Path) -> None:
    yaml = pytest.importorskip("yaml")
    small.write_text(SMALL + "rtol: 1e-9\nrtol: 1e-8\n")
    with pytest.raises(ConfigError, match="rtol: this key stands twice"):
        from_mapping(yaml.safe_load(small.read_text()), [small])
