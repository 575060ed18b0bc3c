"""Rule `gather_tables`: the tables of all batches of a sweep, below one another."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Make one table of the batches' tables."""
    with job_log(job.log.text, job.output):
        from usaav.sweeps.gathering import gather_tables

        gather_tables(job.input.tables, job.params.cluster_angle, job.output.table, job.output.columns)


if __name__ == "__main__":
    main(snakemake)
