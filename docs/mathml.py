"""Formulas as MathML, which browsers draw themselves: no script, no font, no network.

A Sphinx extension. It offers the renderer ``mathml``; ``conf.py`` chooses it by
``html_math_renderer``. latex2mathml turns LaTeX into MathML while the pages are built.
"""

from docutils import nodes
from latex2mathml.converter import convert


def inline(translator, node):
    """Write a formula of a sentence."""
    translator.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def displayed(translator, node):
    """Write a formula of its own line, which may be scrolled where it is too wide."""
    translator.body.append(
        f'<div class="math" tabindex="0">{convert(node.astext(), display="block")}</div>'
    )
    raise nodes.SkipNode


def setup(app):
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
