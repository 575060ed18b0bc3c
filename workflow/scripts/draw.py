"""Rule `draw`: one figure, as PDF and PNG."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Draw the figure that `job.params.figure` describes."""
    with job_log(job.log.text, job.output):
        from usaav.figures import Sources, draw_figure, save

        figure, read = job.params.figure, job.input
        sources = Sources.of_files(figure["experiments"], read.datasets, read.tables, read.events)
        save(draw_figure(figure["draw"], sources, figure["options"]), job.output.pdf, job.output.png)


if __name__ == "__main__":
    main(snakemake)
