"""Rule `draw`: one figure, as PDF and PNG."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Draw the figure that `job.params.figure` describes."""
    with job_log(job.log.text):
        from usaav.figures import draw_figure, save_figure

        figure = draw_figure(job.params.figure, job.input.datasets, job.input.tables, job.input.events)
        save_figure(figure, job.output.pdf, job.output.png)


if __name__ == "__main__":
    main(snakemake)
