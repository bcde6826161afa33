"""The program: the code section's words, decoded into instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine import opcodes as O
from . import arithmetic, control, sharing
from .instruction import Instruction, Traced

if TYPE_CHECKING:
    from .blueprint import Row
    from .machine import Machine

CLASSES: dict[str, type[Instruction]] = {
    "WORK": sharing.Work, "ACCESS": sharing.Access, "LOCK": sharing.TakeLock, "UNLOCK": sharing.Unlock,
    "PUSH": sharing.Push, "POP": sharing.Pop, "PEEK": sharing.Peek, "SPLICE": sharing.Splice,
    "QLEN": sharing.Qlen,
    "JUMP": control.Jump, "LOOP": control.Loop, "CALL": control.Call, "RET": control.Ret,
    "BRANCH": control.Branch, "KEY": control.Key, "SET": arithmetic.Set, "ALU": arithmetic.Alu,
    "LOAD": arithmetic.Load, "STORE": arithmetic.Store, "ADD": arithmetic.Add, "RAISE": control.Raise,
    "END": control.End, "WAKE": control.Wake, "SLEEP": control.Sleep, "YIELD": control.Yield,
    "RAND": arithmetic.Rand, "NOW": arithmetic.Now, "COUNT": arithmetic.Count, "HALT": control.Halt,
}
WORDS = ("op", "a", "b", "c", "d", "e", "symbol")  # the words that a mask bit can refer to the values table


def resolved(row: Row, values: list[int]) -> list[int]:
    """The words of an instruction, with references to the values table replaced by the numbers."""
    return [values[row[name]] if row["mask"] >> k & 1 else row[name] for k, name in enumerate(WORDS)]


def decode(machine: Machine) -> list[Instruction]:
    """The instructions of a machine's blueprint, in the order of their addresses."""
    program: list[Instruction] = []
    for row in machine.blueprint["code"]:
        op, *words, symbol = resolved(row, machine.blueprint.values)
        name = O.NAMES[op]
        operands = {
            operand.name: word for operand, word in zip(O.OPCODES[name].operands, words, strict=False)
        }
        instruction = CLASSES[name](machine, symbol, operands)
        program.append(Traced(machine, instruction) if machine.trace.room else instruction)
    return program
