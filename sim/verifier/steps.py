"""What each instruction asks for and what is known after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..engine import opcodes as O
from ..engine import tables as T
from ..spec import Integer
from .operands import Operands
from .state import Held, State
from .types import (
    GIVEN,
    LEAST,
    MOST,
    OPPOSITE,
    OWNED,
    SEEN,
    Known,
    Overflow,
    arithmetic,
    constant,
    refined,
)

Chain = tuple[int, ...]
Next = tuple[int, Chain, State]
KINDS: Final = ("a softirq", "a thread", "an agent")
LONGEST: Final = 1 << 47  # ps, 141 s: even with a busy sibling it ends before 2**52
MEAN_LIMIT: Final = 1 << 40  # of exponential numbers: a draw is 22 means at most
DRAW_LIMIT: Final = 1 << 31  # of uniform numbers: a 32-bit draw times this fits in 64 bits
ANY: Final = (LEAST, MOST)
ONLY: Final = {  # who may execute an instruction
    O.ACCESS: (T.SOFTIRQ, T.THREAD), O.LOCK: (T.SOFTIRQ, T.THREAD), O.UNLOCK: (T.SOFTIRQ, T.THREAD),
    O.END: (T.SOFTIRQ,), O.SLEEP: (T.THREAD, T.AGENT), O.YIELD: (T.THREAD,), O.HALT: (T.THREAD, T.AGENT),
}
FREE_OF_LOCKS: Final = {O.END: "ends", O.SLEEP: "sleeps", O.YIELD: "yields", O.HALT: "halts"}


@dataclass
class Steps(Operands):
    """The instructions of an image for contexts of one kind.

    `running` collects the columns that are added to, or stored to without bounds: their cells may hold any
    number, whatever the declared range.
    """

    running: set[tuple[int, int]] = field(default_factory=set)

    def step(self, address: int, chain: Chain, state: State) -> list[Next]:
        """The places that follow and what is known there. Raises `Unsound`."""
        row = self.image.code[address]
        op = row[0]
        if self.kind not in ONLY.get(op, (self.kind,)):
            raise self._no(address, f"{KINDS[self.kind]} may not do this")
        if op in FREE_OF_LOCKS and state.held:
            raise self._no(address, f"{FREE_OF_LOCKS[op]} with {self._lock_text(state.held[-1])} held")
        if op in (O.END, O.HALT):
            return []
        if op in (O.JUMP, O.CALL, O.RET, O.BRANCH, O.KEY, O.LOOP):
            return self._flow(address, row, chain, state)
        if op in (O.PUSH, O.POP, O.PEEK, O.SPLICE, O.QLEN):
            return [(to, chain, after) for to, after in self._queue(address, row, state)]
        return [(address + 1, chain, self._plain(address, row, state))]

    # -- control ------------------------------------------------------------------------------------------

    def _flow(self, address: int, row: list[int], chain: Chain, state: State) -> list[Next]:
        op, follow = row[0], address + 1
        if op == O.JUMP:
            return [(row[1], chain, state)]
        if op == O.KEY:
            return [(row[2] if row[1] == 0 else follow, chain, state)]
        if op == O.CALL:
            if follow in chain:
                raise self._no(address, "calls itself: recursion has no end")
            if len(chain) == O.STACK_DEPTH:
                raise self._no(address, f"calls go deeper than {O.STACK_DEPTH}")
            return [(row[1], (*chain, follow), state)]
        if op == O.RET:
            if not chain:
                raise self._no(address, "returns, but no subroutine was called")
            return [(chain[-1], chain[:-1], state)]
        if op == O.LOOP:
            count = self._read(address, state, row[1])
            down = arithmetic(O.MINUS, (count.low, count.high), (1, 1))
            after = self._define(address, state, row[1], down)
            return self._either(after, O.GT, row[1], constant(0), -1, row[2], follow, chain)
        self._read(address, state, row[2])
        b = self._source(address, state, row[3], row[4])
        return self._either(state, row[1], row[2], b, row[3], row[5], follow, chain)

    def _either(
        self, state: State, cond: int, a: int, b: Known, register: int, to: int, follow: int, chain: Chain
    ) -> list[Next]:
        """Both ways of a condition between a register and a number or another register, if possible."""
        out: list[Next] = []
        for condition, target in ((cond, to), (OPPOSITE[cond], follow)):
            first = state.registers[a]
            assert first is not None
            if first.token == b.token and condition in (O.NE, O.LT, O.GT):
                continue  # equal numbers
            ranges = refined(condition, (first.low, first.high), (b.low, b.high))
            if ranges is None:
                continue
            after = state.narrowed(a, ranges[0])
            if register >= 0 and first.token != b.token:
                after = after.narrowed(register, ranges[1])
            out.append((target, chain, after))
        return out

    # -- queues -------------------------------------------------------------------------------------------

    def _queue(self, address: int, row: list[int], state: State) -> list[tuple[int, State]]:
        op, queue, follow = row[0], row[1], address + 1
        domain, items, _ = self.image.sections["queues"][queue]
        self._row(address, state, row[2], domain, self.image.name("queues", queue))
        if op == O.QLEN:
            return [(follow, self._define(address, state, row[3], (0, self.image.count(items))))]
        if op == O.SPLICE:
            to_domain, to_items, _ = self.image.sections["queues"][row[3]]
            self._row(address, state, row[4], to_domain, self.image.name("queues", row[3]))
            if items != to_items:
                raise self._no(
                    address, f"moves items of {self._domain(items)} to a queue of {self._domain(to_items)}"
                )
            return [(follow, state)]
        if op == O.PUSH:
            item = self._read(address, state, row[3])
            self._index(address, item, row[3], items, f"items of {self.image.name('queues', queue)}")
            if item.domain < 0:
                raise self._no(address, f"r{row[3]} is a number, not an item off a queue or out of a cell")
            if item.item != OWNED:
                word = "was seen, not taken off its queue" if item.item == SEEN else "is on a queue already"
                raise self._no(address, f"the item in r{row[3]} {word}")
            out = [(follow, state.marked(row[3], GIVEN))]
            return [*out, (row[4], state)] if row[4] >= 0 else out
        most = self.image.count(items) - 1
        out = []
        if most >= 0:
            whose = OWNED if op == O.POP else SEEN
            out.append((follow, self._define(address, state, row[3], (0, most), items, whose)))
        return [*out, (row[4], state)] if row[4] >= 0 else out

    # -- the rest -----------------------------------------------------------------------------------------

    def _plain(self, address: int, row: list[int], state: State) -> State:
        op = row[0]
        if op == O.WORK:
            self._work(address, row, state)
        elif op == O.ACCESS:
            lines, name = row[2], self.image.name("lines", row[2])
            self._row(address, state, row[3], self.image.sections["lines"][lines][0], name)
            per_row = self.image.value("lines", lines, "per_row")
            if not 0 <= row[4] < per_row:
                raise self._no(address, f"line {row[4]} of a row; {name} has {per_row}")
        elif op in (O.LOCK, O.UNLOCK):
            return self._lock(address, row, state)
        elif op == O.SET:
            # a copy of a register that is not set is not set
            source = constant(row[3]) if row[2] < 0 else state.registers[row[2]]
            return state.written(self._target(address, row[1]), source)
        elif op == O.ALU:
            return self._alu(address, row, state)
        elif op in (O.LOAD, O.STORE, O.ADD):
            return self._cell(address, row, state)
        elif op == O.RAISE:
            if row[1] >= 0:
                self._below(address, state, row[1], self.image.cpus, "CPUs")
            elif self.kind == T.AGENT:
                raise self._no(address, "an agent has no CPU of its own to interrupt")
            self._time(address, row[3], "the delay", T.INF)
        elif op == O.WAKE:
            thread = row[1] == O.THREADS
            self._below(
                address, state, row[2], self.image.spawned(T.THREAD if thread else T.AGENT),
                "threads" if thread else "agents",
            )
            self._time(address, row[3], "the delay", T.INF)
        elif op == O.RAND:
            return self._draw(address, row, state)
        elif op == O.NOW:
            return self._define(address, state, row[1], (0, T.INF))
        elif op == O.COUNT:
            self._source(address, state, row[2], row[3])
        return state

    def _work(self, address: int, row: list[int], state: State) -> None:
        self._time(address, row[1], "the work", LONGEST)
        if row[4] not in (0, 1):
            raise self._no(address, f"copy is {row[4]}; 0 and 1 are possible")
        if row[4] and self.kind == T.AGENT:
            raise self._no(address, "an agent has no caches to copy through")
        if row[2] < 0:
            return
        by = self._read(address, state, row[2])
        if by.low < 0:
            raise self._no(address, f"r{row[2]} is {by.text()}: work may not be negative")
        if row[3] < 0:
            raise self._no(address, f"the work for one is {row[3]} fs: it may not be negative")
        if by.high * row[3] > MOST or row[1] + by.high * row[3] // 1000 >= LONGEST:
            raise self._no(address, f"r{row[2]} is {by.text()}: {row[3]} fs for each could overflow")

    def _time(self, address: int, number: int, what: str, limit: int) -> None:
        if number < 0:
            raise self._no(address, f"{what} is {number} ps: it may not be negative")
        if number >= limit:
            raise self._no(address, f"{what} is {number} ps: times could overflow from {limit} on")

    def _lock(self, address: int, row: list[int], state: State) -> State:
        op, locks, register = row[0], row[1], row[2]
        domain = self.image.sections["locks"][locks][0]
        self._row(address, state, register, domain, self.image.name("locks", locks))
        content = constant(0) if register < 0 else self._read(address, state, register)
        if op == O.LOCK:
            return state._replace(held=(*state.held, Held(locks, content.token, address)))
        for k in range(len(state.held) - 1, -1, -1):
            if state.held[k].locks == locks and state.held[k].row == content.token:
                return state._replace(held=state.held[:k] + state.held[k + 1 :])
        if any(h.locks == locks for h in state.held):
            raise self._no(address, "releases a lock of this set, but not surely on the row that was taken")
        raise self._no(address, "releases a lock that is not held")

    def _alu(self, address: int, row: list[int], state: State) -> State:
        _, fn, dst, first, second, value = row[:6]
        a = self._read(address, state, first)
        b = self._source(address, state, second, value)
        name = f"r{second}" if second >= 0 else "the number"
        try:
            bounds = arithmetic(fn, (a.low, a.high), (b.low, b.high))
        except ZeroDivisionError:
            raise self._no(address, f"divides by {name}, which may be 0 ({b.text()})") from None
        except Overflow:
            words = f"r{first} ({a.text()}) {O.ALU_FUNCTIONS[fn]} {name} ({b.text()})"
            raise self._no(address, f"{words} could overflow") from None
        except ValueError:
            raise self._no(address, f"shifts by {name} ({b.text()}); 0 to 62 are possible") from None
        return self._define(address, state, dst, bounds)

    def _cell(self, address: int, row: list[int], state: State) -> State:
        op, table, column = row[:3]
        image = self.image
        self._row(address, state, row[3], image.sections["tables"][table][0], image.name("tables", table))
        kind = image.column_type(table, column)
        low, high = image.column_range(kind)
        domain = -1 if isinstance(kind, Integer) else kind.domain.number
        if op == O.LOAD:
            bounds = ANY if (table, column) in self.running else (low, high)
            return self._define(address, state, row[4], bounds, domain)
        source = self._source(address, state, row[4], row[5])
        name = image.column_name(table, column)
        if op == O.ADD:
            if domain >= 0:
                raise self._no(address, f"adds to {name}, which holds references to {self._domain(domain)}")
            return state
        if source.domain not in (-1, domain) and domain >= 0:
            raise self._no(
                address, f"stores a reference to {self._domain(source.domain)} in {name}, "
                f"which holds references to {self._domain(domain)}",
            )
        if not source.within(low, high):
            if kind != Integer():
                raise self._no(address, f"stores {source.text()} in {name}, whose type has {low} to {high}")
            self.running.add((table, column))
        return state

    def _draw(self, address: int, row: list[int], state: State) -> State:
        uniform = row[2] == O.UNIFORM
        limit = DRAW_LIMIT if uniform else MEAN_LIMIT
        if not 0 <= row[3] < limit:
            raise self._no(address, f"draws with {row[3]}; 0 to {limit - 1} are possible")
        bounds = (0, max(0, row[3] - 1)) if uniform else (0, 22 * row[3])
        return self._define(address, state, row[1], bounds)
