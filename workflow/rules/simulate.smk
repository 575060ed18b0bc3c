"""Simulations: one job per case, all its seeds, into one netCDF file.

Input: files of points, where a law names one. The case itself is a parameter, as canonical text, so that a job
reruns for new numbers and not for another spelling.
Output: results/simulations/<experiment>/<case>.nc
"""


rule simulate:
    input:
        points=lambda wildcards: case_of(wildcards).files,
    output:
        dataset=SIMULATION,
    log:
        text="results/logs/simulate/{experiment}/{case}.log",
    benchmark:
        "results/benchmarks/simulate/{experiment}/{case}.tsv"
    conda:
        environment("simulate")
    threads: lambda wildcards: needs.of_simulation(case_of(wildcards)).threads
    resources:
        mem_mb=lambda wildcards, attempt: needs.of_simulation(case_of(wildcards), attempt).mem_mb,
        runtime=lambda wildcards, attempt: needs.of_simulation(case_of(wildcards), attempt).runtime,
        gpu=lambda wildcards: needs.of_simulation(case_of(wildcards)).gpu,
    params:
        case=lambda wildcards: case_of(wildcards).to_json(),
        runs=lambda wildcards, output: len(case_of(wildcards).seeds),
        source=digest(Path(workflow.source_path("../scripts/simulate.py"))),
    script:
        "../scripts/simulate.py"
