"""Settings of the documentation site (`make docs`)."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "usaav"
author = "The usaav authors"
copyright = "2026, the usaav authors"  # noqa: A001  the name is Sphinx's
version = release = installed_version("usaav")

extensions = [
    "generated_pages",
    "mathml",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_extensions"]

# Pages with code cells are run anew at each build; a cell that fails fails the build.
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# The names as they stand in the sources, not the unions they abbreviate.
autodoc_type_aliases = {
    name: name for name in ("Array", "ArrayLike", "Data", "Index", "Backend", "Field", "Method")
}
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True

nitpicky = True
# A site built without network links to no other package's types, nor to aliases of ours that stand for them.
nitpick_ignore_regex = [
    (r"py:.*", r"(?!usaav).*"),
    (r"py:.*", r"usaav\.(?!errors|kernels\.Kernel$).*"),
]

html_theme = "furo"
html_title = "usaav"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
