"""Rule `check`: the verdict on one claim, as rows of the table of claims."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Check the claim that `job.params.claim` describes."""
    with job_log(job.log.text, job.output):
        from usaav.claims import write_verdict

        read, name = job.input, job.wildcards.claim
        write_verdict(name, job.params.claim, read.datasets, read.tables, read.events, job.output.verdict)


if __name__ == "__main__":
    main(snakemake)
