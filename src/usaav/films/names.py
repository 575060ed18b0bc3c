"""Names of the film functions, apart from their code so that reading a configuration imports no plotting library."""

FILM_NAMES = ("overview", "metastability", "targets")
