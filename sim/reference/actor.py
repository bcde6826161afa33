"""Actors: who takes turns. An actor is a SimPy process."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from ..engine import tables as T
from .calendar import Turn, priority_of
from .trace import owner_of

if TYPE_CHECKING:
    from .context import Context
    from .instruction import Instruction
    from .machine import Machine

Life = Generator[Turn, int, None]
NO_TURN = -1  # instead of a duration: the actor takes no turn until somebody gives it one


class Actor:
    """A CPU or an agent. At `time` it has its next turn; at INF it waits for somebody to give it one.

    What an instruction changes, it changes at its begin, at once; then it takes its time.
    """

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

    def execute(self, instruction: Instruction, context: Context, now: int) -> int:
        """Execute the instruction at the context's pc; the ps it takes, or NO_TURN."""
        machine = self.machine
        machine.steps += 1
        pc = context.pc
        context.pc = pc + 1
        if machine.trace.room:
            line = instruction.touches(context)
            before = -1 if line is None else owner_of(line)
            took = instruction.execute(self, context, now)
            machine.trace.write(now, max(took, 0), context, pc, line, before)
        else:
            took = instruction.execute(self, context, now)
        context.instructions += 1
        if now > machine.now:
            machine.now = now
            machine.same_time = 0
        machine.same_time += 1
        if machine.same_time > T.LIVELOCK_STEPS:
            machine.fault(T.LIVELOCK, self, pc)
        return took
