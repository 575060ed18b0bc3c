"""Settings reach the jobs, and bad ones stop the run before any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from unit.bad_settings import BAD, with_changes

pytestmark = pytest.mark.workflow

LIMIT = 5.0  # seconds
#: every so many of the bad settings, which the loader's own tests have all of, go through Snakemake too
STRIDE = 2


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["betta=1"], "betta"),
        (["only=ropes"], "only"),
        (["seeds=-1"], "seeds"),
        (["n_tokens=[0]"], "n_tokens"),
        (["backend=fortran"], "backend"),
        (["rtol=small"], "rtol"),
    ],
)
def test_a_bad_setting_on_the_command_line_is_named(unstarted, words: list[str], key: str) -> None:
    refused(unstarted, unstarted.run("--config", *words), "command line", key)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("beta: 1}", "beta: -1}", "experiments.baseline.kernel.beta"),
        ("n_tokens: [6, 8]", "n: [6, 8]", "experiments.baseline.n"),
        ("draw: terminal_orbit", "draw: terminal_orbits", "figures.rope.draw"),
        ("check: orbit", "check: orbits", "claims.rope.check"),
        ("experiments: [rope]", "experiments: [ropes]", "experiments"),
        ("planes: [[0, 1]]", "planes: [[0, 3]]", "experiments.rope.kernel.planes"),
    ],
)
def test_a_bad_setting_in_a_file_is_named(unstarted, old: str, new: str, key: str) -> None:
    unstarted.replace("tiny.yaml", old, new)
    refused(unstarted, unstarted.run(), "tiny.yaml", key)


def refused(workflow, outcome, *named: str) -> None:
    assert outcome.status != 0
    assert outcome.seconds < LIMIT
    assert all(text in outcome.text for text in named), outcome.text
    assert "Traceback" not in outcome.text
    assert not workflow.results.exists()


def test_overrides_reach_the_jobs(unstarted) -> None:
    outcome = unstarted.run("--dry-run", "--config", "only=baseline", "seeds=3", "n_tokens=[5]")
    assert outcome.status == 0, outcome.text
    assert outcome.jobs == {"simulate": 1, "measure": 1, "check": 1, "claims": 1}
    assert "case=n5" in outcome.text


@pytest.mark.parametrize("name", ["config.yaml", "config/quick.yaml"])
def test_the_shipped_configurations_plan_their_runs(repo, unstarted, name: str) -> None:
    files = [] if name == "config.yaml" else ["--configfile", str(repo / name)]
    outcome = unstarted.run("--dry-run", "--quiet", "rules", *files, config=None)
    assert outcome.status == 0, outcome.text
    assert outcome.jobs["measure"] >= 4
    assert "baseline" in (repo / name).read_text(encoding="utf-8")


@pytest.mark.faults
@pytest.mark.long
@pytest.mark.parametrize("number", range(0, len(BAD), STRIDE))
def test_a_bad_setting_stops_the_run_before_any_job(unstarted, number: int, count) -> None:
    changes, expected = BAD[number]
    (unstarted.directory / "tiny.yaml").write_text(
        yaml.safe_dump(with_changes(changes), allow_unicode=True, sort_keys=False), encoding="utf-8"
    )
    around = everything(unstarted.directory.parent)
    refused(unstarted, unstarted.run(), "tiny.yaml", *(text for text in expected if text.isprintable()))
    # nor is anything written elsewhere, whatever a name says
    assert everything(unstarted.directory.parent) == around
    count("bad settings refused")


@pytest.mark.faults
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("experiments: !!python/object/apply:os.system ['touch {folder}/run-by-yaml']\n", "expected YAML"),
        ("experiments: &a [*a]\n", "nested more than"),
        ("experiments: {{'../x': {{}}}}\n", "small letters"),
        ("experiments: {{}}\nexperiments: {{}}\n", "stands twice"),
    ],
)
def test_a_file_that_is_no_settings_runs_nothing(unstarted, text: str, words: str, count) -> None:
    folder = unstarted.directory.parent
    (unstarted.directory / "tiny.yaml").write_text(text.format(folder=folder), encoding="utf-8")
    around = everything(folder)
    outcome = unstarted.run()
    assert outcome.status != 0
    assert outcome.seconds < LIMIT
    assert everything(folder) == around
    # of some, Snakemake's own loader, which is a safe one too, speaks first
    assert words in outcome.text or "not valid JSON or YAML" in outcome.text
    count("bad settings refused")


def everything(folder: Path) -> dict[str, Any]:
    """All files below a folder but Snakemake's own, with their sizes."""
    return {
        str(path): path.stat().st_size
        for path in folder.rglob("*")
        if ".snakemake" not in path.parts and not path.is_symlink()
    }
