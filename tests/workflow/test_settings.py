"""Settings reach the jobs, and bad ones stop the run before any."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.workflow

LIMIT = 5.0  # seconds


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
