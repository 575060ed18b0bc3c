"""Rule `page`: one HTML page."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Make the page that `job.params.page` describes."""
    with job_log(job.log.text, job.output, job.wildcards.page):
        from usaav.figures import Sources
        from usaav.films import write_page

        page, read, made = job.params.page, job.input, job.output
        sources = Sources.of_files(page["experiments"], read.datasets)
        write_page(page["draw"], sources, page["options"], made.html)


if __name__ == "__main__":
    main(snakemake)
