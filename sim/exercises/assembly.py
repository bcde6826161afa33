"""A routine in text: what a student writes into a hole of a path program.

One instruction a line, in the words of the book's listings; ``#`` begins a comment. The words of a hole say which
registers, fields, cells, locks, queues and subroutines a routine may use: a routine can do nothing else, and it
is no code of Python's, so it can be handed in as text and run by somebody who does not trust it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

from ..engine.opcodes import ALU_FUNCTIONS, CONDITIONS
from ..expression import Number
from ..program import Program, Register
from ..schema import nearest
from ..spec import Domain, Lines, Locks, Queue, Table
from .notation import RoutineError, Statement

T = TypeVar("T")
MOST_NUMBER: Final = 1 << 40
MOST_WORK_NS: Final = 100_000
MOST_CALLS: Final = 12  # the verifier follows a subroutine anew from each place that calls it
_CHANGES: Final = ("write", "atomic")


class Field(NamedTuple):
    """A field that may be visited; `stat` counts what changes it, if the scenario measures that."""

    lines: Lines
    name: str
    stat: str = ""


class Cell(NamedTuple):
    """A cell of the model's memory, which costs nothing by itself: the line of `field` has to be visited before it."""

    table: Table
    column: str
    field: str = ""


@dataclass(frozen=True)
class Words:
    """What a routine may name. `exits` are labels outside it; `costs` are times of the machine, in ps."""

    registers: Mapping[str, Register]
    fields: Mapping[str, Field] = field(default_factory=dict)
    cells: Mapping[str, Cell] = field(default_factory=dict)
    locks: Mapping[str, Locks] = field(default_factory=dict)
    queues: Mapping[str, Queue] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    exits: Mapping[str, str] = field(default_factory=dict)
    costs: Mapping[str, Number] = field(default_factory=dict)
    vectors: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        kinds = ("registers", "fields", "cells", "locks", "queues", "calls", "exits", "costs", "vectors")
        named = ((kind, getattr(self, kind)) for kind in kinds)
        return "\n".join(f"{kind + ':':<11}{', '.join(words)}" for kind, words in named if words)


@dataclass
class Assembler:
    """Writes statements into a program by its own methods; labels get `prefix`, so that routines do not clash.

    `lines` has then, for each instruction written, the line of the text that it comes from.
    """

    program: Program
    words: Words
    prefix: str
    lines: list[int] = field(default_factory=list)

    def write(self, statements: Iterable[Statement], symbol: str) -> None:
        """Write the routine, charged to `symbol` until it says otherwise. Raises RoutineError."""
        statements = list(statements)
        self._own: set[str] = set()
        for statement in statements:
            for label in statement.labels:
                if label in self._own or label in self.words.exits:
                    raise RoutineError(f"the label {label!r} is taken already", statement.line)
                self._own.add(label)
        calls = [statement.line for statement in statements if statement.op == "call"]
        if len(calls) > MOST_CALLS:
            raise RoutineError(f"a routine has {MOST_CALLS} calls at most", calls[MOST_CALLS])
        self._visited: set[tuple[str, str]] = set()
        before = len(self.program.code)
        for statement in statements:
            for label in statement.labels:
                self.program.label(f"{self.prefix}:{label}")
            if statement.op == "in":
                symbol = statement.given["symbol"]
            elif statement.op:
                self._line = statement.line
                with self.program.symbol(symbol):
                    self._one(statement.op, statement.given)
            self.lines += [statement.line] * (len(self.program.code) - before - len(self.lines))

    def _one(self, op: str, given: Mapping[str, str]) -> None:
        p, words = self.program, self.words
        row = self._register(given["row"]) if "row" in given else None
        dst = self._register(given["dst"]) if "dst" in given else None
        value = self._value(given["value"]) if "value" in given else 0
        to = self._label(given["to"]) if "to" in given else None
        if op in ("read", "write", "atomic"):
            lines, name, stat = self._named("field", words.fields, given["name"])
            self._needs(row, lines.domain, given["name"])
            {"read": p.read, "write": p.write, "atomic": p.atomic}[op](lines, name, row)
            self._visited |= {(given["name"], "load"), (given["name"], op)}
            if stat and op != "read":
                p.count(stat)
        elif op in ("load", "store", "add"):
            table, column, visited = self._named("cell", words.cells, given["name"])
            self._needs(row, table.domain, given["name"])
            self._paid(visited, op)
            if op == "load":
                p.load(_there(dst), table, column, row)
            else:
                (p.store if op == "store" else p.add)(table, column, value, row)
        elif op in ("lock", "unlock"):
            locks = self._named("lock", words.locks, given["name"])
            self._needs(row, locks.domain, given["name"])
            (p.lock if op == "lock" else p.unlock)(locks, row)
        elif op in ("push", "pop", "qlen"):
            self._queue(op, self._named("queue", words.queues, given["name"]), given, row, to)
        elif op == "set":
            self._set(_there(dst), given, value)
        else:
            simple: dict[str, Callable[[], None]] = {
                "work": lambda: p.work(self._time(given["time"])),
                "branch": lambda: p.branch(self._register(given["a"]), self._cond(given["cond"]), value, str(to)),
                "jump": lambda: p.jump(str(to)),
                "loop": lambda: p.loop(_there(dst), str(to)),
                "call": lambda: p.call(self._named("subroutine", words.calls, given["name"])),
                "raise": lambda: p.raise_(self._named("interrupt", words.vectors, given["name"]), cpu=row),
                "ret": p.ret,
            }
            simple[op]()

    def _queue(
        self, op: str, queue: Queue, given: Mapping[str, str], row: Register | None, to: str | None
    ) -> None:
        self._needs(row, queue.domain, given["name"])
        if op == "push":
            self.program.push(queue, self._register(given["item"]), row, full=to)
        elif op == "pop":
            self.program.pop(queue, self._register(given["dst"]), row, empty=to)
        else:
            self.program.qlen(queue, self._register(given["dst"]), row)

    def _set(self, dst: Register, given: Mapping[str, str], value: Register | int) -> None:
        if "fn" not in given:
            self.program.set(dst, value)
            return
        if given["fn"] not in ALU_FUNCTIONS:
            raise self._no(f"no arithmetic {given['fn']!r}; there are {' '.join(ALU_FUNCTIONS)}")
        self.program.alu(dst, self._register(given["a"]), given["fn"], value)

    # -- names ----------------------------------------------------------------------------------------------

    def _register(self, name: str) -> Register:
        return self._named("register", self.words.registers, name)

    def _needs(self, row: Register | None, domain: Domain, name: str) -> None:
        if row is None and domain.name != "one":
            raise self._no(f"which {domain.name}? Write {name}[REGISTER]")

    def _paid(self, visited: str, op: str) -> None:
        """A cell is free: that is honest only if the line that carries the fact in the kernel is paid for."""
        if visited and not any((visited, way) in self._visited for way in (("load",) if op == "load" else _CHANGES)):
            way = "read, written or atomically changed" if op == "load" else "written or atomically changed"
            raise self._no(f"{op} takes no time; the line of {visited} does, and is {way} first")

    def _value(self, text: str) -> Register | int:
        if not text.lstrip("-").isdecimal():
            return self._register(text)
        number = int(text) if len(text) < 20 else MOST_NUMBER + 1
        if abs(number) > MOST_NUMBER:
            raise self._no(f"numbers go up to {MOST_NUMBER:,}")
        return number

    def _time(self, text: str) -> Number:
        if text in self.words.costs:
            return self.words.costs[text]
        if not re.fullmatch(r"\d{1,9}(\.\d{1,3})?", text):
            raise self._no(f"no time {text!r}: a number of nanoseconds" + self._or_cost(text))
        if float(text) > MOST_WORK_NS:
            raise self._no(f"work takes {MOST_WORK_NS:,} ns at most")
        return round(float(text) * 1000)

    def _or_cost(self, text: str) -> str:
        return f", or one of {', '.join(self.words.costs)}" if self.words.costs else ""

    def _cond(self, text: str) -> str:
        if text not in CONDITIONS:
            raise self._no(f"no condition {text!r}; there are {' '.join(CONDITIONS)}")
        return text

    def _label(self, name: str) -> str:
        if name in self._own:
            return f"{self.prefix}:{name}"
        if name in self.words.exits:
            return self.words.exits[name]
        raise self._no(f"no label {name!r}; {nearest(name, [*self._own, *self.words.exits])}")

    def _named(self, kind: str, there: Mapping[str, T], name: str) -> T:
        if name not in there:
            raise self._no(f"no {kind} {name!r} here; {nearest(name, there)}" if there else f"there is no {kind} here")
        return there[name]

    def _no(self, reason: str) -> RoutineError:
        return RoutineError(reason, self._line)


def _there(register: Register | None) -> Register:
    if register is None:
        raise RoutineError("a register is missing")
    return register
