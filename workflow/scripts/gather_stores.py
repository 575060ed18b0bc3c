"""Rule `gather_stores`: the data of all batches of a sweep, in one netCDF file."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Make one file of the batches' files."""
    with job_log(job.log.text, job.output):
        from usaav.sweeps.gathering import gather_stores

        gather_stores(job.input.datasets, job.output.store)


if __name__ == "__main__":
    main(snakemake)
