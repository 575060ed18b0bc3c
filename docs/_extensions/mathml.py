"""Formulas as MathML, which browsers draw by themselves: the site needs neither a script nor the network.

docutils brings the converter from LaTeX.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

# sin x: browsers put no space after a function's name unless a bracket follows
_FUNCTION = re.compile(r"<mo>(?:&ApplyFunction;|\u2061)</mo>(?!\s*<mo[^>]*>\()")
_LOG = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_inline, None), block_renderers=(_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_markup(node, as_block=False))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(
        f'<div class="formula" tabindex="0">{_markup(node, as_block=True)}</div>\n'
    )
    raise nodes.SkipNode


def _markup(node: nodes.Element, *, as_block: bool) -> str:
    try:
        markup = str(tex2mathml(node.astext(), as_block=as_block))
        return _FUNCTION.sub('<mspace width="0.17em"></mspace>', markup)
    except MathError as error:
        _LOG.warning("formula %r: %s", node.astext(), error, location=node)
        return ""
