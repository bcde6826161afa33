"""Tables of the validation page, from the rows of `sim.validate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures.table import Link, Table, shown
from sim.validate import Count, judgement

ROLES: Final = ("input", "fitted", "dependent", "predicted")
_PROOF: Final = {
    "input": "given to the model",
    "fitted": "the fit chose a constant so that it comes out",
    "dependent": "another figure or what was put in contains it, or it rests on a constant set by hand with an "
                 "after-figure in view",
    "predicted": "the model had not seen it",
}

Row = Mapping[str, Any]


def between(low: float | None, high: float | None, digits: int = 1) -> str:
    """A range in words, or a dash if there is none; what rounds to zero has no sign."""
    if low is None or high is None:
        return "–"
    return " to ".join(shown(round(float(end), digits) + 0.0, digits) for end in (low, high))


def row_interval(row: Row) -> str:
    """A row's 95 % interval, as exact as its mean; only a change can be below zero."""
    low = row["low"]
    if low is not None and judgement(row) == row["verdict"]:
        low = max(low, 0.0)
    return between(low, row["high"], digits(row["simulated"]))


def digits(value: float | None) -> int:
    """Decimals of a number in these tables: three digits or so, whatever its size."""
    size = abs(value or 0.0)
    return 0 if size >= 1000 else 1 if size >= 10 else 2


def error(row: Row) -> str:
    """A row's distance from the reported figure, in points for shares and in percent for the rest."""
    if row["error_points"] is not None:
        return f"{row['error_points']:+.1f} points"
    if row["error_pct"] is not None:
        return f"{row['error_pct']:+.1f} %"
    return "–"


def source(row: Row) -> Link | str:
    """Where a figure stands, as a link to the message."""
    words, comma, address = str(row["source"]).rpartition(", https://")
    return Link(words, f"https://{address}") if comma else str(row["source"])


def with_unit(value: float | None, unit: str) -> str:
    """A number with its unit: three digits or so, whatever its size."""
    if value is None:
        return "–"
    return f"{shown(float(value), digits(value))} {unit}"


def verdict_table(rows: Sequence[Row], caption: str = "Reported and simulated figures") -> Table:
    """Every figure beside its simulated value, with role and verdict."""
    return Table(
        caption,
        ["figure", "verdict", "reported", "simulated", "error", "role"],
        [
            (row["figure"], judgement(row), with_unit(row["reported"], row["unit"]),
             with_unit(row["simulated"], row["unit"]), error(row), row["role"])
            for row in rows
        ],
        code=["role"],
    )


def miss_table(rows: Sequence[Row], caption: str = "The misses") -> Table:
    """The misses alone: how large each is, and what is believed to be behind it."""
    return Table(
        caption,
        ["figure", "thread", "reported", "simulated", "error", "what is behind it"],
        [
            (row["figure"], row["thread"], with_unit(row["reported"], row["unit"]),
             with_unit(row["simulated"], row["unit"]), error(row), row["note"] or "–")
            for row in rows if row["verdict"] == "miss"
        ],
        code=["thread"],
    )


def evidence_table(rows: Sequence[Row], caption: str = "Intervals, ranges and sources") -> Table:
    """Intervals, ranges and where each figure stands."""
    return Table(
        caption,
        ["figure", "95 % interval", "range", "thread", "where it stands", "note"],
        [
            (row["figure"], row_interval(row), between(row["range_low"], row["range_high"], digits(row["range_high"])),
             row["thread"], source(row), row["note"] or "–")
            for row in rows
        ],
        code=["thread"],
    )


def summary_table(counts: Sequence[Count]) -> Table:
    """Verdicts of each thread; the last two columns hold the predicted rates and CPU shares alone."""
    return Table(
        "Verdicts by thread",
        ["thread", "figures", "given", "hits", "misses", "predicted rates and CPU shares", "of these missed"],
        [(c.thread, c.figures, c.given, c.hits, c.misses, c.predicted, c.predicted_misses) for c in counts],
        code=["thread"],
    )


def role_table(rows: Sequence[Row]) -> Table:
    """How many figures play each role, and what the role means."""
    counted = Counter(row["role"] for row in rows)
    return Table(
        "Figures by role",
        ["role", "what it means", "figures"],
        [(role, _PROOF[role], counted[role]) for role in ROLES],
        code=["role"],
    )
