"""Cases: names, canonical text, sweeps, variants, snapshots."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from usaav.config import Case, CaseSettings, load
from usaav.config.label_models import PromptsLabels
from usaav.errors import ConfigError

BASE: dict[str, Any] = {
    "kernel": {"type": "rope", "beta": 1, "planes": [[0, 1]], "frequencies": [1]},
    "labels": {"law": "grid"},
    "n_tokens": 8,
    "seeds": 2,
    "times": {"stop": 10, "count": 11},
}
PREFIX = {"type": "prefix", "beta": 1, "targets": {"law": "regular", "count": 4}}


def cases(**changes: Any) -> tuple[Case, ...]:
    return load([], {"experiments": {"e": {**BASE, **changes}}}).cases()


def names(**changes: Any) -> list[str]:
    return [case.name for case in cases(**changes)]


def test_equal_numbers_give_equal_text_and_name() -> None:
    spellings: list[Any] = [9, 9.0, "9", "9.0", "9e0", "+9"]
    texts = {cases(n_tokens=spelt, sweep={"kernel.beta": [spelt, 1]})[0].to_json() for spelt in spellings[:4]}
    texts |= {cases(n_tokens=9, sweep={"kernel.beta": [spelt, 1]})[0].to_json() for spelt in spellings}
    assert len(texts) == 1
    assert names(sweep={"kernel.beta": ["9", 1]})[0] == "beta9_n8"


def test_order_of_keys_does_not_matter() -> None:
    sweep = {"kernel.beta": [1, 2], "dim": [3, 4]}
    for order in itertools.permutations(sweep.items()):
        assert names(sweep=dict(order)) == [
            "dim3_beta1_n8",
            "dim3_beta2_n8",
            "dim4_beta1_n8",
            "dim4_beta2_n8",
        ]


def test_text_is_canonical_and_comes_back() -> None:
    for case in cases(sweep={"kernel.beta": [0.1, 1 / 3]}):
        text = case.to_json()
        assert Case.from_json(text) == case
        assert Case.from_json(text).to_json() == text
        assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == text


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"experiment": 1', "null", '{"settings": {}, "experiment": "a"}']
)
def test_text_of_no_case_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="not the JSON of a case"):
        Case.from_json(text)


def test_text_with_bad_settings_is_refused_with_its_key() -> None:
    text = cases()[0].to_json().replace('"beta":1.0', '"beta":-1.0')
    with pytest.raises(ConfigError, match=r"e\.n8\.kernel\.beta = -1\.0"):
        Case.from_json(text)
    text = cases()[0].to_json()
    with pytest.raises(ConfigError, match=r"e\.n8\.labels\.cuont"):
        Case.from_json(text.replace('"count"', '"cuont"'))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["n8"]),
        ({"n_tokens": [64, 8]}, ["n64", "n8"]),
        ({"sweep": {"kernel.beta": [4, 0.5]}}, ["beta4_n8", "beta0.5_n8"]),
        ({"sweep": {"dim": [3, 4]}}, ["dim3_n8", "dim4_n8"]),
        ({"sweep": {"field": ["direct", "spectral"]}}, ["field-direct_n8", "field-spectral_n8"]),
        (
            {"sweep": {"kernel.frequencies.0": [1, 2]}},
            ["kernel-frequencies-0-1_n8", "kernel-frequencies-0-2_n8"],
        ),
        ({"sweep": {"labels": [{"law": "grid"}, {"law": "cantor"}]}}, ["labels-grid_n8", "labels-cantor_n8"]),
        ({"sweep": {"kernel.frequencies": [[1], [2]]}}, ["frequencies-1_n8", "frequencies-2_n8"]),
        ({"sweep": {"times.stop": [10, "20"]}}, ["stop10_n8", "stop20_n8"]),
        ({"sweep": {"labels.start": [0.0, 1], "times.start": [0, 1]}}, None),
        ({"variants": {"b": {"dim": 4}, "a": {"dim": 3}}}, ["b_n8", "a_n8"]),
        ({"variants": {"a": {"dim": 4}}, "sweep": {"kernel.beta": [1, 2]}}, ["a_beta1_n8", "a_beta2_n8"]),
    ],
)
def test_names(changes: dict[str, Any], expected: list[str] | None) -> None:
    found = names(**changes)
    assert len(set(found)) == len(found)
    if expected is not None:
        assert found == expected


def test_parameters_are_the_swept_values() -> None:
    case = cases(sweep={"kernel.beta": ["2"], "field": ["direct"], "times.stop": [20]})[0]
    assert case.parameters == {"kernel.beta": 2.0, "field": "direct", "times.stop": 20.0}
    assert case.settings.times[-1] == 20.0


def test_parameters_of_variants() -> None:
    kernel = {"type": "toeplitz", "coefficients": {0: 1}}
    variants = {
        "a": {"kernel.coefficients.0": 0.75, "kernel.coefficients.1": 0.25},
        "b": {"kernel.coefficients.1": "0.5"},
    }
    found = cases(kernel=kernel, variants=variants)
    assert [dict(case.parameters) for case in found] == [
        {"variant": "a", "kernel.coefficients.0": 0.75, "kernel.coefficients.1": 0.25},
        {"variant": "b", "kernel.coefficients.0": 1.0, "kernel.coefficients.1": 0.5},
    ]


def test_variants_may_replace_kernel_and_labels() -> None:
    change = {"kernel": PREFIX, "labels": {"law": "prompts"}}
    first, second = cases(
        kernel=None, labels=None, variants={"p": change, "u": {"kernel": {"type": "usa", "beta": 3}}}
    )
    assert first.settings.kernel.type == "prefix"
    assert isinstance(first.settings.labels, PromptsLabels)
    assert second.settings.labels is None


def test_sweep_does_not_leak_from_case_to_case() -> None:
    rows = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    change = {"kernel": {"type": "prefix", "beta": 1, "targets": rows}, "labels": {"law": "prompts"}}
    found = cases(**change, sweep={"kernel.targets.1": [[1, 0, 0], [0, 1, 0]], "kernel.beta": [1, 2]})
    targets = [case.settings.kernel.gauge.targets for case in found]  # type: ignore[union-attr]
    assert [target[1] for target in targets] == [(1, 0, 0), (0, 1, 0)] * 2
    assert rows == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("snapshots", "count", "expected"),
    [
        (None, 11, tuple(range(11))),
        (None, 3, (0, 1, 2)),
        (None, 101, tuple(range(0, 101, 10))),
        (2, 11, (0, 10)),
        ("5", 11, (0, 2, 5, 8, 10)),
        ("all", 4, (0, 1, 2, 3)),
        ([0, 5], 11, (0, 5, 10)),
        ([10], 11, (10,)),
        (["2"], 11, (2, 10)),
    ],
)
def test_snapshots_are_indices_and_end_with_the_last(
    snapshots: Any, count: int, expected: tuple[int, ...]
) -> None:
    case = cases(times={"stop": 10, "count": count}, snapshots=snapshots)[0]
    assert case.settings.snapshots == expected


def test_times_are_short_numbers() -> None:
    assert cases(times={"stop": 1, "count": 11})[0].settings.times == tuple(index / 10 for index in range(11))
    assert cases(times={"start": 2, "stop": 3, "count": 3})[0].settings.times == (2.0, 2.5, 3.0)
    logarithmic = cases(times={"start": 1e-3, "stop": 1e300, "count": 304, "spacing": "log"})[
        0
    ].settings.times
    assert logarithmic[:3] == (0.0, 1e-3, 1e-2)
    assert logarithmic[-1] == 1e300
    assert len(logarithmic) == 305
    assert cases(times=["0", 1, 2.5])[0].settings.times == (0.0, 1.0, 2.5)


@pytest.mark.parametrize(
    ("kernel", "labels", "expected"),
    [
        (BASE["kernel"], {"law": "grid"}, None),
        (PREFIX, {"law": "prompts"}, 4),
        (PREFIX, {"law": "prompts", "count": 3}, 4),
        ({**PREFIX, "targets": {"law": "uniform"}}, {"law": "prompts", "count": 3}, 3),
        ({**PREFIX, "targets": {"law": "uniform"}}, {"law": "prompts"}, 8),
        ({**PREFIX, "targets": {"law": "uniform"}}, {"law": "atoms", "positions": [0, 7]}, 8),
        ({**PREFIX, "targets": [[1, 0, 0], [0, 1, 0]]}, {"law": "atoms", "positions": [0, 1]}, 2),
    ],
)
def test_number_of_targets(kernel: Any, labels: Any, expected: int | None) -> None:
    assert cases(kernel=kernel, labels=labels)[0].settings.n_targets == expected


def test_draw_keys_do_not_know_the_kernel() -> None:
    found = cases(sweep={"kernel.beta": [1, 2], "rtol": [1e-9, 1e-8]})
    assert len({case.draw_key for case in found}) == 1
    assert len({case.label_key for case in found}) == 1
    found = cases(
        n_tokens=[8, 9], sweep={"dim": [3, 4], "initial": [{"law": "uniform"}, {"law": "anchored"}]}
    )
    assert len({case.draw_key for case in found}) == 8
    assert len({case.label_key for case in found}) == 2


def test_layers_take_whole_steps() -> None:
    times = {"stop": 20, "count": 41}
    for step in (0.5, 0.1, 0.02):
        assert cases(method="layers", step=step, times=times)[0].settings.step == step


def test_validated_settings_are_frozen() -> None:
    settings = cases()[0].settings
    with pytest.raises(ValueError, match="frozen"):
        settings.dim = 4  # type: ignore[misc]
    assert isinstance(settings, CaseSettings)


def test_files_are_found_and_fingerprinted(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.csv").write_text("1,0,0\n0,1,0\n")
    (tmp_path / "sub" / "l.csv").write_text("0\n1\n")
    monkeypatch.chdir(tmp_path)
    change: dict[str, Any] = {
        "kernel": {
            "type": "combined",
            "beta": 1,
            "gauge": {"type": "prefix", "targets": {"law": "points", "file": "sub/t.csv"}},
        },
        "labels": {"law": "points", "file": "sub/l.csv"},
        "initial": {"law": "points", "file": "./sub/../sub/t.csv"},
    }
    case = cases(**change)[0]
    assert case.files == ("sub/l.csv", "sub/t.csv")
    assert '"sha256":"' in case.to_json()
    (tmp_path / "sub" / "t.csv").write_text("1,0,0\n0,0,1\n")
    changed = cases(**change)[0]
    assert changed.to_json() != case.to_json()
    digest = changed.settings.initial.sha256  # type: ignore[union-attr]
    change["initial"]["sha256"] = digest
    assert cases(**change)[0].to_json() == changed.to_json()
    change["initial"]["sha256"] = "0" * 64
    with pytest.raises(ConfigError, match=r"initial\.sha256 = '000.*has changed"):
        cases(**change)


def test_large_files_are_refused(tmp_path: Any) -> None:
    file = tmp_path / "big.csv"
    with file.open("wb") as stream:
        stream.truncate(100_000_001)
    with pytest.raises(ConfigError, match=r"labels\.file = .*at most 100 MB"):
        cases(labels={"law": "points", "file": str(file)})
