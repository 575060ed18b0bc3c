# The whole paper: simulations -> metrics -> figures, films, claims; all of it follows from the configuration,
# config.yaml unless --configfile names another file. `snakemake --cores all` makes everything.

from snakemake.utils import min_version

min_version("9.0")
if not workflow.configfiles:

    configfile: workflow.current_basedir.join("config.yaml").get_path_or_uri(secret_free=True)


include: "workflow/rules/common.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/sweep.smk"
include: "workflow/rules/draw.smk"
include: "workflow/rules/film.smk"
include: "workflow/rules/page.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/outdated.smk"


report: "workflow/report/workflow.rst"


rule simulations:
    input:
        [simulations_of([name]) for name in PLAIN] + [batch_files(name) for name in SWEEPS],


rule metrics:
    input:
        expand(rules.measure.output, experiment=PLAIN),
        expand(rules.gather_tables.output, sweep=SWEEPS),
        expand(rules.gather_stores.output, sweep=SWEEPS),


rule figures:
    input:
        expand(rules.draw.output, figure=SETTINGS.figures),


rule films:
    input:
        expand(rules.film.output, film=SETTINGS.films),
        expand(rules.page.output, page=SETTINGS.pages),


rule all:
    default_target: True
    input:
        rules.metrics.input,
        rules.figures.input,
        rules.films.input,
        rules.claims.output,
