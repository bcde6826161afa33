"""Instructions on registers, cells and counters. They take no time."""

from __future__ import annotations

import operator
from collections.abc import Callable

from ..engine import opcodes as O
from .actor import Actor
from .context import Context
from .instruction import Instruction
from .machine import Machine

FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "min": min,
    "max": max,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}


class Set(Instruction):
    """A register = another one, or a number."""

    dst: int
    src: int
    value: int

    def link(self, machine: Machine) -> None:
        self.value = self.value if self.src < 0 else 0  # register -1 reads as 0

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        registers[self.dst] = registers[self.src] + self.value
        return 0


class Alu(Instruction):
    """A register = a function of two others, or of one and a number."""

    fn: int
    dst: int
    a: int
    b: int
    value: int

    def link(self, machine: Machine) -> None:
        self.function = FUNCTIONS[O.ALU_FUNCTIONS[self.fn]]
        self.value = self.value if self.b < 0 else 0

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        registers[self.dst] = self.function(registers[self.a], registers[self.b] + self.value)
        return 0


class Rand(Instruction):
    """A register = a draw of the context's dice."""

    dst: int
    draw: int
    n: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        dice = context.dice
        uniform = self.draw == O.UNIFORM
        context.registers[self.dst] = dice.uniform(self.n) if uniform else dice.exponential(self.n)
        return 0


class Now(Instruction):
    """A register = the time."""

    dst: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        context.registers[self.dst] = now
        return 0


class _Cell(Instruction):
    """An instruction on a cell of a table."""

    table: int
    column: int
    row: int

    def link(self, machine: Machine) -> None:
        table = machine.tables[self.table]
        self.cells = table.cells
        self.columns = table.columns


class Load(_Cell):
    """A register = a cell."""

    dst: int

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        registers[self.dst] = self.cells[registers[self.row] * self.columns + self.column]
        return 0


class Store(_Cell):
    """A cell = a register, or a number."""

    src: int
    value: int

    def link(self, machine: Machine) -> None:
        super().link(machine)
        self.value = self.value if self.src < 0 else 0

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        self.cells[registers[self.row] * self.columns + self.column] = registers[self.src] + self.value
        return 0


class Add(Store):
    """A cell += a register, or a number."""

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        registers = context.registers
        self.cells[registers[self.row] * self.columns + self.column] += registers[self.src] + self.value
        return 0


class Count(Instruction):
    """A counter += a register, or a number."""

    stat: int
    src: int
    value: int

    def link(self, machine: Machine) -> None:
        self.value = self.value if self.src < 0 else 0

    def execute(self, actor: Actor, context: Context, now: int) -> int:
        self.machine.stats[self.stat] += context.registers[self.src] + self.value
        return 0
