"""Actors: who takes turns. An actor is a SimPy process."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from ..engine import tables as T
from .calendar import Turn, priority_of

if TYPE_CHECKING:
    from .context import Context
    from .machine import Machine

Life = Generator[Turn, int, None]
NO_TURN = -1  # instead of a duration: the actor takes no turn until somebody gives it one


class Actor:
    """A CPU or an agent. At `time` it has its next turn; at INF it waits for somebody to give it one.

    What an instruction changes, it changes at its begin, at once; then it takes its time.
    """

    __slots__ = ("calendar", "machine", "number", "priority", "time", "turn")
    turn: Turn

    def __init__(self, machine: Machine, number: int) -> None:
        self.machine = machine
        self.calendar = machine.calendar
        self.number = number
        self.priority = priority_of(number)
        self.time = T.INF

    def live(self) -> Life:
        """The process. It yields turns and is sent their times."""
        raise AssertionError("an actor is a CPU or an agent")  # pragma: no cover

    def compute(self, context: Context, ps: int) -> int:
        """Compute for so long; what it takes (of it now: the rest may be left for later)."""
        return ps

    def stream(self, amount: int) -> None:
        """Copy bytes: an agent has no cache that they could go through."""

    def lose(self, context: Context) -> int:
        """The context sleeps or has stopped: so does an agent with it."""
        return NO_TURN
