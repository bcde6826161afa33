"""A small canvas for inline SVG: text, boxes, lines, arrows, drawn for a phone first.

Pictures are 360 units wide, so that 12-unit type is 12 pixels on a 375-pixel screen, and they grow on a
wider one. Colours are classes that read the page's own variables (Sphinx theme, then JupyterLab), with a
plain colour for readers that know no variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

WIDTH: Final = 360

_STYLE: Final = """
html[data-theme="dark"] .bd-content div.cell_output .text_html:has(.rpf){background:none!important;padding:0}
.rpf{display:block;width:100%;max-width:34rem;height:auto;margin:0 auto;font-family:inherit}
.rpf text{font-size:12px;fill:#1f2328;fill:var(--pst-color-text-base,var(--jp-content-font-color1,#1f2328))}
.rpf .small{font-size:11px}.rpf .strong{font-weight:600}
.rpf .mid{text-anchor:middle}.rpf .end{text-anchor:end}
.rpf .quiet{fill:#57606a;fill:var(--pst-color-text-muted,var(--jp-content-font-color2,#57606a))}
.rpf .box{fill:none;stroke:#7d8590;stroke-width:1.2}
.rpf .rule{stroke:#7d8590;stroke-width:1}.rpf .grid{stroke:#7d8590;stroke-opacity:.35;stroke-width:1}
.rpf .c0{fill:#2f81c7}.rpf .c1{fill:#d0730f}.rpf .c2{fill:#2b9a66}.rpf .c3{fill:#a15cc4}
.rpf .l0{stroke:#2f81c7}.rpf .l1{stroke:#d0730f}.rpf .l2{stroke:#2b9a66}.rpf .l3{stroke:#a15cc4}
.rpf .l0,.rpf .l1,.rpf .l2,.rpf .l3{fill:none;stroke-width:2}
.rpf .wash{fill:#2f81c7;fill-opacity:.16;stroke:#2f81c7;stroke-width:1.2}
.rpf .warm{fill:#d0730f;fill-opacity:.18;stroke:#d0730f;stroke-width:1.2}
.rpf a text{fill:#0b5fa5;fill:var(--pst-color-link,var(--jp-content-link-color,#0b5fa5));text-decoration:underline}
.rpf .dash{stroke-dasharray:5 3}
.rpf .ink{fill:#1f2328;fill:var(--pst-color-text-base,var(--jp-content-font-color1,#1f2328))}
""".strip().replace("\n", "")


def number(value: float) -> str:
    """A coordinate with at most one decimal, so that files do not carry noise."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Picture:
    """An SVG being drawn; `alt` states the finding, not the drawing."""

    def __init__(self, height: float, alt: str) -> None:
        self.height = height
        self.alt = alt
        self._parts: list[str] = []
        self._links = False

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        """Words with their baseline at (x, y)."""
        self._parts.append(f'<text x="{number(x)}" y="{number(y)}" class="{kind}">{escape(words)}</text>')

    def link(self, x: float, y: float, words: str, address: str, kind: str = "") -> None:
        """Words that lead to an address; a picture with links is a group, since an image hides what is in it."""
        self._links = True
        self._parts.append(f'<a href="{escape(address)}">')
        self.text(x, y, words, kind)
        self._parts.append("</a>")

    def box(
        self, x: float, y: float, width: float, height: float, kind: str = "box", round_: float = 4
    ) -> None:
        """A rectangle; `kind` names its colour class."""
        self._parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(max(width, 0))}" '
            f'height="{number(height)}" rx="{number(round_)}" class="{kind}"/>'
        )

    def line(self, points: Sequence[tuple[float, float]], kind: str = "rule") -> None:
        """A line through the points."""
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self._parts.append(f'<polyline points="{path}" class="{kind}" fill="none"/>')

    def dot(self, x: float, y: float, radius: float, kind: str) -> None:
        """A filled circle."""
        self._parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" class="{kind}"/>')

    def arrow(self, x0: float, y0: float, x1: float, y1: float, kind: str = "l1") -> None:
        """A straight arrow with its head at (x1, y1)."""
        self.line([(x0, y0), (x1, y1)], kind)
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 or 1.0
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        left = (x1 - 8 * ux - 4 * uy, y1 - 8 * uy + 4 * ux)
        right = (x1 - 8 * ux + 4 * uy, y1 - 8 * uy - 4 * ux)
        solid = f"c{kind[1]}" if kind[0] == "l" else "ink"
        path = " ".join(f"{number(x)},{number(y)}" for x, y in ((x1, y1), left, right))
        self._parts.append(f'<polygon points="{path}" class="{solid}"/>')

    def svg(self) -> str:
        """The whole SVG element."""
        role = "group" if self._links else "img"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="rpf" role="{role}" aria-label="{escape(self.alt)}" '
            f'viewBox="0 0 {WIDTH} {number(self.height)}" width="{WIDTH}" height="{number(self.height)}">'
            f"<style>{_STYLE}</style>{''.join(self._parts)}</svg>"
        )

    def _repr_html_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return self.alt
