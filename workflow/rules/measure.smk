"""Metrics: one job per experiment, from its data files to tidy tables.

Input: the data files of the experiment.
Output: results/metrics/<experiment>.csv (one row per case, seed and time), .events.csv (one row per merge of two
clusters) and .columns.csv (what each column is, with its unit).
"""


rule measure:
    input:
        datasets=lambda wildcards: simulations_of([wildcards.experiment]),
    output:
        table=TABLE,
        events=EVENTS,
        columns="results/metrics/{experiment}.columns.csv",
    log:
        text="results/logs/measure/{experiment}.log",
    benchmark:
        "results/benchmarks/measure/{experiment}.tsv"
    conda:
        environment("analyse")
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: needs.of_reading(cases_of([wildcards.experiment]), attempt).mem_mb,
        runtime=lambda wildcards, attempt: needs.of_reading(cases_of([wildcards.experiment]), attempt).runtime,
        gpu=0,
    params:
        cluster_angle=lambda wildcards: SETTINGS.experiments[wildcards.experiment].cluster_angle,
        source=digest(Path(workflow.source_path("../scripts/measure.py"))),
    script:
        "../scripts/measure.py"
