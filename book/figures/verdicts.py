"""Tables of the validation page, from the rows of `sim.validate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from book.figures.table import Table, shown

ROLES: Final = ("input", "fitted", "dependent", "predicted")
_PROOF: Final = {
    "input": "given to the model",
    "fitted": "a constant was chosen so that it comes out",
    "dependent": "rests on evidence that contains it",
    "predicted": "the model had not seen it",
}

Row = Mapping[str, Any]


def between(low: float | None, high: float | None) -> str:
    """A range in words, or a dash if there is none."""
    if low is None or high is None:
        return "–"
    return f"{shown(float(low))} to {shown(float(high))}"


def error(row: Row) -> str:
    """A row's distance from the reported figure, in points for shares and in percent for the rest."""
    if row["error_points"] is not None:
        return f"{row['error_points']:+.1f} points"
    if row["error_pct"] is not None:
        return f"{row['error_pct']:+.1f} %"
    return "–"


def verdict_table(rows: Sequence[Row]) -> Table:
    """Every figure beside its simulated value."""
    return Table(
        "Reported and simulated figures",
        ["figure", "thread", "unit", "reported", "simulated", "95 % interval", "range", "error", "role",
         "verdict", "where it stands", "note"],
        [
            (row["figure"], row["thread"], row["unit"], float(row["reported"]),
             None if row["simulated"] is None else float(row["simulated"]),
             between(row["low"], row["high"]), between(row["range_low"], row["range_high"]), error(row),
             row["role"], row["verdict"], row["source"], row["note"] or "–")
            for row in rows
        ],
        code=["thread", "role"],
    )


def summary_table(rows: Sequence[Row]) -> Table:
    """Hits and misses of each thread."""
    threads = list(dict.fromkeys(row["thread"] for row in rows))
    counted = {
        thread: Counter(row["verdict"] for row in rows if row["thread"] == thread) for thread in threads
    }
    return Table(
        "Verdicts by thread",
        ["thread", "figures", "given", "hits", "misses"],
        [(thread, sum(c.values()), c["given"], c["hit"], c["miss"]) for thread, c in counted.items()],
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
