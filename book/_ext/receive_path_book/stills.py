"""Books for print and for readers: a still picture and a caption where the page has a widget.

The widget's output carries its picture as PNG and its finding in words (see `widgets.base`); these builders take
both and leave the script out.  Formulas become MathML in EPUB, whose readers run no scripts.
"""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from .scripts import MARK

BUILDERS = {"epub", "singlehtml", "latex"}
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


def still(bundle: nodes.container) -> nodes.figure | None:
    """A widget's picture with its finding as caption and text alternative; None for any other output."""
    forms = {child["mime_type"]: child for child in bundle.children if isinstance(child, nodes.container)}
    page, raster, words = (forms.get(kind) for kind in ("text/html", "image/png", "text/plain"))
    if page is None or raster is None or MARK not in page.astext():
        return None
    image = next(raster.findall(nodes.image))
    finding = " ".join(words.astext().split()) if words else ""
    image["alt"] = finding or "The figure as it stands before any switch is moved."
    figure = nodes.figure("", image, classes=["rp-still-figure"])
    figure += nodes.caption("", f"{finding} {LIVE}".strip())
    return figure


def formula(node: nodes.math | nodes.math_block) -> nodes.raw:
    """A formula as MathML."""
    if isinstance(node, nodes.math):
        return nodes.raw("", convert(node.astext()), format="html")
    return nodes.raw("", f'<div class="math">{convert(node.astext(), display="block")}</div>', format="html")


def connect(app: Sphinx) -> None:
    """Both transforms."""
    app.add_post_transform(StillPictures)
    app.add_post_transform(Formulas)
