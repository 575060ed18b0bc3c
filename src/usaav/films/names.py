"""Names of the film functions with their options, kept apart so that reading a configuration stays light.

Each name is a module of this package with a function ``scene(sources, **options)``.
"""

#: film function -> the options it takes
FILM_OPTIONS: dict[str, tuple[str, ...]] = {
    "overview": ("seed", "select"),
}
FILM_NAMES = tuple(FILM_OPTIONS)
