"""Mends in the companions' markup, so that a page's names are unique and its roles fit together."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

MENDS = (
    # sphinx-exercise and sphinx-proof give the inside of every box the same name.
    (' id="exercise-content"', ""),
    (' id="solution-content"', ""),
    (' id="proof-content"', ""),
    # docutils puts entries of a withdrawn role into a list, which may only hold list items.
    ('role="doc-biblioentry"', 'role="listitem"'),
)


def mend(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Apply the mends to the body of a page."""
    body = context.get("body")
    if isinstance(body, str):
        for wrong, right in MENDS:
            body = body.replace(wrong, right)
        context["body"] = body


def connect(app: Sphinx) -> None:
    """Run before the scripts of a page are decided on."""
    app.connect("html-page-context", mend, priority=700)
