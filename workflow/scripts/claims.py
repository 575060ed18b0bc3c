"""Rule `claims`: the verdicts on all claims in one table, as CSV and HTML."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Collect the verdicts."""
    with job_log(job.log.text, job.output):
        from usaav.claims import collect_verdicts

        collect_verdicts(job.input.verdicts, job.output.csv, job.output.html)


if __name__ == "__main__":
    main(snakemake)
