"""Names of the functions of films and pages with their options, apart from their code.

Reading a configuration so imports no plotting library. Each name is a module of this package, with a function
``scene(sources, **options)`` for a film and ``page(sources, **options)`` for a page.
"""

#: film function -> the options it takes
FILM_OPTIONS: dict[str, tuple[str, ...]] = {
    "gauge_universality": ("seed", "select"),
    "metastability": ("frames", "seed", "select"),
    "overview": ("seed", "select"),
}
FILM_NAMES = tuple(FILM_OPTIONS)

#: page function -> the options it takes
PAGE_OPTIONS: dict[str, tuple[str, ...]] = {
    "sphere": ("seed", "select"),
}
PAGE_NAMES = tuple(PAGE_OPTIONS)
