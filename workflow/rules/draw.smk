"""Figures: one job per figure, from tables and stored tokens to PDF and PNG.

Input: metrics and data files of the experiments that the figure names.
Output: results/figures/<figure>.pdf and .png
"""

DRAW = Path(workflow.source_path("../scripts/draw.py"))


rule draw:
    input:
        tables=lambda wildcards: tables_of(SETTINGS.figures[wildcards.figure].experiments),
        events=lambda wildcards: events_of(SETTINGS.figures[wildcards.figure].experiments),
        datasets=lambda wildcards: simulations_of(SETTINGS.figures[wildcards.figure].experiments),
    output:
        pdf=report(
            "results/figures/{figure}.pdf",
            caption="../report/figure.rst",
            category="Figures",
            labels=labels_of("figures", "figure", "vector (PDF)"),
        ),
        png=report(
            "results/figures/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels=labels_of("figures", "figure", "picture (PNG)"),
        ),
    log:
        text="results/logs/draw/{figure}.log",
    benchmark:
        "results/benchmarks/draw/{figure}.tsv"
    conda:
        environment("analyse")
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: reading(SETTINGS.figures[wildcards.figure], attempt).mem_mb,
        runtime=lambda wildcards, attempt: reading(SETTINGS.figures[wildcards.figure], attempt).runtime,
        gpu=0,
    params:
        figure=lambda wildcards: SETTINGS.figures[wildcards.figure].model_dump(),
        caption=lambda wildcards, output: caption_of("figures", wildcards.figure),
        source=lambda wildcards: digest(DRAW, f"usaav.figures.{SETTINGS.figures[wildcards.figure].draw}"),
    script:
        "../scripts/draw.py"
