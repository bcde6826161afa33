"""Where kernel symbols stand in the glossary, as a script that widgets ask: a name to the place of its entry.

A widget is written while a page's cells run, when nobody knows yet which terms the book will have.  The places are
relative to the root of the book, which every page states in ``data-content_root``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from .scripts import MARK

SCRIPT = "receive-path-terms.js"
_SYMBOL = re.compile(r"[A-Za-z_]\w*(\(\))?")  # one word, as the kernel spells it


def places(env: BuildEnvironment, uri: Any) -> dict[str, str]:
    """Terms of one word with the places of their entries; `uri` gives a page's address from the root."""
    objects = env.get_domain("std").data["objects"]
    return {
        name: f"{uri(docname)}#{label}"
        for (kind, name), (docname, label) in sorted(objects.items())
        if kind == "term" and _SYMBOL.fullmatch(name)
    }


def write_terms(app: Sphinx, env: BuildEnvironment) -> None:
    """Write the script, when all pages have been read."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    terms = json.dumps(places(env, app.builder.get_target_uri), ensure_ascii=False)
    (folder / SCRIPT).write_text(f"globalThis.receivePathTerms = {terms};\n", encoding="utf-8")


def add_terms(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load it where a widget is, before the widgets start."""
    if MARK in context.get("body", ""):
        if not (Path(app.outdir) / "_static" / SCRIPT).exists():  # a builder that had nothing to read checked nothing
            write_terms(app, app.env)
        app.add_js_file(SCRIPT, loading_method="defer", priority=400)


def connect(app: Sphinx) -> None:
    """The script is there before the first page is written, since its checksum goes into the pages."""
    app.connect("env-check-consistency", write_terms)
    app.connect("html-page-context", add_terms, priority=790)
