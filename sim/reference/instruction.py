"""Instructions: what one of a program does. The modules `control`, `arithmetic`, `sharing` hold them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .trace import owner_of

if TYPE_CHECKING:
    from .context import Context
    from .line import Line
    from .machine import Machine


class Instruction:
    """An instruction of the decoded program.

    A subclass is named after its opcode; its attributes are the operands, as `sim.engine.opcodes` names them.
    `ends_turn` says that others must be asked even if no time passes: it may have given one of them a turn
    at this very instant, or have ended the run.
    """

    ends_turn = False

    def __init__(self, machine: Machine, symbol: int, operands: dict[str, int]) -> None:
        self.machine = machine
        self.symbol = symbol  # what its time is charged to
        for name, word in operands.items():
            setattr(self, name, word)
        self.link(machine)

    def link(self, machine: Machine) -> None:
        """Look up what the operands name."""

    def execute(self, actor: Any, context: Context, now: int) -> int:
        """Do it; the ps it takes, or `actor.NO_TURN`."""
        raise AssertionError("every opcode has a class")  # pragma: no cover

    def touches(self, context: Context) -> Line | None:
        """The cache line that it is going to touch, for the trace."""
        return None


class Traced(Instruction):
    """An instruction that is executed with the trace on: it leaves a record."""

    def __init__(self, machine: Machine, instruction: Instruction) -> None:
        super().__init__(machine, instruction.symbol, {})
        self.instruction = instruction
        self.ends_turn = instruction.ends_turn

    def execute(self, actor: Any, context: Context, now: int) -> int:
        """Do what the instruction does, and write the record."""
        pc = context.pc - 1
        line = self.instruction.touches(context)
        before = -1 if line is None else owner_of(line)
        took = self.instruction.execute(actor, context, now)
        self.machine.trace.write(now, max(took, 0), context, pc, line, before)
        return took
