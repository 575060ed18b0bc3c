"""Rule `verify`: fails when a claim does not hold."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Read the table of claims and raise an error that names those that fail."""
    with job_log(job.log.text):
        from usaav.claims import require_all

        require_all(job.input.csv)


if __name__ == "__main__":
    main(snakemake)
