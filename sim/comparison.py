"""Two settings of one program, instruction by instruction: what a key adds, takes away or changes.

Both settings are specialisations of one program, so an address is the same instruction in both and no lines have to
be matched by their text. An instruction that both have differs if a number in it does: a field on another line, a
cost that the key decides.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .expression import Value
from .listing import operands, specialise
from .program import Instruction
from .spec import Spec


@dataclass(frozen=True)
class Row:
    """One instruction of either setting.

    Attributes
    ----------
    address, op, symbol
        Place in the program, opcode, kernel symbol.
    labels
        Labels of the place that either setting uses.
    before, after
        The instruction's operands in words; None where the setting has it not.
    """

    address: int
    op: str
    symbol: str
    labels: tuple[str, ...]
    before: str | None
    after: str | None

    @property
    def kind(self) -> str:
        """``same``, ``removed``, ``added`` or ``changed``."""
        if self.after is None:
            return "removed"
        if self.before is None:
            return "added"
        return "same" if self.before == self.after else "changed"


def compare(spec: Spec, before: Mapping[str, int], after: Mapping[str, int]) -> list[Row]:
    """The rows of two settings of a spec's knobs (as `Spec.image` takes them), in the order of addresses."""
    settings = [[knobs.get(name, 0) for name in spec.knobs] for knobs in (before, after)]
    values = [spec.values.evaluate(knobs) for knobs in settings]
    reached = [dict(specialise(spec, knobs)) for knobs in (before, after)]
    addresses = sorted({*reached[0], *reached[1]})
    labels = _labels(spec, reached, addresses)
    rows = []
    for address in addresses:
        one = spec.program.code[address]
        sides = [_text(spec, one, values, side) if address in reached[side] else None for side in (0, 1)]
        symbol = spec.program.symbols[one.symbol]
        rows.append(Row(address, one.op, symbol, labels.get(address, ()), sides[0], sides[1]))
    return rows


def _labels(
    spec: Spec, reached: Sequence[Mapping[int, Instruction]], addresses: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Labels in use, each at the first shown address from its own on: code that is left out falls through to there."""
    program = spec.program
    used = {x for side in reached for one in side.values() for x in one.operands if isinstance(x, str)}
    used |= {s.entry for s in spec.spawns} | set(spec.vectors)
    found: dict[int, tuple[str, ...]] = {}
    for label, at in sorted(program.labels.items(), key=lambda pair: pair[1]):
        if label in used:
            place = bisect.bisect_left(addresses, at)
            if place < len(addresses):
                there = addresses[place]
                found[there] = (*found.get(there, ()), label)
    return found


def _text(spec: Spec, one: Instruction, values: Sequence[Sequence[int]], side: int) -> str:
    """The words of a listing; a number that differs between the settings is written out."""
    words = operands(one)
    numbers = [x for x in one.operands if isinstance(x, Value)]
    if one.op == "ACCESS":
        line = one.operands[3]
        return f"{words} (line {values[side][line.row] if isinstance(line, Value) else line})"
    if one.op in ("LOCK", "UNLOCK"):
        locks = spec.locks[int(str(one.operands[0]))]
        line = locks.lines.line(locks.field)
        numbers = [line] if isinstance(line, Value) else []
        if numbers and values[0][numbers[0].row] != values[1][numbers[0].row]:
            words += f" (line {values[side][numbers[0].row]})"
        return words
    for number in numbers:
        if values[0][number.row] != values[1][number.row]:
            words += f" (= {values[side][number.row]:,})"
    return words
