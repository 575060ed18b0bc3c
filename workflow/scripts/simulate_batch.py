"""Rule `simulate_batch`: the cases of one batch of a sweep, into one netCDF file."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Run the simulations of `job.params.cases`, one after the other."""
    title = f"{job.wildcards.sweep}/{job.wildcards.batch}"
    with job_log(job.log.text, job.output, title, len(job.params.cases), "case") as progress:
        from usaav.sweeps.batches import simulate_batch

        simulate_batch(job.params.cases, job.output.dataset, job.threads, progress)


if __name__ == "__main__":
    main(snakemake)
