"""The workflow as a part of another one: an experiment of ours, a rule of theirs."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.workflow

THEIRS = """
configfile: "tiny.yaml"

module usaav:
    snakefile: "{snakefile}"
    config: dict(config, only="rope")
    prefix: "paper"

use rule * from usaav as usaav_*

rule summary:
    default_target: True
    input:
        table="paper/results/metrics/rope.csv",
        figure=rules.usaav_draw.output.pdf.format(figure="rope"),
    output:
        "summary.txt"
    shell:
        "wc -l < {{input.table}} > {{output}}"
"""


def theirs(workflow):
    """Their workflow in a folder of its own; our code lies elsewhere."""
    snakefile = workflow.directory / "Snakefile"
    snakefile.write_text(THEIRS.format(snakefile=workflow.code / "Snakefile"), encoding="utf-8")
    return ["-s", str(snakefile)]


def test_one_experiment_of_ours_and_one_rule_of_theirs(unstarted) -> None:
    outcome = unstarted.run(*theirs(unstarted), config=None)
    assert outcome.status == 0, outcome.text
    assert outcome.jobs == {"usaav_simulate": 1, "usaav_measure": 1, "usaav_draw": 1, "summary": 1}
    # a header, and two seeds at eleven times
    assert (unstarted.directory / "summary.txt").read_text().strip() == "23"
    assert (unstarted.directory / "paper/results/figures/rope.pdf").exists()
    assert not unstarted.results.exists()


def test_our_targets_are_theirs(unstarted) -> None:
    outcome = unstarted.run(*theirs(unstarted), "--dry-run", "--", "usaav_all", config=None)
    assert outcome.status == 0, outcome.text
    assert {
        "usaav_simulate",
        "usaav_measure",
        "usaav_draw",
        "usaav_check",
        "usaav_claims",
    } <= outcome.jobs.keys()


def test_without_a_configuration_of_theirs_ours_is_taken(unstarted) -> None:
    arguments = theirs(unstarted)
    snakefile = unstarted.directory / "Snakefile"
    text = snakefile.read_text(encoding="utf-8")
    text = text.replace('configfile: "tiny.yaml"', "").replace('    config: dict(config, only="rope")\n', "")
    snakefile.write_text(text, encoding="utf-8")
    outcome = unstarted.run(*arguments, "--dry-run", "--", "usaav_metrics", config=None)
    assert outcome.status == 0, outcome.text
    assert outcome.jobs["usaav_measure"] > 4
