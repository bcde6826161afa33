"""The assembler of path programs: what CPUs execute for a packet, instruction by instruction.

A program is written as calls; each instruction is charged to the kernel symbol that is open when it is
written, so a run yields a profile. Jump targets are labels. A key is a part of the program that is there or
not (`when`, `unless`), as a patch is applied or not; `listing` shows the program at one setting of the knobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .engine import opcodes as O
from .expression import Number, Value

if TYPE_CHECKING:
    from .spec import Lines, Locks, Queue, Spec, Table

Operand = int | Value | str | None


@dataclass(frozen=True)
class Register:
    """One of a context's registers, with the name that listings show."""

    number: int
    name: str


@dataclass(frozen=True)
class Instruction:
    """One instruction before its labels are resolved: opcode name, operand words, symbol, words to read."""

    op: str
    operands: tuple[Operand, ...]
    symbol: int
    words: tuple[str, ...]
    key: str = ""


@dataclass
class Program:
    """A growing program of one spec. Methods named after opcodes append an instruction."""

    spec: Spec
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    symbols: list[str] = field(default_factory=lambda: ["__schedule"])
    _symbol: int = 0
    _key: str = ""
    _unique: int = 0

    # -- places and names ---------------------------------------------------------------------------------

    def label(self, name: str) -> str:
        """Name the next instruction; raises ValueError if the name is taken."""
        if name in self.labels:
            raise ValueError(f"label {name!r} stands twice in the program")
        self.labels[name] = len(self.code)
        return name

    def fresh(self, name: str) -> str:
        """A label name that no other part of the program uses."""
        self._unique += 1
        return f"{name}.{self._unique}"

    @contextmanager
    def symbol(self, name: str) -> Iterator[None]:
        """Charge what is written inside to a kernel symbol."""
        before = self._symbol
        self._symbol = self.symbol_number(name)
        try:
            yield
        finally:
            self._symbol = before

    def symbol_number(self, name: str) -> int:
        """The number of a symbol, declared if it is new."""
        if name not in self.symbols:
            self.symbols.append(name)
        return self.symbols.index(name)

    @contextmanager
    def when(self, key: str) -> Iterator[None]:
        """What is written inside is there only with the key on."""
        yield from self._keyed(self.spec.values.knob(key), key)

    @contextmanager
    def unless(self, key: str) -> Iterator[None]:
        """What is written inside is there only with the key off."""
        yield from self._keyed(1 - self.spec.values.knob(key), f"not {key}")

    @contextmanager
    def where(self, condition: Value, name: str) -> Iterator[None]:
        """What is written inside is there only if a value is not 0."""
        yield from self._keyed(condition, name)

    def _keyed(self, condition: Value, name: str) -> Iterator[None]:
        end = self.fresh(f"without {name}")
        self._emit("KEY", condition, end, words=(name, end))
        before, self._key = self._key, name
        try:
            yield
        finally:
            self._key = before
            self.label(end)

    # -- instructions -------------------------------------------------------------------------------------

    def work(self, ps: Number = 0, by: Register | None = None, fs: Number = 0, copy: bool = False) -> None:
        """Compute for `ps` picoseconds, plus R[by] times `fs` femtoseconds; `copy` streams R[by] bytes."""
        self._emit("WORK", ps, _number(by), fs, int(copy), words=(_text(ps), _name(by), _text(fs), str(int(copy))))

    def read(self, lines: Lines, name: str, row: Register | None = None) -> None:
        """Read a field: its line is fetched if the core has no copy."""
        self._access(O.READ, lines, name, row)

    def write(self, lines: Lines, name: str, row: Register | None = None) -> None:
        """Write a field: its line becomes this core's own."""
        self._access(O.WRITE, lines, name, row)

    def atomic(self, lines: Lines, name: str, row: Register | None = None) -> None:
        """Change a field by a locked instruction."""
        self._access(O.ATOMIC, lines, name, row)

    def _access(self, kind: int, lines: Lines, name: str, row: Register | None) -> None:
        words = (O.ACCESS_KINDS[kind], lines.name, _name(row), name)
        self._emit("ACCESS", kind, lines.number, _number(row), lines.line(name), words=words)

    def lock(self, locks: Locks, row: Register | None = None) -> None:
        """Take a spinlock."""
        self._emit("LOCK", locks.number, _number(row), words=(locks.name, _name(row)))

    def unlock(self, locks: Locks, row: Register | None = None) -> None:
        """Release a spinlock."""
        self._emit("UNLOCK", locks.number, _number(row), words=(locks.name, _name(row)))

    def push(
        self, queue: Queue, item: Register, row: Register | None = None, full: str | None = None, front: bool = False
    ) -> None:
        """Append an item to a queue; without a label for a full one, that ends the run."""
        self._emit(
            "PUSH", queue.number, _number(row), item.number, full, int(front),
            words=(queue.name, _name(row), item.name, full or "-", O.ENDS[front]),
        )

    def pop(self, queue: Queue, dst: Register, row: Register | None = None, empty: str | None = None) -> None:
        """Take a queue's first item; without a label for an empty one, that ends the run."""
        words = (queue.name, _name(row), dst.name, empty or "-")
        self._emit("POP", queue.number, _number(row), dst.number, empty, words=words)

    def peek(self, queue: Queue, dst: Register, row: Register | None = None, empty: str | None = None) -> None:
        """Look at a queue's first item."""
        words = (queue.name, _name(row), dst.name, empty or "-")
        self._emit("PEEK", queue.number, _number(row), dst.number, empty, words=words)

    def splice(
        self, queue: Queue, to: Queue, row: Register | None = None, to_row: Register | None = None
    ) -> None:
        """Move all items of a queue to the tail of another."""
        words = (queue.name, _name(row), to.name, _name(to_row))
        self._emit("SPLICE", queue.number, _number(row), to.number, _number(to_row), words=words)

    def qlen(self, queue: Queue, dst: Register, row: Register | None = None) -> None:
        """R[dst] = length of a queue."""
        self._emit("QLEN", queue.number, _number(row), dst.number, words=(queue.name, _name(row), dst.name))

    def jump(self, to: str) -> None:
        """Go on at a label."""
        self._emit("JUMP", to, words=(to,))

    def loop(self, count: Register, to: str) -> None:
        """Decrement a register and jump while it is above zero."""
        self._emit("LOOP", count.number, to, words=(count.name, to))

    def call(self, to: str) -> None:
        """Enter a subroutine."""
        self._emit("CALL", to, words=(to,))

    def ret(self) -> None:
        """Return from a subroutine."""
        self._emit("RET")

    def branch(self, a: Register, cond: str, b: Register | Number, to: str) -> None:
        """Jump if R[a] cond b, with cond one of == != < <= > >=."""
        words = (cond, a.name, *_either_words(b), to)
        self._emit("BRANCH", O.CONDITIONS.index(cond), a.number, *_either(b), to, words=words)

    def set(self, dst: Register, src: Register | Number) -> None:
        """R[dst] = a register or a number."""
        self._emit("SET", dst.number, *_either(src), words=(dst.name, *_either_words(src)))

    def alu(self, dst: Register, a: Register, fn: str, b: Register | Number) -> None:
        """R[dst] = R[a] fn b, with fn one of + - * // % min max & | ^ << >>."""
        words = (fn, dst.name, a.name, *_either_words(b))
        self._emit("ALU", O.ALU_FUNCTIONS.index(fn), dst.number, a.number, *_either(b), words=words)

    def load(self, dst: Register, table: Table, column: str, row: Register | None = None) -> None:
        """R[dst] = a cell of a table."""
        words = (table.name, column, _name(row), dst.name)
        self._emit("LOAD", table.number, table.column(column), _number(row), dst.number, words=words)

    def store(
        self, table: Table, column: str, src: Register | Number, row: Register | None = None
    ) -> None:
        """A cell of a table = a register or a number."""
        words = (table.name, column, _name(row), *_either_words(src))
        self._emit("STORE", table.number, table.column(column), _number(row), *_either(src), words=words)

    def add(self, table: Table, column: str, src: Register | Number, row: Register | None = None) -> None:
        """A cell of a table += a register or a number."""
        words = (table.name, column, _name(row), *_either_words(src))
        self._emit("ADD", table.number, table.column(column), _number(row), *_either(src), words=words)

    def raise_(self, vector: int, delay_ps: Number = 0, cpu: Register | None = None) -> None:
        """Make a vector pending on a CPU (without one: on this CPU) after a delay."""
        words = (_name(cpu), str(vector), _text(delay_ps))
        self._emit("RAISE", _number(cpu), vector, delay_ps, words=words)

    def end(self) -> None:
        """Leave the softirq."""
        self._emit("END")

    def wake_thread(self, thread: Register, delay_ps: Number = 0) -> None:
        """Make a thread runnable."""
        self._emit("WAKE", O.THREADS, thread.number, delay_ps, words=("thread", thread.name, _text(delay_ps)))

    def wake_agent(self, agent: Register, delay_ps: Number = 0) -> None:
        """Make an agent runnable."""
        self._emit("WAKE", O.AGENTS, agent.number, delay_ps, words=("agent", agent.name, _text(delay_ps)))

    def sleep(self) -> None:
        """Sleep until woken; a wake-up that came first is not lost."""
        self._emit("SLEEP")

    def yield_(self) -> None:
        """Go to the tail of the run queue."""
        self._emit("YIELD")

    def uniform(self, dst: Register, n: Number) -> None:
        """R[dst] = a number in 0..n-1."""
        self._emit("RAND", dst.number, O.UNIFORM, n, words=(dst.name, "uniform", _text(n)))

    def exponential(self, dst: Register, mean: Number) -> None:
        """R[dst] = an exponential number, rounded down."""
        self._emit("RAND", dst.number, O.EXPONENTIAL, mean, words=(dst.name, "exponential", _text(mean)))

    def now(self, dst: Register) -> None:
        """R[dst] = the time in ps."""
        self._emit("NOW", dst.number, words=(dst.name,))

    def count(self, stat: str, src: Register | Number = 1) -> None:
        """A counter += a register or a number."""
        words = (stat, *_either_words(src))
        self._emit("COUNT", self.spec.stat_number(stat), *_either(src), words=words)

    def halt(self) -> None:
        """End the context."""
        self._emit("HALT")

    def _emit(self, op: str, *operands: Operand, words: Sequence[str] = ()) -> None:
        shown = tuple(words) or tuple(str(x) for x in operands)
        self.code.append(Instruction(op, operands, self._symbol, shown, self._key))

    # -- the finished program -----------------------------------------------------------------------------

    def rows(self) -> list[list[int]]:
        """The code section: eight words an instruction, labels resolved.

        Raises ValueError for a label that is not there.
        """
        return [self._row(instruction) for instruction in self.code]

    def _row(self, instruction: Instruction) -> list[int]:
        row = [O.OPCODES[instruction.op].number, -1, -1, -1, -1, -1, instruction.symbol, 0]
        for k, operand in enumerate(instruction.operands):
            if isinstance(operand, Value):
                row[k + 1] = self.spec.values.value(operand).row
                row[O.MASK_WORD] |= 1 << (k + 1)
            elif isinstance(operand, str):
                row[k + 1] = self.address(operand)
            elif operand is not None:
                row[k + 1] = int(operand)
        return row

    def address(self, label: str) -> int:
        """The address of a label; raises ValueError if there is none of that name."""
        if label not in self.labels:
            raise ValueError(f"no label {label!r} in the program")
        return self.labels[label]

    def replaced(self, address: int, **changes: object) -> Program:
        """A copy of the program with one instruction changed: for faults put in on purpose."""
        code = list(self.code)
        code[address] = replace(code[address], **changes)  # type: ignore[arg-type]  # names are checked by replace
        return Program(self.spec, code, dict(self.labels), list(self.symbols), 0, "", self._unique)


def _number(register: Register | None) -> int:
    return -1 if register is None else register.number


def _name(register: Register | None) -> str:
    return "-" if register is None else register.name


def _text(number: Number) -> str:
    return number.table.text(number.row) if isinstance(number, Value) else str(number)


def _either(source: Register | Number) -> tuple[int, Number]:
    return (source.number, 0) if isinstance(source, Register) else (-1, source)


def _either_words(source: Register | Number) -> tuple[str, ...]:
    return (source.name,) if isinstance(source, Register) else (_text(source),)


