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

_SPACE = '<mspace width="0.17em"></mspace>'
_FUNCTION = "<mi>(?:sin|cos|tan|tanh|log|exp)</mi>"
#: what the converter leaves to browsers and they set badly: (pattern, replacement)
_MENDED = (
    # sin x: a space after a function's name unless a bracket follows, and before it
    (re.compile(r"<mo>(?:&ApplyFunction;|\u2061)</mo>(?!\s*<mo[^>]*>\()"), _SPACE),
    (re.compile(rf"(</m(?:sub|sup|i|n)>\s*)({_FUNCTION})"), rf"\1{_SPACE}\2"),
    # brackets that were not asked to grow
    (re.compile("<mo>(⟨|⟩)</mo>"), r'<mo stretchy="false">\1</mo>'),
    (
        re.compile('<mo(?: class="mathopen")?(?: stretchy="false")?>([/|])</mo>'),
        r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>',
    ),
)
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
    except MathError as error:
        _LOG.warning("formula %r: %s", node.astext(), error, location=node)
        return ""
    for pattern, replacement in _MENDED:
        markup = pattern.sub(replacement, markup)
    return markup
