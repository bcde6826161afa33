"""A line of the bench: a figure, what it is held against, and how it is shown and written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sim import display


@dataclass(frozen=True)
class Target:
    """A limit that a figure is to reach (`at_least`) or not to exceed."""

    limit: float
    at_least: bool = False

    def met(self, figure: float) -> bool:
        """Whether a figure keeps to it."""
        return figure >= self.limit if self.at_least else figure <= self.limit

    def __str__(self) -> str:
        return f"{'at least' if self.at_least else 'at most'} {self.limit:g}"


def at_least(limit: float) -> Target:
    """A figure that should be large."""
    return Target(limit, True)


def at_most(limit: float) -> Target:
    """A figure that should be small."""
    return Target(limit)


@dataclass(frozen=True)
class Line:
    """What was measured. `figure` is None if it could not be; then `note` says why and no target is met."""

    group: str
    name: str
    figure: float | None
    unit: str
    target: Target | None = None
    note: str = ""
    #: Quartiles over the repeats, where there were at least four.
    low: float | None = None
    high: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.figure is not None and self.target.met(self.figure)

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON values."""
        target = None
        if self.target is not None:
            target = {"limit": self.target.limit, "sense": "at least" if self.target.at_least else "at most"}
        return {
            "group": self.group, "name": self.name, "figure": self.figure, "unit": self.unit,
            "low": self.low, "high": self.high, "target": target, "met": self.met, "note": self.note,
        }

    def cells(self) -> list[str]:
        """The line as a row of the table."""
        verdict = {None: "-", True: "met", False: "not met"}[self.met]
        if self.figure is None and self.target is not None:
            verdict = "not measured"
        target = "-" if self.target is None else str(self.target)
        return [self.name, display.number(self.figure), self.unit, target, verdict, self.note]


def show(lines: Sequence[Line]) -> None:
    """Print a table for each group of lines."""
    for group in dict.fromkeys(line.group for line in lines):
        rows = [line.cells() for line in lines if line.group == group]
        display.table(group, ["what", "figure", "unit", "target", "verdict", "note"], rows, ["figure"])
        print()


def verdicts(lines: Sequence[Line]) -> str:
    """How many targets are met, and the names of the others."""
    held = [line for line in lines if line.met is not None]
    missed = [f"{line.group}: {line.name}" for line in held if not line.met]
    text = f"{len(held) - len(missed)} of {len(held)} targets met"
    return f"{text}; not met: {'; '.join(missed)}" if missed else text
