"""Sweeps: experiments with a `batch`, so many small cases that one job simulates many of them.

A process for each of thousands of cases of a tenth of a second would spend its time on starting; and as many files
are a burden for most file systems of clusters. So a batch is a job and a file.
Output: results/sweeps/<sweep>.parquet (the table, as results/metrics/<experiment>.csv is for other experiments),
.columns.csv and .nc (all data), from results/sweeps/<sweep>/<batch>.nc and .parquet.
"""


rule simulate_batch:
    input:
        points=lambda wildcards: sorted({file for case in batch_of(wildcards) for file in case.files}),
    output:
        dataset=BATCH,
    log:
        text="results/logs/simulate_batch/{sweep}/{batch}.log",
    benchmark:
        "results/benchmarks/simulate_batch/{sweep}/{batch}.tsv"
    conda:
        environment("simulate")
    threads: lambda wildcards: needs.of_batch(batch_of(wildcards)).threads
    resources:
        mem_mb=lambda wildcards, attempt: needs.of_batch(batch_of(wildcards), attempt).mem_mb,
        runtime=lambda wildcards, attempt: needs.of_batch(batch_of(wildcards), attempt).runtime,
        gpu=lambda wildcards: needs.of_batch(batch_of(wildcards)).gpu,
    params:
        cases=lambda wildcards: [case.to_json() for case in batch_of(wildcards)],
        source=digest(Path(workflow.source_path("../scripts/simulate_batch.py"))),
    script:
        "../scripts/simulate_batch.py"


rule measure_batch:
    input:
        dataset=BATCH,
    output:
        table="results/sweeps/{sweep}/{batch}.parquet",
    log:
        text="results/logs/measure_batch/{sweep}/{batch}.log",
    benchmark:
        "results/benchmarks/measure_batch/{sweep}/{batch}.tsv"
    conda:
        environment("analyse")
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: needs.of_reading(batch_of(wildcards), attempt).mem_mb,
        runtime=lambda wildcards, attempt: needs.of_reading(batch_of(wildcards), attempt).runtime,
        gpu=0,
    params:
        cluster_angle=lambda wildcards: SETTINGS.experiments[wildcards.sweep].cluster_angle,
        source=digest(Path(workflow.source_path("../scripts/measure_batch.py"))),
    script:
        "../scripts/measure_batch.py"


rule gather_tables:
    input:
        tables=lambda wildcards: expand(
            rules.measure_batch.output.table, sweep=wildcards.sweep, batch=batches_of(wildcards.sweep)
        ),
    output:
        table="results/sweeps/{sweep}.parquet",
        columns="results/sweeps/{sweep}.columns.csv",
    log:
        text="results/logs/gather_tables/{sweep}.log",
    benchmark:
        "results/benchmarks/gather_tables/{sweep}.tsv"
    conda:
        environment("analyse")
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: needs.of_table(cases_of([wildcards.sweep]), attempt).mem_mb,
        runtime=lambda wildcards, attempt: needs.of_table(cases_of([wildcards.sweep]), attempt).runtime,
        gpu=0,
    params:
        cluster_angle=lambda wildcards: SETTINGS.experiments[wildcards.sweep].cluster_angle,
        source=digest(Path(workflow.source_path("../scripts/gather_tables.py"))),
    script:
        "../scripts/gather_tables.py"


rule gather_stores:
    input:
        datasets=lambda wildcards: batch_files(wildcards.sweep),
    output:
        store="results/sweeps/{sweep}.nc",
    log:
        text="results/logs/gather_stores/{sweep}.log",
    benchmark:
        "results/benchmarks/gather_stores/{sweep}.tsv"
    conda:
        environment("analyse")
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: needs.of_gathering(BATCHES[wildcards.sweep], attempt).mem_mb,
        runtime=lambda wildcards, attempt: needs.of_gathering(BATCHES[wildcards.sweep], attempt).runtime,
        gpu=0,
    params:
        source=digest(Path(workflow.source_path("../scripts/gather_stores.py"))),
    script:
        "../scripts/gather_stores.py"
