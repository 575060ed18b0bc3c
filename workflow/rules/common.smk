"""What all rules share: the validated settings, the cases by name, where simulations lie.

Nothing is decided here: which experiments, cases, figures, films, pages and claims there are says the
configuration, and what a job does says the package.
"""

import shlex
import sys
from pathlib import Path

from usaav import needs
from usaav.config import from_mapping
from usaav.digests import digest
from usaav.errors import ConfigError

# Snakemake puts the interpreter's path into shell commands as it is, so one with spaces must bring its quotes.
if Path(sys.executable).exists():
    sys.executable = shlex.quote(sys.executable)

try:
    SETTINGS = from_mapping(config, workflow.configfiles)
except ConfigError as error:
    sys.exit(f"ConfigError: {error}")

CASES = {(case.experiment, case.name): case for case in SETTINGS.cases()}


def case_of(wildcards):
    """The case that the wildcards `experiment` and `case` name; for an unknown one an error that lists all."""
    names = (wildcards.experiment, wildcards.case)
    return CASES.get(names) or SETTINGS.case(*names)


def cases_of(experiments):
    """All cases of some experiments."""
    return [case for name in experiments for case in SETTINGS.cases(name)]


def simulations_of(experiments):
    """The data files of some experiments."""
    return [SIMULATION.format(experiment=case.experiment, case=case.name) for case in cases_of(experiments)]


def reading(spec, attempt):
    """The needs of a job that reads all data of the experiments that a figure, film or claim names."""
    return needs.of_reading(cases_of(spec.experiments), attempt)


def caption_of(kind, name):
    """The text on one of the figures or films in the report: a file of its name, if there is one.

    A parameter whose function asks for `output` is none that Snakemake compares: a new caption redraws nothing.
    """
    file = CAPTIONS / kind / f"{name}.rst"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def one_of(names):
    """A wildcard constraint: one of these names (or nothing at all)."""
    return "|".join(names) or "(?!)"


CAPTIONS = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)) / "../report"
SIMULATION = "results/simulations/{experiment}/{case}.nc"


wildcard_constraints:
    experiment=one_of(SETTINGS.experiments),
    case="[^/]+",
    figure=one_of(SETTINGS.figures),
    film=one_of(SETTINGS.films),
    claim=one_of(SETTINGS.claims),
    page=one_of(SETTINGS.pages),
