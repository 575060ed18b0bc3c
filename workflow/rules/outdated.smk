"""Before and after a run: what it can't do without is looked for, results that are to be made again are set
aside, and how to go on is said.

See src/usaav/outdated.py.
"""

from usaav import outdated
from usaav.errors import DataError
from usaav.whole_files import require_writable


def unmade():
    """The results that this run is to make."""
    return [file for job in workflow.dag.needrun_jobs() for file in job.output]


def products():
    """What a person looks at -> the data files and tables that it is made from."""
    kinds = [
        (SETTINGS.figures, "figure", rules.draw.output),
        (SETTINGS.films, "film", rules.film.output),
        (SETTINGS.pages, "page", rules.page.output),
        (SETTINGS.claims, "claim", rules.check.output),
    ]
    made = {}
    for specs, wildcard, outputs in kinds:
        for name, spec in specs.items():
            used = [Path(file) for file in simulations_of(spec.experiments) + tables_of(spec.experiments)]
            made |= {Path(str(file).replace(f"{{{wildcard}}}", name)): used for file in outputs}
    judged = [Path(file) for spec in SETTINGS.claims.values() for file in tables_of(spec.experiments)]
    return made | {Path(file): judged for file in rules.claims.output}


# Snakemake keeps one function of each kind, so what a run begins and ends with stands here alone.
onstart:
    require_device()
    if not workflow.touch:
        try:
            require_writable(unmade())
        except DataError as error:
            sys.exit(f"DataError: {error}")
        outdated.tell(outdated.set_aside(unmade()))


onsuccess:
    outdated.tell(outdated.set_aside(outdated.overtaken(products())))


onerror:
    outdated.tell(outdated.set_aside(outdated.overtaken(products())), outdated.HOW_TO_GO_ON)
