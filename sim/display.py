"""Tables for people: by rich on a terminal, as aligned plain text in a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .result import Estimate

#: Colours of words that carry a judgement; the word itself is always there.
STYLES: Final = {"hit": "green", "miss": "bold red", "given": "dim", "refused": "red", "inert": "dim"}

MOST_DECIMALS: Final = 5


def number(value: float | int | None) -> str:
    """A number with as many digits as a reader can use, or a dash."""
    if value is None:
        return "-"
    if isinstance(value, int) or value == 0:
        return f"{value:,.0f}"
    return f"{value:,.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    return 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2


def span(low: float | None, high: float | None) -> str:
    """Two bounds, with enough digits that they differ; a dash without them."""
    if low is None or high is None:
        return "-"
    decimals = _decimals(max(abs(low), abs(high)))
    while f"{low:.{decimals}f}" == f"{high:.{decimals}f}" and low != high and decimals < MOST_DECIMALS:
        decimals += 1
    if f"{low:.{decimals}f}" == f"{high:.{decimals}f}" and low != high:
        return f"{number(low)} ± {(high - low) / 2:.0e}"
    return f"{low:,.{decimals}f} to {high:,.{decimals}f}"


def interval(estimate: Estimate) -> str:
    """Low and high of an estimate."""
    return span(estimate.low, estimate.high)


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> None:
    """Print a table on standard output; `right` names the columns that are set right."""
    if not sys.stdout.isatty():
        print("\n".join(plain(title, columns, rows, right)))
        return
    shown = Table(
        title=title, title_justify="left", title_style="bold", header_style="", box=None, padding=(0, 2, 0, 0)
    )
    for column in columns:
        shown.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    Console().print(shown)


def plain(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> list[str]:
    """The lines of a table as plain text, columns aligned by spaces."""
    cells = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(columns))]
    out = [title] if title else []
    for row in cells:
        words = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(row, widths, columns, strict=True)
        ]
        out.append("  ".join(words).rstrip())
    return out
