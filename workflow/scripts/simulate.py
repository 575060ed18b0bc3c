"""Rule `simulate`: one case, all its seeds, into one netCDF file."""

from pathlib import Path
from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Run the simulation of `job.params.case`."""
    title = f"{job.wildcards.experiment}/{job.wildcards.case}"
    with job_log(job.log.text, job.output, title, job.params.runs) as progress:
        from usaav.flow.case import simulate_case

        simulate_case(job.params.case, Path(job.output.dataset), job.threads, progress)


if __name__ == "__main__":
    main(snakemake)
