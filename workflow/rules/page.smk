"""Pages: one job per HTML page to look at and turn, which needs no other file.

Input: data files of the experiments that the page names.
Output: results/films/<page>.html
"""

from usaav.films import template_digest

PAGE = Path(workflow.source_path("../scripts/page.py"))


rule page:
    input:
        datasets=lambda wildcards: simulations_of(SETTINGS.pages[wildcards.page].experiments),
    output:
        html=report(
            "results/films/{page}.html",
            caption="../report/page.rst",
            category="Pages",
            labels=labels_of("pages", "page", "HTML"),
        ),
    log:
        text="results/logs/page/{page}.log",
    benchmark:
        "results/benchmarks/page/{page}.tsv"
    conda:
        environment("analyse")
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: reading(SETTINGS.pages[wildcards.page], attempt).mem_mb,
        runtime=lambda wildcards, attempt: reading(SETTINGS.pages[wildcards.page], attempt).runtime,
        gpu=0,
    params:
        page=lambda wildcards: SETTINGS.pages[wildcards.page].model_dump(),
        caption=lambda wildcards, output: caption_of("films", wildcards.page),
        source=lambda wildcards: digest(PAGE, f"usaav.films.{SETTINGS.pages[wildcards.page].draw}"),
        template=lambda wildcards: template_digest(SETTINGS.pages[wildcards.page].draw),
    script:
        "../scripts/page.py"
