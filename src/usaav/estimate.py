"""What a configuration will take, without running it: ``python -m usaav.estimate config/sweep.yaml``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from usaav import needs
from usaav.config import Config, load
from usaav.config.cases import Case
from usaav.errors import UsaavError

__all__ = ["Estimate", "estimate", "table"]

#: starting Python with its libraries takes about so many seconds in each job
START_SECONDS = 3.0
#: reading and measuring a megabyte, drawing a figure, and making a film take about so many seconds
MEASURE_SECONDS_PER_MB, FIGURE_SECONDS, FILM_SECONDS = 0.2, 10.0, 120.0
#: bytes on disk of a row in a table, as text and in a Parquet file
CSV_BYTES, PARQUET_BYTES = 160.0, 40.0


@dataclass(frozen=True)
class Estimate:
    """One line of the estimate.

    Attributes
    ----------
    name
        What the jobs make.
    jobs
        Their number.
    core_hours
        Hours times cores of all of them, on slow cores: a fast processor takes a part of it.
    gigabytes
        Disk that their files take, before compression.
    longest
        Minutes of the longest job, with as many threads as it asks for.
    """

    name: str
    jobs: int
    core_hours: float
    gigabytes: float
    longest: float


def estimate(config: Config) -> list[Estimate]:
    """A line for the simulations and one for the tables of each experiment, and one for all products."""
    lines: list[Estimate] = []
    for name, experiment in config.experiments.items():
        batches = config.batches(name)
        if experiment.batch is None:
            batches = [(case,) for case in config.cases(name)]
        lines += [_simulations(name, batches), _measurements(name, batches, experiment.batch is not None)]
    return [*lines, _products(config)]


def _simulations(name: str, batches: Sequence[Sequence[Case]]) -> Estimate:
    seconds = [sum(map(needs.work, cases)) + START_SECONDS for cases in batches]
    threads = [max(needs.of_simulation(case).threads for case in cases) for cases in batches]
    return Estimate(
        name=f"{name}: simulations",
        jobs=len(batches),
        core_hours=sum(seconds) / 3600,
        gigabytes=sum(needs.stored_mb(cases) for cases in batches) / 1000,
        longest=max(time / count for time, count in zip(seconds, threads, strict=True)) / 60,
    )


def _measurements(name: str, batches: Sequence[Sequence[Case]], is_sweep: bool) -> Estimate:
    sizes = [needs.stored_mb(cases) for cases in batches]
    rows = sum(len(case.seeds) * len(case.settings.times) for cases in batches for case in cases)
    if not is_sweep:
        sizes = [sum(sizes)]
    seconds = [START_SECONDS + MEASURE_SECONDS_PER_MB * size for size in sizes]
    # a sweep keeps its tables by batch and whole, and all data a second time in one file
    disk = 2e-9 * PARQUET_BYTES * rows + sum(sizes) / 1000 if is_sweep else 1e-9 * CSV_BYTES * rows
    return Estimate(
        name=f"{name}: tables",
        jobs=len(sizes) + (2 if is_sweep else 0),
        core_hours=sum(seconds) / 3600,
        gigabytes=disk,
        longest=max(seconds) / 60,
    )


def _products(config: Config) -> Estimate:
    small = len(config.figures) + len(config.claims) + 1
    seconds = small * (START_SECONDS + FIGURE_SECONDS) + len(config.films) * FILM_SECONDS
    return Estimate(
        name="figures, films, claims",
        jobs=small + len(config.films),
        core_hours=seconds / 3600,
        gigabytes=1e-3 * (small + 5 * len(config.films)),
        longest=(FILM_SECONDS if config.films else FIGURE_SECONDS) / 60,
    )


def table(lines: Sequence[Estimate]) -> str:
    """The estimate as text, with the sum in the last line."""
    total = Estimate(
        "all",
        sum(line.jobs for line in lines),
        sum(line.core_hours for line in lines),
        sum(line.gigabytes for line in lines),
        max(line.longest for line in lines),
    )
    width = max(len(line.name) for line in [*lines, total])
    rows = [f"{'':{width}}  {'jobs':>7}  {'core-hours':>10}  {'disk, GB':>8}  {'longest job, min':>16}"]
    rows += [
        f"{line.name:{width}}  {line.jobs:>7}  {line.core_hours:>10.2f}  {line.gigabytes:>8.3f}"
        f"  {line.longest:>16.1f}"
        for line in [*lines, total]
    ]
    rows.append("Guesses on the safe side, for slow cores; compiled code on a fast one often takes a tenth.")
    return "\n".join(rows) + "\n"


def overrides(words: Iterable[str]) -> Mapping[str, str]:
    """Settings from words such as ``seeds=3``.

    Raises
    ------
    UsaavError
        A word has no ``=``.
    """
    pairs = [word.partition("=") for word in words]
    wrong = [key for key, sign, _ in pairs if not sign]
    if wrong:
        raise UsaavError(f"expected key=value, not {wrong[0]!r}")
    return {key: value for key, _, value in pairs}


def main(words: Sequence[str]) -> int:
    """Print the estimate of the configuration files and settings (``key=value``) in `words`.

    Returns 1 if they are wrong, else 0.
    """
    try:
        files = [word for word in words if "=" not in word] or ["config.yaml"]
        config = load(files, overrides(word for word in words if "=" in word))
    except UsaavError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(table(estimate(config)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
