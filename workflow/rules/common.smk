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
SWEEPS = [name for name, experiment in SETTINGS.experiments.items() if experiment.batch is not None]
BATCHES = {name: SETTINGS.batches(name) for name in SWEEPS}


def case_of(wildcards):
    """The case that the wildcards `experiment` and `case` name; for an unknown one an error that lists all."""
    names = (wildcards.experiment, wildcards.case)
    return CASES.get(names) or SETTINGS.case(*names)


def cases_of(experiments):
    """All cases of some experiments."""
    return [case for name in experiments for case in SETTINGS.cases(name)]


def simulations_of(experiments):
    """The data files of some experiments; none for sweeps, whose figures are drawn from their tables."""
    kept = [name for name in experiments if name not in SWEEPS]
    return [SIMULATION.format(experiment=case.experiment, case=case.name) for case in cases_of(kept)]


def tables_of(experiments):
    """The tables of some experiments, one each."""
    return [(SWEEP_TABLE if name in SWEEPS else TABLE).format(experiment=name) for name in experiments]


def events_of(experiments):
    """The tables of merges of some experiments, one each, or none at all where one is a sweep, which has none."""
    return [] if set(experiments) & set(SWEEPS) else [EVENTS.format(experiment=name) for name in experiments]


def batches_of(sweep):
    """The names of the batches of a sweep: numbers from 0."""
    return [f"{number:04d}" for number in range(len(BATCHES[sweep]))]


def batch_of(wildcards):
    """The cases of the batch that the wildcards `sweep` and `batch` name."""
    batches = BATCHES[wildcards.sweep]
    if int(wildcards.batch) >= len(batches):
        raise ConfigError(
            f"sweep {wildcards.sweep} has batches 0000 to {len(batches) - 1:04d}, no {wildcards.batch}"
        )
    return batches[int(wildcards.batch)]


def batch_files(sweep):
    """The data files of all batches of a sweep."""
    return expand(BATCH, sweep=sweep, batch=batches_of(sweep))


def reading(spec, attempt):
    """The needs of a job that reads all data of the experiments that a figure, film or claim names."""
    if set(spec.experiments) & set(SWEEPS):
        return needs.of_table(cases_of(spec.experiments), attempt)
    return needs.of_reading(cases_of(spec.experiments), attempt)


def caption_of(kind, name):
    """The text on one of the figures or films in the report: a file of its name, if there is one.

    A parameter whose function asks for `output` is none that Snakemake compares: a new caption redraws nothing.
    """
    file = CAPTIONS / kind / f"{name}.rst"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def labels_of(kind, what, form):
    """Labels of one of the figures, films or pages in the report, for any wildcards.

    The report sorts by label, so a number puts them in the order of the configuration, which is that of the paper. Two
    files of one thing differ in the label `format` alone, and the report makes a switch of it, set to the first name.
    """

    def labels(wildcards):
        name = wildcards[what]
        return {what: f"{list(getattr(SETTINGS, kind)).index(name) + 1:02d} {name}", "format": form}

    return labels


def environment(name):
    """The file of a conda environment. Snakemake takes braces in its path, also in our folder's name, for wildcards."""
    file = workflow.current_basedir.join(f"../../envs/{name}.yaml").get_path_or_uri(secret_free=True)
    return file.replace("{", "{{").replace("}", "}}")


def one_of(names):
    """A wildcard constraint: one of these names (or nothing at all)."""
    return "|".join(names) or "(?!)"


CAPTIONS = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)) / "../report"
SIMULATION = "results/simulations/{experiment}/{case}.nc"
TABLE = "results/metrics/{experiment}.csv"
EVENTS = "results/metrics/{experiment}.events.csv"
BATCH = "results/sweeps/{sweep}/{batch}.nc"
SWEEP_TABLE = "results/sweeps/{experiment}.parquet"
PLAIN = [name for name in SETTINGS.experiments if name not in SWEEPS]


wildcard_constraints:
    experiment=one_of(PLAIN),
    sweep=one_of(SWEEPS),
    batch="[0-9]+",
    case="[^/]+",
    figure=one_of(SETTINGS.figures),
    film=one_of(SETTINGS.films),
    page=one_of(SETTINGS.pages),
    claim=one_of(SETTINGS.claims),


localrules:
    all,
    simulations,
    metrics,
    figures,
    films,
