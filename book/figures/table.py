"""A table that a narrow screen can scroll and a screen reader can read."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

_STYLE: Final = """
html[data-theme="dark"] .bd-content div.cell_output .text_html:has(.rpt){background:none!important;padding:0}
.rpt{overflow-x:auto;margin:0 0 1rem}.rpt table{border-collapse:collapse;min-width:100%;font-size:.9rem}
.rpt th,.rpt td,.rpt caption,.rpt p{color:inherit;color:var(--pst-color-text-base,inherit)}
.rpt caption{text-align:left;caption-side:top;padding:.2rem 0}
.rpt th,.rpt td{padding:.3rem .5rem;border-bottom:1px solid #7d859066;text-align:left;vertical-align:top}
.rpt .long{min-width:15rem}.rpt .short,.rpt code{white-space:nowrap}
.rpt tbody th{min-width:8rem;max-width:12rem;overflow-wrap:anywhere;white-space:normal}
.rpt th[scope=row]{font-weight:600}
@media (max-width:600px){.rpt tbody th{min-width:6rem;max-width:8rem}}
.rpt .num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
""".strip().replace("\n", "")


class Link(NamedTuple):
    """Words that lead to an address."""

    words: str
    address: str


#: A cell: words, a number, words with an address, or nothing.
Cell = str | int | float | Link | None


def shown(cell: Cell, digits: int = 1) -> str:
    """A cell's text: a dash for nothing, thousands grouped, floats with `digits` decimals."""
    if cell is None:
        return "–"
    if isinstance(cell, Link):
        return cell.words
    if isinstance(cell, bool | str):
        return str(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:,.{digits}f}"


class Table:
    """Rows under named columns; the first cell of a row is its heading.

    `code` names the columns whose words are program text. Numbers are set right.
    """

    def __init__(self, caption: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]],
                 *, digits: int = 1, code: Sequence[str] = ()) -> None:
        for row in rows:
            if len(row) != len(columns):
                raise ValueError(f"{caption}: a row has {len(row)} cells, the table {len(columns)} columns")
        self.caption = caption
        self.columns = list(columns)
        self.rows = [list(row) for row in rows]
        self.digits = digits
        self.code = set(code)

    def _cell(self, tag: str, column: str, cell: Cell) -> str:
        words = escape(shown(cell, self.digits))
        if column in self.code and words != "–":
            words = f"<code>{words}</code>"
        if isinstance(cell, Link):
            words = f'<a href="{escape(cell.address)}">{words}</a>'
        kind = ""
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            kind = ' class="num"'
        elif isinstance(cell, str | Link):
            length = len(shown(cell))
            kind = ' class="long"' if length > 48 else ' class="short"' if 1 < length < 15 else ""
        scope = ' scope="row"' if tag == "th" else ""
        return f"<{tag}{scope}{kind}>{words}</{tag}>"

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)
        body = "".join(
            "<tr>" + "".join(
                self._cell("td" if place else "th", name, cell)
                for place, (name, cell) in enumerate(zip(self.columns, row, strict=True))
            ) + "</tr>"
            for row in self.rows
        )
        # A region that scrolls must take the keyboard's focus, and then it needs a name.
        return (
            f'<style>{_STYLE}</style>'
            f'<div class="rpt" role="region" tabindex="0" aria-label="{escape(self.caption)}">'
            f"<table><caption>{escape(self.caption)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></div>"
        )

    def __repr__(self) -> str:
        lines = [" | ".join(self.columns)]
        lines += [" | ".join(shown(cell, self.digits) for cell in row) for row in self.rows]
        return f"{self.caption}\n" + "\n".join(lines)
