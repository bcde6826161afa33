"""The pressure mark's line on a machine that forgets one invalidation: its accesses as a table, and the answer."""

from __future__ import annotations

from functools import cache
from typing import Final

from book.figures.table import Cell, Table
from sim import line_samples
from sim.line_samples import Answer, Taken

BEFORE, BEHIND = 9, 2  # accesses shown before the wrong one, and behind the one that meets it
KINDS: Final = {"read": "reads", "write": "writes", "atomic": "changes"}


@cache
def sample() -> tuple[Taken, Answer]:
    """The accesses with the fault, and the answer: those that the widget of the exercise shows."""
    return line_samples.faulty(line_samples.load("pressure"), line_samples.MISSING)


def met() -> int:
    """The first access after the wrong one by a core whose value is out of date; numbered from 0."""
    taken, answer = sample()
    wrong = answer.steps[0]
    newest = max(taken.steps[wrong].versions)
    return next(
        at for at in range(wrong + 1, len(taken.steps))
        if taken.steps[at].versions[taken.steps[at].core] < newest and not taken.steps[at].rides
    )


def accesses() -> Table:
    """The accesses around the fault: who does what, and what each core's cache has afterwards."""
    taken, answer = sample()
    first, last = max(0, answer.steps[0] - BEFORE), met() + BEHIND
    rows: list[list[Cell]] = []
    for at in range(first, min(last + 1, len(taken.steps))):
        step = taken.steps[at]
        rows.append([str(at + 1), f"core {step.core} {KINDS[step.kind]}", *step.states])
    columns = ["step", "access", *(f"core {core}" for core in range(len(taken.steps[0].states)))]
    return Table("What each core has after an access: M alone and changed, E alone, S a copy, I nothing", columns, rows)


def words() -> dict[str, str]:
    """The answer for the page's sentences."""
    answer = sample()[1]
    return {"stale-step": f"{answer.steps[0] + 1}", "stale-why": answer.why}
