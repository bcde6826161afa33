"""Icons as a few lines of CSS in place of the theme's icon script.

The theme puts a script of 1.5 MB into every page that draws any of two thousand icons; a page uses about
twenty.  Their outlines are taken from the theme's own font (Font Awesome Free, CC-BY-4.0) as masks: nothing
to run, nothing to load from a second file, and they show with scripts blocked.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import quote

import pydata_sphinx_theme
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

STATIC = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
FONTS = {"solid": "fa-solid-900.ttf", "regular": "fa-regular-400.ttf", "brands": "fa-brands-400.ttf"}
STYLES = {
    "fas": "solid",
    "fa-solid": "solid",
    "far": "regular",
    "fa-regular": "regular",
    "fab": "brands",
    "fa-brands": "brands",
    "fa": "solid",
}
ALIASES = {
    "pencil-alt": "pencil",
    "search": "magnifying-glass",
    "adjust": "circle-half-stroke",
    "external-link-alt": "arrow-up-right-from-square",
}
ELEMENT = re.compile(r'<(?:i|span) class="([^"]*\bfa[a-z]?\b[^"]*)"')
SHEET = "icons.css"
SCRIPT = "scripts/fontawesome.js"

COMMON = """\
/* Icons: Font Awesome Free, CC-BY-4.0; only those that the pages use, as masks. */
i:is(.fas, .far, .fab, .fa, .fa-solid, .fa-regular, .fa-brands)::before,
span:is(.fas, .far, .fab, .fa, .fa-solid, .fa-regular, .fa-brands)::before {
  content: ""; display: inline-block; width: 1.1em; height: 1em; vertical-align: -0.125em;
  background-color: currentColor; mask: var(--icon) center / contain no-repeat;
}
@media (forced-colors: active) {
  i:is(.fas, .far, .fab, .fa, .fa-solid, .fa-regular, .fa-brands)::before { background-color: ButtonText; }
}
"""


@cache
def font(style: str) -> TTFont:
    """The theme's font of one style."""
    return TTFont(STATIC / "vendor/fontawesome/webfonts" / FONTS[style])


def outline(style: str, name: str) -> str | None:
    """An icon's outline as a data address of an SVG picture; None if the font has no such icon."""
    glyphs = font(style).getGlyphSet()
    name = ALIASES.get(name, name)
    if name not in glyphs:
        return None
    path = SVGPathPen(glyphs, ntos=lambda value: f"{value:.0f}")
    ascent = font(style)["hhea"].ascent
    glyphs[name].draw(TransformPen(path, (1, 0, 0, -1, 0, ascent)))  # a font's y axis points up
    height = ascent - font(style)["hhea"].descent
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {glyphs[name].width} {height}">'
        f'<path d="{path.getCommands()}"/></svg>'
    )
    return f'url("data:image/svg+xml,{quote(picture, safe=" =:/,()")}")'


def used(pages: list[Path]) -> set[tuple[str, str]]:
    """(style, name) of each icon that a built page shows."""
    found = set()
    for page in pages:
        for classes in ELEMENT.findall(page.read_text(encoding="utf-8")):
            words = classes.split()
            style = next((STYLES[word] for word in words if word in STYLES), None)
            names = [word.removeprefix("fa-") for word in words if word.startswith("fa-") and word not in STYLES]
            found.update((style, name) for name in names if style)
    return found


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the sheet for the icons in use, and an empty file in place of the script."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    if not (static / SCRIPT).exists():
        return
    rules = [COMMON]
    for style, name in sorted(used(sorted(Path(app.outdir).rglob("*.html")))):
        shape = outline(style, name)
        if shape:
            rules.append(f".fa-{name} {{ --icon: {shape}; }}\n")
    (static / SHEET).write_text("".join(rules), encoding="utf-8")
    (static / SCRIPT).write_text(f"/* The icons of these pages are in {SHEET}. */\n", encoding="utf-8")
    for unused in (static / SCRIPT).parent.glob("fontawesome.js.*"):
        unused.unlink()


def connect(app: Sphinx) -> None:
    """Every page links the sheet; it is written when all pages are."""
    app.add_css_file(SHEET)
    app.connect("build-finished", write)
