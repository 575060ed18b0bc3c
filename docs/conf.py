"""Settings of the documentation site (`make docs`)."""

from __future__ import annotations

import logging
import os
import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

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
# The kernel's settings and files stay out of the home directory; it says what goes wrong, not that it runs.
_kernel = Path(__file__).parent / "_build" / "ipython"
(_kernel / "profile_default").mkdir(parents=True, exist_ok=True)
(_kernel / "profile_default" / "ipython_kernel_config.py").write_text(
    "c.IPKernelApp.log_level = 40\n"
)
os.environ["IPYTHONDIR"] = str(_kernel)
os.environ["JUPYTER_RUNTIME_DIR"] = str(_kernel)
logging.getLogger("traitlets").setLevel(logging.WARNING)

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# The names as they stand in the sources, not the unions they abbreviate.
autodoc_type_aliases = {
    name: name
    for name in (
        *("Array", "ArrayLike", "Backend", "Data", "Field", "Index", "KernelSpec"),
        *("Method", "Normalization", "Progress", "Relation", "TokenLaw"),
    )
}
autodoc_default_options = {"members": True}
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False

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


def setup(app: Sphinx) -> None:
    """Mend what autodoc writes for aliases, and what napoleon takes for the type of a property."""
    app.connect("autodoc-process-signature", _plain_aliases)
    app.connect("autodoc-process-docstring", _no_type_in_properties, priority=1)


def _plain_aliases(*event: Any) -> tuple[str | None, str | None]:
    *_, arguments, result = event
    # a protocol is not called
    if arguments == "(*args, **kwargs)":
        arguments = ""
    return _plain(arguments), _plain(result)


def _plain(text: str | None) -> str | None:
    if text is None:
        return None
    return re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text).replace(
        "~typing.", ""
    )


def _no_type_in_properties(_app: Sphinx, kind: str, *event: Any) -> None:
    # napoleon reads "False: labels are needed." as a type and a description
    lines = event[-1]
    if kind == "property" and lines:
        lines[0] = re.sub(r"^(True|False): ", r"\1; ", lines[0])
