"""Contexts: what an actor executes instructions for."""

from __future__ import annotations

from ..engine import tables as T
from ..engine.opcodes import CPU_REGISTER, INDEX_REGISTER, REGISTERS, STACK_DEPTH
from .dice import Dice


class Context:
    """The softirq of a CPU, a thread, or an agent (a NIC queue, a sender).

    It is *ready*; or it *sleeps* until somebody wakes it; or it has *stopped* for good. Whoever wakes a
    context that does not sleep leaves a `token`, and the next sleep ends at once.

    The registers have one place more than the engine's. It is always 0, so that "no register", which is
    written -1, reads as 0.
    """

    __slots__ = (
        "depth", "dice", "home", "instructions", "kind", "left", "number", "pc", "registers", "stack",
        "state", "token",
    )

    def __init__(self, number: int, kind: int, dice: Dice, entry: int = 0, index: int = 0) -> None:
        self.number = number
        self.kind = kind
        self.dice = dice
        self.pc = entry
        self.home = 0  # the actor that executes it
        self.registers = [0] * (REGISTERS + 1)
        self.registers[INDEX_REGISTER] = index
        self.stack = [0] * STACK_DEPTH
        self.depth = 0
        self.state = T.READY
        self.token = 0
        self.left = 0  # ps of a long work that are still to be done
        self.instructions = 0

    def lives_on(self, cpu: int) -> None:
        """Tell the context its CPU."""
        self.home = cpu
        self.registers[CPU_REGISTER] = cpu

    def enter(self, entry: int) -> None:
        """Begin again at an address: a softirq does for every interrupt."""
        self.pc = entry
        self.depth = 0
        self.left = 0
