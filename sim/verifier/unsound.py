"""The refusal: what is unsound, where, and why."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine import opcodes as O
from ..program import Program


class Unsound(ValueError):
    """A spec that the verifier refuses.

    Attributes
    ----------
    reason
        What could go wrong, in words.
    address, label, line, symbol
        The instruction: its address, the label before it (``rx+2`` stands two instructions after ``rx``), its
        listing and the kernel symbol it is charged to. The address is None if a declaration is unsound.
    """

    def __init__(
        self, reason: str, where: str, address: int | None = None, label: str = "", line: str = "",
        symbol: str = "",
    ) -> None:
        super().__init__(f"{where}: {reason}")
        self.reason = reason
        self.where = where
        self.address = address
        self.label = label
        self.line = line
        self.symbol = symbol


def at_instruction(program: Program, address: int, row: Sequence[int], reason: str) -> Unsound:
    """The refusal of the instruction at an address; `row` is its eight words in the image."""
    label = _place(program, address)
    line = _listing(program, address, row)
    number = row[O.SYMBOL_WORD]
    symbol = program.symbols[number] if 0 <= number < len(program.symbols) else f"symbol {number}"
    where = f"instruction {address} ({label}) `{line}` in {symbol}"
    return Unsound(reason, where, address, label, line, symbol)


def _place(program: Program, address: int) -> str:
    before = [(at, name) for name, at in program.labels.items() if at <= address]
    if not before:
        return f"begin+{address}"
    at, name = max(before)
    return name if at == address else f"{name}+{address - at}"


def _listing(program: Program, address: int, row: Sequence[int]) -> str:
    """The words of the program's listing, or the image's numbers if the image says something else."""
    if address < len(program.code):
        instruction = program.code[address]
        if program.rows()[address] == list(row):
            return " ".join((instruction.op.lower(), *instruction.words))
    if not 0 <= row[0] < len(O.NAMES):
        return f"opcode {row[0]}"
    name = O.NAMES[row[0]]
    operands = O.OPCODES[name].operands
    words = [f"{operand.name}={word}" for operand, word in zip(operands, row[1:], strict=False)]
    return " ".join((name.lower(), *words))
