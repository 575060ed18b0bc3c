"""Rule `measure_batch`: the part of a sweep's table that one batch makes."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Measure all cases of one batch."""
    with job_log(job.log.text, job.output):
        from usaav.sweeps.batches import measure_batch

        measure_batch(job.input.dataset, job.params.cluster_angle, job.output.table)


if __name__ == "__main__":
    main(snakemake)
