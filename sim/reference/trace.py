"""The trace: the last instructions that were executed."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from .context import Context
from .line import Line


class Record(NamedTuple):
    """One executed instruction; `line` and owners are -1 if it touched no line, or nobody owned it."""

    time: int
    duration: int
    context: int
    pc: int
    item: int  # register 0, which programs keep the packet in
    line: int
    before: int
    after: int


class Trace:
    """A ring of records: as many of the last as it has room for, and how many there were."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.count = 0
        self.records: deque[Record] = deque(maxlen=room)

    def write(
        self, time: int, duration: int, context: Context, pc: int, line: Line | None, before: int
    ) -> None:
        """Add a record; the oldest makes room for it."""
        number = -1 if line is None else line.number
        after = -1 if line is None else owner_of(line)
        self.records.append(
            Record(time, duration, context.number, pc, context.registers[0], number, before, after)
        )
        self.count += 1


def owner_of(line: Line) -> int:
    """The number of the core that owns a line, or -1."""
    return -1 if line.owner is None else line.owner.number
