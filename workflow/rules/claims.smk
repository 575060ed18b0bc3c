"""Claims: one job per claim, then one table of all verdicts.

Input: metrics and data files of the experiments that the claim names.
Output: results/claims/<claim>.csv, and results/claims.csv and .html with all of them.
The target `verify` fails when a claim does not hold.
"""

CHECK = Path(workflow.source_path("../scripts/check.py"))


localrules:
    claims,
    verify,


rule check:
    input:
        tables=lambda wildcards: tables_of(SETTINGS.claims[wildcards.claim].experiments),
        events=lambda wildcards: events_of(SETTINGS.claims[wildcards.claim].experiments),
        datasets=lambda wildcards: simulations_of(SETTINGS.claims[wildcards.claim].experiments),
    output:
        verdict="results/claims/{claim}.csv",
    log:
        text="results/logs/check/{claim}.log",
    benchmark:
        "results/benchmarks/check/{claim}.tsv"
    conda:
        environment("analyse")
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: reading(SETTINGS.claims[wildcards.claim], attempt).mem_mb,
        runtime=lambda wildcards, attempt: reading(SETTINGS.claims[wildcards.claim], attempt).runtime,
        gpu=0,
    params:
        claim=lambda wildcards: SETTINGS.claims[wildcards.claim].model_dump(),
        source=lambda wildcards: digest(CHECK, f"usaav.claims.{SETTINGS.claims[wildcards.claim].check}"),
    script:
        "../scripts/check.py"


rule claims:
    input:
        verdicts=expand(rules.check.output.verdict, claim=SETTINGS.claims),
    output:
        csv=report(
            "results/claims.csv",
            caption="../report/claims.rst",
            category="Claims",
            labels={"claims": "all claims", "format": "table (CSV)"},
        ),
        html=report(
            "results/claims.html",
            caption="../report/claims.rst",
            category="Claims",
            labels={"claims": "all claims", "format": "page (HTML)"},
        ),
    log:
        text="results/logs/claims/claims.log",
    benchmark:
        "results/benchmarks/claims/claims.tsv"
    conda:
        environment("analyse")
    params:
        source=digest(Path(workflow.source_path("../scripts/claims.py"))),
    script:
        "../scripts/claims.py"


rule verify:
    input:
        csv=rules.claims.output.csv,
    log:
        text="results/logs/verify/verify.log",
    benchmark:
        "results/benchmarks/verify/verify.tsv"
    conda:
        environment("analyse")
    script:
        "../scripts/verify.py"
