"""Rule `measure`: from the data files of an experiment to tidy tables."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Measure all cases of one experiment."""
    with job_log(job.log.text, job.output):
        from usaav.metrics.tables import write_tables

        made = job.output
        write_tables(job.input.datasets, job.params.cluster_angle, made.table, made.events, made.columns)


if __name__ == "__main__":
    main(snakemake)
