"""Holes: where a routine goes in a scenario's program, and a scenario with the holes filled.

A hole is what stands between two places of a program. What was there is taken out, what a student has written is
put in, and addresses behind it move; the rest of the program does not notice. The scenario is then what it was, so
it can be listed, compared with a key off and on, verified and run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..engine.jit import Array
from ..engine.native import NativeEngine
from ..engine.tables import MORE
from ..knob import numbers
from ..program import Program
from ..scenarios.scenario import RunError, Scenario
from ..spec import Domain, Lines, Locks, Queue, Spec, Table
from ..verifier import Unsound, verify
from .assembly import Assembler, Words
from .notation import FORMS, RoutineError, Statement, read_routine

Span = tuple[int, int]
D = TypeVar("D", Domain, Lines, Locks, Queue, Table)
_sound: set[tuple[str, tuple[str, ...], str]] = set()  # texts that this process has verified already
STEPS = 40_000_000  # instructions of one replication: several times what any scenario of the book needs


@dataclass(frozen=True)
class Hole:
    """A place for a routine.

    Parameters
    ----------
    name, symbol
        The routine's name, and the kernel symbol that it is charged to until it says otherwise.
    place
        Given the program: the address where the hole begins, and that behind it.
    words
        Given the spec: what the routine may name.
    task
        What the routine is for, which registers it finds set, and what it leaves, in a sentence or two.
    """

    name: str
    symbol: str
    place: Callable[[Program], Span]
    words: Callable[[Spec], Words]
    task: str = ""


def named(declared: Sequence[D], name: str) -> D:
    """What a spec declares under a name: one of its ``lines``, ``tables``, ``queues``, ``locks``, ``domains``."""
    return next(one for one in declared if one.name == name)


def keyed(key: str, which: int = 0) -> Callable[[Program], Span]:
    """The place inside a branch key: what is there only with it on. `which` counts the key's branches from 0."""
    def place(program: Program) -> Span:
        at = [i for i, code in enumerate(program.code) if code.op == "KEY" and code.words[0] == key][which]
        return at + 1, program.address(str(program.code[at].operands[1]))

    return place


def between(first: str, end: str, skip: int = 0) -> Callable[[Program], Span]:
    """The place from `skip` instructions behind one label up to another label."""
    return lambda program: (program.address(first) + skip, program.address(end))


def put(program: Program, span: Span, write: Callable[[Program], None]) -> Program:
    """A copy of a program with what stands in a span replaced by what `write` writes.

    Raises ValueError if something outside the span goes to a label inside it.
    """
    first, end = span
    inside = {name for name, at in program.labels.items() if first < at < end}
    for at, code in enumerate(program.code):
        if not first <= at < end and inside.intersection(x for x in code.operands if isinstance(x, str)):
            raise ValueError(f"address {at} goes to a label that lies in the hole")
    part = Program(program.spec, symbols=program.symbols)
    write(part)
    move = len(part.code) - (end - first)
    labels = {n: at + (move if at >= end else 0) for n, at in program.labels.items() if n not in inside}
    labels |= {name: first + at for name, at in part.labels.items()}
    whole = [*program.code[:first], *part.code, *program.code[end:]]
    return Program(program.spec, whole, labels, program.symbols, 0, "", program._unique)


def apart(text: str | Sequence[str], names: Sequence[str]) -> dict[str, list[Statement]]:
    """Statements by routine: a line ``routine NAME`` begins each. With one name it may be left out.

    Raises RoutineError; line numbers are those of the whole text.
    """
    lines = text.splitlines() if isinstance(text, str) else list(text)
    found: dict[str, list[str]] = {}
    name = names[0] if len(names) == 1 else ""
    for number, line in enumerate(lines, 1):
        begins = re.fullmatch(r"\s*routine\s+(\w+)\s*(?:#.*)?", line)
        if begins:
            name = begins[1]
            if name not in names or name in found:
                problem = "stands twice" if name in found else f"is not asked for; asked for: {', '.join(names)}"
                raise RoutineError(f"routine {name} {problem}", number)
            found[name] = [""] * number
        elif name in found:
            found[name].append(line)
        elif name and line.partition("#")[0].strip():
            found[name] = [*[""] * (number - 1), line]
        elif line.partition("#")[0].strip():
            raise RoutineError(f"a line 'routine NAME' comes first, with one of {', '.join(names)}", number)
    return {name: read_routine(rows) for name, rows in found.items()}


def fill(scenario: Scenario, holes: Sequence[Hole], text: str | Sequence[str], at: Iterable[Mapping[str, Any]]) -> None:
    """Put a text's routines into a scenario's holes, and verify it at the settings `at`.

    A hole without a routine in the text is left empty. Raises RoutineError, with the line where it can be told.
    """
    routines = apart(text, [hole.name for hole in holes])
    spec = scenario.spec
    origin: dict[str, list[int]] = {}
    for hole in holes:
        def write(part: Program, hole: Hole = hole) -> None:
            part.label(f"{hole.name}:begin")
            assembler = Assembler(part, hole.words(spec), hole.name)
            assembler.write(routines.get(hole.name, []), hole.symbol)
            origin[hole.name] = assembler.lines

        spec.program = put(spec.program, hole.place(spec.program), write)
    known = (scenario.name, tuple(origin), text if isinstance(text, str) else "\n".join(text))
    for settings in () if known in _sound else at:
        try:
            verify(spec, {**numbers(scenario.knobs, scenario.settings(**settings)), "seed": 1, "trace_rows": 0})
        except Unsound as error:
            raise _explained(error, spec, holes, origin) from None
    _sound.add(known)


def vocabulary(scenario: Scenario, holes: Sequence[Hole]) -> str:
    """The operations, and what the routines of some holes may name, as a text for people."""
    operations = "\n".join(f"    {usage}" for usage, _ in FORMS.values())
    routines = "\n\n".join(f"routine {hole.name}\n{hole.words(scenario.spec)}" for hole in holes)
    return f"operations:\n{operations}\n\n{routines}"


def _explained(error: Unsound, spec: Spec, holes: Sequence[Hole], origin: Mapping[str, list[int]]) -> RoutineError:
    """A refusal of the verifier in the words of the text."""
    known = {f"r{r.number}": name for hole in holes for name, r in hole.words(spec).registers.items()}

    def named_in(text: str) -> str:
        return re.sub(r"\br\d+\b", lambda found: known.get(found[0], found[0]), text)

    for hole in holes:
        begin = spec.program.address(f"{hole.name}:begin")
        if error.address is not None and begin <= error.address < begin + len(origin[hole.name]):
            return RoutineError(named_in(error.reason), origin[hole.name][error.address - begin])
    return RoutineError(f"with this routine in it, the program is refused elsewhere: {named_in(str(error))}")


class Bounded(NativeEngine):
    """The native engine, for a program that nobody trusts: it gives up after `steps` instructions."""

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps

    def run_until(self, arena: Array, time_ps: int) -> int:
        """As the native engine's; raises RunError when the instructions are used up."""
        from ..engine.tables import H_STEPS, H_UNTIL

        arena[H_UNTIL] = time_ps
        status, most = MORE, int(arena[H_STEPS]) + self.steps
        while status == MORE:
            if int(arena[H_STEPS]) >= most:
                raise RunError(f"the program was stopped after {self.steps:,} instructions: does a loop never end?")
            status = self.run(arena, 1_000_000)
        return status
