"""Rule `film`: one film, as GIF and MP4."""

from typing import TYPE_CHECKING

from usaav.joblog import job_log

if TYPE_CHECKING:
    from snakemake.script import Snakemake, snakemake


def main(job: "Snakemake") -> None:
    """Make the film that `job.params.film` describes."""
    with job_log(job.log.text, job.output, job.wildcards.film) as progress:
        from usaav.figures import Sources
        from usaav.films import write_film

        film, read, made = job.params.film, job.input, job.output
        sources = Sources.of_files(film["experiments"], read.datasets, read.tables, read.events)
        write_film(film["draw"], sources, film["options"], made.gif, made.mp4, progress)


if __name__ == "__main__":
    main(snakemake)
