# The whole paper: simulations -> metrics -> figures, films, claims. What is made follows from the configuration alone.
# `snakemake --cores all` makes everything; config.yaml is read unless --configfile names another file.

from snakemake.utils import min_version

min_version("9.0")

if not workflow.configfiles:

    configfile: os.path.join(workflow.basedir, "config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/draw.smk"
include: "workflow/rules/film.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/page.smk"


report: "workflow/report/workflow.rst"


localrules:
    all,
    simulations,
    metrics,
    figures,
    films,


rule simulations:
    input:
        [simulations_of([name]) for name in SETTINGS.experiments],


rule metrics:
    input:
        expand(rules.measure.output, experiment=SETTINGS.experiments),


rule figures:
    input:
        expand(rules.draw.output, figure=SETTINGS.figures),


rule films:
    input:
        expand(rules.film.output, film=SETTINGS.films),


rule all:
    default_target: True
        expand(rules.page.output, page=SETTINGS.pages),
    input:
        rules.metrics.input,
        rules.figures.input,
        rules.films.input,
        rules.claims.output,
