"""Listings: the program as text at one setting of the knobs, and the difference that a patch makes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from .expression import Value
from .program import Instruction
from .spec import Spec


def specialise(spec: Spec, knobs: Mapping[str, int]) -> list[tuple[int, Instruction]]:
    """Instructions that can be reached at a setting, in order of address; KEY is decided and left out."""
    program = spec.program
    values = spec.values.evaluate([knobs.get(name, 0) for name in spec.knobs])
    spawned = [s for s in spec.spawns if values[s.count.row] > 0]
    entries = [program.address(s.entry) for s in spawned] + [program.address(v) for v in spec.vectors]
    seen: set[int] = set()
    stack = list(entries)
    while stack:
        at = stack.pop()
        if at in seen or at >= len(program.code):
            continue
        seen.add(at)
        instruction = program.code[at]
        targets = [program.address(x) for x in instruction.operands if isinstance(x, str)]
        if instruction.op == "KEY":
            condition = instruction.operands[0]
            on = values[condition.row] if isinstance(condition, Value) else int(condition or 0)
            stack += [at + 1] if on else targets
        else:
            stack += targets
            if instruction.op not in ("JUMP", "RET", "END", "HALT"):
                stack.append(at + 1)
    return [(at, program.code[at]) for at in sorted(seen) if program.code[at].op != "KEY"]


def listing(spec: Spec, knobs: Mapping[str, int]) -> str:
    """The specialised program, a line an instruction, labels in between."""
    program = spec.program
    values = spec.values.evaluate([knobs.get(name, 0) for name in spec.knobs])
    reached = specialise(spec, knobs)
    used = {x for _, i in reached for x in i.operands if isinstance(x, str)}
    used |= {s.entry for s in spec.spawns} | set(spec.vectors)
    at_address: dict[int, list[str]] = {}
    for label, address in program.labels.items():
        if label in used:
            at_address.setdefault(address, []).append(label)
    lines: list[str] = []
    symbol = ""
    previous = -1
    for address, instruction in reached:
        for between in range(previous + 1, address + 1):  # a label of code that is left out falls through to here
            lines += [f"{label}:" for label in at_address.get(between, ())]
        previous = address
        name = program.symbols[instruction.symbol]
        shown = name if name != symbol else ""
        symbol = name
        words = operands(instruction)
        if instruction.op == "ACCESS":  # a patch that moves fields shows in the line that is touched
            line = instruction.operands[3]
            words += f" (line {values[line.row] if isinstance(line, Value) else line})"
        lines.append(f"  {instruction.op:<7} {words:<58} {shown}".rstrip())
    return "\n".join(lines) + "\n"


def operands(instruction: Instruction) -> str:
    """The words of an instruction. A dash is an operand that is left out, but ALU's first word is its operator."""
    minus = instruction.op == "ALU" and instruction.words[0] == "-"
    return " ".join([*(["-"] if minus else []), *(w for w in instruction.words if w != "-")])


def diff(before: str, after: str, key: str) -> str:
    """A unified diff of two listings, three lines of context."""
    rows = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{key}=0", f"{key}=1", lineterm="", n=3
    )
    return "\n".join(rows) + "\n"
