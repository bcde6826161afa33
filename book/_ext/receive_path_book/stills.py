"""Books for print and for readers: a still picture and a caption where the page has a widget.

The widget's output carries its picture as PNG and its finding in words (see `widgets.base`); these builders take
both and leave the script out.  Formulas become MathML in EPUB, whose readers run no scripts.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from .scripts import MARK

BUILDERS = {"epub", "singlehtml", "latex"}
INTO = "::"  # between a page and a place in it
SCRIPT = re.compile(r"<script\b.*?</script>", re.S)
EMPTY = re.compile(r"<(area|br|col|embed|hr|img|input|source|wbr)\b([^<>]*?)\s*/?>")
ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w*;")
PAGE = re.compile(r'(<a href="(?!https?:)[^"#]*)\.html(?=["#])')  # a picture's links; Sphinx writes the others
LIVE = "On the book's pages this figure is live: its switches run the simulation again."


class StillPictures(SphinxPostTransform):
    """Before an output's form is chosen, a widget's becomes a figure."""

    default_priority = 3  # myst-nb chooses at 4

    def run(self, **kwargs: object) -> None:
        """Replace each widget's output."""
        if self.app.builder.name not in BUILDERS:
            return
        for bundle in list(self.document.findall(nodes.container)):
            if bundle.get("nb_element") == "mime_bundle" and (figure := still(bundle)):
                bundle.replace_self(figure)


class Formulas(SphinxPostTransform):
    """MathML in place of what the pages' script would set."""

    default_priority = 900

    def run(self, **kwargs: object) -> None:
        """Replace each formula of an EPUB."""
        if self.app.builder.name == "epub":
            for node in [*self.document.findall(nodes.math), *self.document.findall(nodes.math_block)]:
                node.replace_self(formula(node))


def still(bundle: nodes.container) -> nodes.container | None:
    """A widget's picture with its finding as caption and text alternative; None for any other output."""
    forms = {child["mime_type"]: child for child in bundle.children if isinstance(child, nodes.container)}
    page, raster, words = (forms.get(kind) for kind in ("text/html", "image/png", "text/plain"))
    if page is None or raster is None or MARK not in page.astext():
        return None
    image = next(raster.findall(nodes.image))
    finding = " ".join(words.astext().split()) if words else ""
    image["alt"] = finding or "The figure as it stands before any switch is moved."
    # Not a figure node: that would take a number, and the page's own figures have theirs.
    caption = nodes.paragraph("", f"{finding} {LIVE}".strip(), classes=["caption"])
    return nodes.container("", image, caption, classes=["rp-still-figure"])


def formula(node: nodes.math | nodes.math_block) -> nodes.raw:
    """A formula as MathML."""
    if isinstance(node, nodes.math):
        return nodes.raw("", convert(node.astext()), format="html")
    return nodes.raw("", f'<div class="math">{convert(node.astext(), display="block")}</div>', format="html")


def keep_pages(tree: nodes.document) -> None:
    """Links of the single page say which page they lead to: many pages have a place of the same name.

    Sphinx would keep the place alone; ``book.build.paper`` makes names unique and follows these.
    """
    for reference in tree.findall(nodes.reference):
        pieces = str(reference.get("refuri", "")).split("#")
        if len(pieces) == 3 and pieces[1].startswith("document-"):
            reference["refuri"] = f"#{pieces[1].removeprefix('document-')}{INTO}{pieces[2]}"


def prepare(app: Sphinx) -> None:
    """What the two builders need that a page does not."""
    if app.builder.name == "epub":
        app.config.html_extra_path = []  # the script that sets formulas on pages
    if app.builder.name == "singlehtml":
        # sphinx-exercise registers its writers for this builder by name, and Sphinx then forgets all that others
        # have registered for HTML.
        writers = app.registry.translation_handlers
        writers["singlehtml"] = {**writers["html"], **writers.get("singlehtml", {})}
        app.builder.fix_refuris = keep_pages  # type: ignore[attr-defined]


def as_xml(html: str) -> str:
    """HTML as an EPUB has it: no scripts, each empty element closed, XML's own names of characters, its own pages."""
    html = EMPTY.sub(r"<\1\2 />", SCRIPT.sub("", html))
    return PAGE.sub(r"\1.xhtml", ENTITY.sub(lambda match: unescape(match[0]), html))


def mend(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """A page's raw HTML and what companions add to it, as XML."""
    if app.builder.name == "epub" and isinstance(context.get("body"), str):
        context["body"] = as_xml(context["body"])


def connect(app: Sphinx) -> None:
    """The transforms, what an EPUB does not carry, and its XML."""
    app.add_post_transform(StillPictures)
    app.add_post_transform(Formulas)
    app.connect("builder-inited", prepare)
    app.connect("html-page-context", mend, priority=950)  # after all that add to the body
