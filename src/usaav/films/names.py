"""Names of the film functions, kept apart so that reading a configuration imports no heavy library."""

FILM_NAMES = ("overview",)
