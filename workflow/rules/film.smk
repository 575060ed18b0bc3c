"""Films: one job per film, from stored tokens to GIF and MP4.

Input: metrics and data files of the experiments that the film names.
Output: results/films/<film>.gif and .mp4
"""

FILM = Path(workflow.source_path("../scripts/film.py"))


rule film:
    input:
        tables=lambda wildcards: tables_of(SETTINGS.films[wildcards.film].experiments),
        events=lambda wildcards: events_of(SETTINGS.films[wildcards.film].experiments),
        datasets=lambda wildcards: simulations_of(SETTINGS.films[wildcards.film].experiments),
    output:
        gif=report(
            "results/films/{film}.gif",
            caption="../report/film.rst",
            category="Films",
            labels=labels_of("films", "film", "GIF"),
        ),
        mp4=report(
            "results/films/{film}.mp4",
            caption="../report/film.rst",
            category="Films",
            labels=labels_of("films", "film", "MP4"),
        ),
    log:
        text="results/logs/film/{film}.log",
    benchmark:
        "results/benchmarks/film/{film}.tsv"
    conda:
        environment("analyse")
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: reading(SETTINGS.films[wildcards.film], attempt).mem_mb,
        runtime=lambda wildcards, attempt: reading(SETTINGS.films[wildcards.film], attempt).runtime,
        gpu=0,
    params:
        film=lambda wildcards: SETTINGS.films[wildcards.film].model_dump(),
        caption=lambda wildcards, output: caption_of("films", wildcards.film),
        source=lambda wildcards: digest(FILM, f"usaav.films.{SETTINGS.films[wildcards.film].draw}"),
    script:
        "../scripts/film.py"
