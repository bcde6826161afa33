"""Feedback as a page that runs nothing and asks no other computer, whatever a student wrote into it."""

from __future__ import annotations

import copy
import re
from typing import Any, Final

import bleach
from bs4 import BeautifulSoup
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

from .. import sources

TAGS: Final = frozenset({
    "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "i", "img", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table", "tbody", "td", "th",
    "thead", "tr", "ul",
})
#: What a browser, or a Markdown renderer before it, takes for the beginning of a tag, an entity or a script's address.
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY: Final = re.compile(r"&(?=#|colon|tab|newline)", re.I)
_SCHEME: Final = re.compile(r"=== BEGIN MARK SCHEME ===.*?(=== END MARK SCHEME ===|\Z)", re.S)
_SCRIPT: Final = re.compile(r"(?i)\b(javascript|vbscript|data)(\s*):")


def harmless(markdown: str) -> str:
    """A student's Markdown with no tag and no script's address left: nbgrader's own pages show it as it is."""
    return _SCRIPT.sub(r"\1\2 :", _ENTITY.sub("&amp;", _TAG.sub("&lt;", markdown)))


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "img":
        return name == "alt" or (name == "src" and value.startswith("data:image/"))
    return name in ("class", "id", "title") or (tag == "a" and name == "href")


class FeedbackExporter(HTMLExporter):
    """nbgrader's page of feedback without scripts: its template loads MathJax from elsewhere."""

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """Text in Markdown as HTML of a few known tags."""
        return str(bleach.clean(
            HTMLExporter.markdown2html(self, context, source), tags=TAGS, attributes=_allowed,
            protocols={"http", "https", "mailto", "data"},
        ))

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page, without the teacher's notes on what a good essay has."""
        nb = copy.deepcopy(nb)
        for cell in nb.cells:
            if sources.marks(cell).get("task"):
                cell.source = _SCHEME.sub("", cell.source)
        page, resources = super().from_notebook_node(nb, resources, **options)
        soup = BeautifulSoup(page, "html.parser")
        for script in soup.find_all("script"):
            script.decompose()
        for frame in soup.find_all(["iframe", "object", "embed", "base", "form"]):
            frame.decompose()
        return str(soup), resources
