"""Settings of the documentation site (`make docs`)."""

from __future__ import annotations

from importlib.metadata import version as installed_version

project = "usaav"
author = "The usaav authors"
copyright = "2026, the usaav authors"  # noqa: A001  the name is Sphinx's
version = release = installed_version("usaav")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
nitpicky = True

html_theme = "furo"
html_title = "usaav"
