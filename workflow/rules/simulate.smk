"""Simulations: one job per case, all its seeds, into one netCDF file.

Input: files of points, where a law names one. The case itself is a parameter, as canonical text, so that a job
reruns for new numbers and not for another spelling.
Output: results/simulations/<experiment>/<case>.nc
"""


def require_device():
    """Stop the run before its first job where it is to compute on a device here, and none can be used.

    Jobs that go to other machines look for themselves, each before it starts to compute.
    """
    from usaav.errors import BackendError
    from usaav.gpu import device

    if workflow.local_exec and any(case.settings.backend == "cupy" for case in CASES.values()):
        try:
            device.require()
        except BackendError as error:
            sys.exit(f"BackendError: {error}")


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
