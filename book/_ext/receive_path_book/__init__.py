"""The book's own Sphinx extension: fresh outputs, pages that need no network, predictions, the API reference."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from . import api, citing, freshness, icons, labels, markup, predict, scripts, stills, symbols, terms


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the parts; each says in its own docstring what it is for."""
    for part in (freshness, markup, scripts, icons, predict, api, stills, terms, symbols, citing, labels):
        part.connect(app)
    app.add_css_file("book.css", priority=900)  # after the theme's sheets and the companions'
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
