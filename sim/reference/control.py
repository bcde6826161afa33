"""Instructions that say what is executed next, here or elsewhere."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..engine import opcodes as O
from ..engine import tables as T
from .actor import Actor
from .context import Context
from .instruction import Instruction
from .machine import Machine

if TYPE_CHECKING:
    from .cpu import Cpu

CONDITIONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}


class Jump(Instruction):
    """Go on elsewhere."""

    to: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        context.pc = self.to
        return 0


class Loop(Instruction):
    """Decrement a register and jump while it is above zero."""

    count: int
    to: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        context.registers[self.count] -= 1
        if context.registers[self.count] > 0:
            context.pc = self.to
        return 0


class Call(Instruction):
    """Enter a subroutine."""

    to: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        context.stack[context.depth] = context.pc
        context.depth += 1
        context.pc = self.to
        return 0


class Ret(Instruction):
    """Return from a subroutine."""

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        context.depth -= 1
        context.pc = context.stack[context.depth]
        return 0


class Branch(Instruction):
    """Jump if a condition holds between a register and another one (or a number)."""

    cond: int
    a: int
    b: int
    value: int
    to: int

    def link(self, machine: Machine) -> None:
        self.holds = CONDITIONS[O.CONDITIONS[self.cond]]
        self.value = self.value if self.b < 0 else 0  # register -1 reads as 0

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        if self.holds(registers[self.a], registers[self.b] + self.value):
            context.pc = self.to
        return 0


class Key(Instruction):
    """Jump if a key is off: the branch was patched when the machine was built."""

    on: int
    off: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        if not self.on:
            context.pc = self.off
        return 0


class Raise(Instruction):
    """Interrupt a CPU after a delay."""

    ends_turn = True
    cpu: int
    vector: int
    delay_ps: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        number = context.registers[self.cpu] if self.cpu >= 0 else actor.number
        self.machine.cpus[number].interrupt(self.vector, now + self.delay_ps)
        return 0


class End(Instruction):
    """Leave the softirq."""

    def execute(self, actor: Cpu, context: Context, now: int) -> int:
        actor.leave_softirq(now)
        return 0


class Wake(Instruction):
    """Make a thread or an agent ready, or leave a token for its next sleep."""

    ends_turn = True
    who: int
    row: int
    delay_ps: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        number = context.registers[self.row]
        machine = self.machine
        thread = self.who == O.THREADS
        woken = machine.threads[number] if thread else machine.agents[number].context
        if woken.state != T.SLEEPING:
            woken.token = 1
            return 0
        woken.state = T.READY
        if thread:
            machine.cpus[woken.home].wake(woken, now + self.delay_ps)
        else:
            machine.agents[number].summon(now + self.delay_ps)
        return 0


class Sleep(Instruction):
    """Sleep until woken; not at all if a wake-up came before."""

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        if context.token:
            context.token = 0
            return 0
        context.state = T.SLEEPING
        return actor.lose(context)


class Yield(Instruction):
    """Let the other threads of the CPU go first."""

    def execute(self, actor: Cpu, context: Context, now: int) -> int:
        actor.give_way()
        return 0


class Halt(Instruction):
    """End the context."""

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        context.state = T.STOPPED
        return actor.lose(context)


