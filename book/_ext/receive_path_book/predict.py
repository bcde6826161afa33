"""Predictions: a number that the reader types before a result shows, kept in the browser.

On a page::

    ```{predict} prequeue-after
    :unit: Mpps
    :max: 20
    How many packets a second after the patch?
    ```

    The simulation says 9.1 {guess}`prequeue-after`, and the message reports 9.

The role stands behind the figure to which the reader's is compared.  It becomes a parenthesis with the number and the
question's unit, "(you said 8.5 Mpps)", once a number has been typed, and is nothing before; so a page reads well
without it.  Names are unique in the book.  Without scripts the field still takes a number and nothing is kept; in
print and in notebooks the question stands there without a field.
"""

from __future__ import annotations

import html
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

log = logging.getLogger(__name__)

CLASS, PLACE = "rp-prediction", "rp-guess"
SCRIPT = """
document.addEventListener("DOMContentLoaded", () => {
  const key = (name) => "receive-path/predict/" + name;
  for (const field of document.querySelectorAll("input[data-predict]")) {
    const name = field.dataset.predict;
    const show = () => document.querySelectorAll(`[data-guess="${name}"]`).forEach((place) => {
      const unit = field.dataset.unit && "\\u00a0" + field.dataset.unit;
      place.textContent = field.value && ` (you said ${field.value}${unit})`;
    });
    // Where a browser keeps nothing, the number lives as long as the page.
    try { field.value = localStorage.getItem(key(name)) ?? ""; } catch { /* refused */ }
    field.addEventListener("input", () => {
      try { localStorage.setItem(key(name), field.value); } catch { /* refused */ }
      show();
    });
    show();
  }
});
"""


class Predict(SphinxDirective):
    """A question and a field for a number."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "unit": directives.unchanged,
        "min": directives.unchanged,
        "max": directives.unchanged,
        "step": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """A group with the question as the field's label."""
        name = nodes.fully_normalize_name(self.arguments[0])
        if not self.content:
            raise self.error(f"the prediction {name!r} asks nothing")
        for bound in ("min", "max"):
            number(self, self.options.get(bound, "0"), bound)
        kept: dict[str, str] = self.env.__dict__.setdefault("receive_path_predictions", {})
        if kept.setdefault(name, self.env.docname) != self.env.docname:
            raise self.error(f"the prediction {name!r} is already on {kept[name]}: a name is used once in the book")
        limits = {"min": "0", "step": "any", **{k: v for k, v in self.options.items() if k != "unit"}}
        attributes = " ".join(f'{key}="{html.escape(value)}"' for key, value in limits.items())
        identity = f"predict-{html.escape(name, quote=True)}"
        question, messages = self.state.inline_text(" ".join(self.content), self.lineno)
        unit = html.escape(self.options.get("unit", ""))
        field = (
            f'<input id="{identity}" data-predict="{name}" data-unit="{unit}" type="number" {attributes} '
            'inputmode="decimal" />'
        )
        paragraph = nodes.paragraph(
            "",
            "",
            nodes.raw("", f'<label for="{identity}">', format="html"),
            *question,
            nodes.raw("", f"</label> <span>{field} {unit}</span>", format="html"),
        )
        group = nodes.container("", paragraph, classes=[CLASS])
        group["predict"] = name
        return [group, *messages]


class Guess(SphinxRole):
    """What the reader typed, behind the figure to which it is compared."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A span that the script fills."""
        place = nodes.inline("", "", classes=[PLACE])
        place["guess"] = nodes.fully_normalize_name(self.text)
        span = f'<span data-guess="{html.escape(place["guess"], quote=True)}"></span>'
        place.append(nodes.raw("", span, format="html"))
        return [place], []


def number(directive: SphinxDirective, text: str, name: str) -> float:
    """The value of a bound; an error of the directive if it is none."""
    try:
        return float(text)
    except ValueError:
        raise directive.error(f"{name} is {text!r}, which is no number") from None


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """A page that is read again brings its predictions anew."""
    kept: dict[str, str] = env.__dict__.get("receive_path_predictions", {})
    for name in [name for name, page in kept.items() if page == docname]:
        del kept[name]


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    """Predictions of pages that another process read."""
    theirs: dict[str, str] = other.__dict__.get("receive_path_predictions", {})
    env.__dict__.setdefault("receive_path_predictions", {}).update(theirs)


def check(app: Sphinx, doctree: nodes.document) -> None:
    """A guess without a prediction on its page would never be seen; the space before one belongs to what it shows."""
    asked = {node["predict"] for node in doctree.findall(nodes.container) if "predict" in node}
    for place in [inline for inline in doctree.findall(nodes.inline) if "guess" in inline]:
        if place["guess"] not in asked:
            known = ", ".join(sorted(asked)) or "none"
            log.warning("no prediction %r on this page (there are: %s)", place["guess"], known, location=place)
        before = place.previous_sibling()
        if isinstance(before, nodes.Text):
            # By position: nodes are found by equality, and a sentence has several equal spaces.
            place.parent[place.parent.index(place) - 1] = nodes.Text(before.rstrip())


def script(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Pages that ask get the script; books for print and readers have no use for it."""
    if app.builder.name in {"html", "dirhtml", "singlehtml"} and f'class="{CLASS}' in str(context.get("body", "")):
        app.add_js_file(None, body=SCRIPT)


def connect(app: Sphinx) -> None:
    """The directive, the role and their script."""
    app.add_directive("predict", Predict)
    app.add_role("guess", Guess())
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-read", check)
    app.connect("html-page-context", script)
