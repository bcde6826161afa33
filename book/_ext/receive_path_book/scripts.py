"""The scripts of a page: the simulation where a widget is, nothing that asks another host."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

ENGINE = "receive-path.js"
MARK = "data-receive-path-widget"  # the attribute of a widget's element, as widgets/ writes it


def write_engine(app: Sphinx) -> None:
    """Write the one script that holds the WebAssembly engine, its host and all widgets.

    A classic script, since a page opened from a file may not load modules or fetch anything.
    """
    if app.builder.format != "html" or find_spec("widgets.static") is None:
        return
    from widgets.static import bundle

    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ENGINE).write_text(bundle(), encoding="utf-8")


def add_engine(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load that script on the pages that have a widget, and on no other."""
    if MARK in context.get("body", ""):
        app.add_js_file(ENGINE, loading_method="defer")


def drop_foreign(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Leave out what the theme's companions add to every page and this book does not use.

    sphinx-thebe names a content network and declares its constant twice, a console error; and it and
    togglebutton register their scripts once for each builder that is set up.
    """
    seen: set[tuple[str, str]] = set()
    kept = []
    for script in context.get("script_files", []):
        body = getattr(script, "attributes", {}).get("body") or ""
        name = str(getattr(script, "filename", None) or "")
        identity = (name.split("?")[0], body)
        if "THEBE_JS_URL" in body or name.endswith("sphinx-thebe.js") or identity in seen:
            continue
        seen.add(identity)
        kept.append(script)
    if "script_files" in context:
        context["script_files"][:] = kept


def connect(app: Sphinx) -> None:
    """The engine is written first, since its checksum goes into the pages."""
    app.connect("builder-inited", write_engine)
    app.connect("html-page-context", add_engine, priority=800)
    app.connect("html-page-context", drop_foreign, priority=900)
