"""Traces: what every CPU did in a window of a run, instruction by instruction.

The engine writes a row of its trace ring for each instruction (see `sim.engine.run.trace`). The row does not say
which of many queues or locks a register chose, nor how long a cache line was waited for. So the engine is run one
instruction at a time, which changes nothing of what it does, and the rest is read from the arena between two. The
ring is on in the window only, and what is kept of it is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from .engine import opcodes as O
from .engine import tables as T
from .engine.jit import Array

ROOM: Final = 60_000  # rows that a trace keeps, the last ones
#: Where a line came from: it was here, or another core, the socket's shared cache or memory gave it.
SOURCES: Final = ("here", "core", "cache", "memory")
HERE, CORE, CACHE, MEMORY = range(4)
_QUEUES: Final = frozenset((O.PUSH, O.POP, O.PEEK, O.SPLICE, O.QLEN))
_LINES: Final = frozenset((O.ACCESS, O.LOCK, O.UNLOCK))


class Engine(Protocol):
    """What recording needs of a host of the engine (`NativeEngine`, `WasmEngine`)."""

    def build(self, spec: Array) -> Array: ...

    def run(self, arena: Array, steps: int) -> int: ...

    def run_until(self, arena: Array, time_ps: int) -> int: ...


class Row(NamedTuple):
    """One instruction.

    `time_ps`, `took_ps` its begin and length; `context` and `pc` who and where; `item` the packet in hand. `line` is a
    cache line (its place in the arena, or -1), `before` and `after` the core that owns it, or -1 for several or none;
    `wait_ps` the part of `took_ps` for which others had the line or the lock; `source` one of `SOURCES`; `spin` 1 if
    the lock was held. `what` is the queue or lock (its place, or -1), `value` the item that went in or came out, `to`
    the queue that a splice fills (it empties `what`), `length` that of the queue afterwards (of `to`, if there is
    one). `sharers` are the cores with a copy of a watched line, as bits.
    """

    time_ps: int
    took_ps: int
    context: int
    pc: int
    item: int
    line: int
    before: int
    after: int
    wait_ps: int
    source: int
    spin: int
    what: int
    value: int
    to: int
    length: int
    sharers: int


@dataclass(frozen=True)
class Window:
    """What to record: from and until (ps, since the run began), rows kept, queues and a line to look at.

    `queues` are places of queues whose lengths are noted at the start. With `watch`, the place of a cache line, only
    instructions that touch it are kept, and the window ends after `events` of them.
    """

    start_ps: int
    until_ps: int
    room: int = ROOM
    queues: Sequence[int] = ()
    watch: int = -1
    events: int = 1 << 30


@dataclass(frozen=True)
class Trace:
    """A window of a run: its rows in order, and how many at its beginning had no room (`lost`).

    `status` is how the run stood at `end_ps` (see `sim.engine.tables.STATUS_NAMES`), `lengths` those of the queues
    that were asked for at the start, `owner` and `sharers` a watched line's at the start. `homes` gives the CPU of
    each context: softirqs first, then threads; agents have -1.
    """

    rows: tuple[Row, ...]
    lost: int
    start_ps: int
    end_ps: int
    status: str
    lengths: Mapping[int, int]
    owner: int
    sharers: int
    cpus: int
    cores: int
    homes: tuple[int, ...]

    def core(self, context: int) -> int:
        """The core that executes a context (CPU c is a thread of core c modulo `cores`); -1 for an agent."""
        home = self.homes[context]
        return home % self.cores if home >= 0 else -1

    def series(self, queues: Sequence[int]) -> list[tuple[int, int]]:
        """Items on some queues together: (ps, length) at the first row kept, and whenever it changes."""
        now = {at: self.lengths.get(at, 0) for at in queues}
        out = [(self.start_ps, sum(now.values()))]
        for row in self.rows:
            for at, length in changed(row):
                if at in now and now[at] != length:
                    now[at] = length
                    out.append((row.time_ps, sum(now.values())))
        return out


def changed(row: Row) -> tuple[tuple[int, int], ...]:
    """Queues whose length a row gives: (place, length); a splice empties one and fills another."""
    if row.length < 0:
        return ()
    if row.to >= 0:
        return (row.what, 0), (row.to, row.length)
    return ((row.what, row.length),)


@dataclass
class Recorder:
    """An arena in its window, run one instruction at a time."""

    engine: Engine
    arena: Array
    window: Window
    rows: deque[list[int]] = field(init=False)
    lost: int = 0

    def __post_init__(self) -> None:
        words = self.words = integers(self.arena)
        self.rows = deque()
        self.spinning: dict[int, list[int]] = {}
        self.at_line = words[T.H_AT_LINE]
        lines = slice(self.at_line, self.at_line + T.LINE_WORDS * words[T.H_LINE_ROWS])
        self.free = self.arena[lines].reshape(-1, T.LINE_WORDS)[:, T.L_FREE].tolist()
        self.fetched = self._fetched()

    def _fetched(self) -> tuple[int, int, int]:
        return self.words[T.H_TRANSFERS], self.words[T.H_LLC_READS], self.words[T.H_MEMORY_READS]

    def step(self) -> tuple[int, list[int] | None]:
        """Execute one instruction; the run's status and its row, if it is one to keep."""
        words = self.words
        count = words[T.H_TRACE_COUNT]
        status = self.engine.run(self.arena, 1)
        if words[T.H_TRACE_COUNT] == count:
            return status, None
        at = words[T.H_AT_TRACE] + T.TRACE_WORDS * (count % words[T.H_TRACE_ROWS])
        time, took, context, pc, item, line, before, after = words[at : at + T.TRACE_WORDS].tolist()
        spun = self.spinning.pop(context, None)
        if spun is not None:
            spun[1] = spun[8] = time - spun[0]
        code = words[T.H_AT_CODE] + O.INSTRUCTION_WORDS * pc
        op = words[code]
        row = [time, took, context, pc, item, line, before, after, 0, HERE, 0, -1, -1, -1, -1, 0]
        if op in _LINES:
            self._line(row, op, code)
        if op in _QUEUES:
            self._queue(row, op, code)
        if op == O.KEY or (self.window.watch >= 0 and line != self.window.watch):
            return status, None
        return status, row

    def _register(self, context: int, number: int) -> int:
        if number < 0:
            return 0
        return self.words[self.words[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * context + T.X_REG + number]

    def _line(self, row: list[int], op: int, code: int) -> None:
        words, line = self.words, row[5]
        place = (line - self.at_line) // T.LINE_WORDS
        before, after = self.free[place], words[line + T.L_FREE]
        self.free[place] = after
        transfers, cache, memory = (a - b for a, b in zip(self._fetched(), self.fetched, strict=True))
        self.fetched = self._fetched()
        row[9] = MEMORY if memory else CACHE if cache else CORE if transfers else HERE
        if op != O.ACCESS:
            row[11] = words[code + 1] + self._register(row[2], words[code + 2]) * T.LOCK_WORDS
        if op == O.LOCK and row[1] == 0:
            row[10] = 1
            self.spinning[row[2]] = row
        elif op != O.UNLOCK:
            if after != before or row[9] != HERE:
                row[8] = min(row[1], max(0, before - row[0]))
            else:  # a copy that is here, or one that the core's other thread has asked for
                extra = words[T.H_ATOMIC_PS] if op == O.LOCK or words[code + 1] == O.ATOMIC else 0
                row[8] = max(0, row[1] - words[T.H_HIT_PS] - extra)
        if line == self.window.watch:
            row[15] = words[line + T.L_SHARERS0] | words[line + T.L_SHARERS1] << T.SHARER_BITS

    def _queue(self, row: list[int], op: int, code: int) -> None:
        words, context = self.words, row[2]
        a, b, c, d = words[code + 1 : code + 5].tolist()
        row[11] = a + self._register(context, b) * T.QUEUE_WORDS
        if op == O.SPLICE:
            row[13] = c + self._register(context, d) * T.QUEUE_WORDS
            row[14] = words[row[13] + T.Q_LENGTH]
            return
        row[14] = words[row[11] + T.Q_LENGTH]
        went_on = words[words[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * context + T.X_PC] == row[3] + 1
        if op != O.QLEN and went_on:  # a queue that is empty or full sends the program elsewhere
            row[12] = self._register(context, c)


def integers(arena: Array) -> memoryview[int]:
    """An arena's words as Python's own numbers, several times as fast to read one by one as numpy's."""
    return memoryview(arena)  # type: ignore[arg-type]  # numpy's stubs do not say that an array is a buffer


def record(engine: Engine, image: Array, window: Window) -> Trace:
    """Run an image (made with ``trace_rows=1``) to a window and record it. Raises ValueError without a ring."""
    arena = engine.build(image)
    words = integers(arena)
    ring = words[T.H_TRACE_ROWS]
    if ring < 1:
        raise ValueError("the image has no trace ring: make it with trace_rows=1")
    words[T.H_TRACE_ROWS] = 0  # off before the window
    status = engine.run_until(arena, window.start_ps) if window.start_ps else T.MORE
    words[T.H_TRACE_ROWS] = ring
    words[T.H_UNTIL] = window.until_ps
    lengths = {at: words[at + T.Q_LENGTH] for at in window.queues}
    watch = window.watch
    owner = words[watch + T.L_OWNER] if watch >= 0 else -1
    sharers = words[watch + T.L_SHARERS0] | words[watch + T.L_SHARERS1] << T.SHARER_BITS if watch >= 0 else 0
    made = Recorder(engine, arena, window)
    kept = 0
    if status <= T.REACHED:
        status = T.MORE
    while status == T.MORE and kept < window.events:
        status, row = made.step()
        if row is not None:
            kept += 1
            made.rows.append(row)
            if len(made.rows) > window.room:
                made.rows.popleft()
                made.lost += 1
    end = words[T.H_NOW] if kept >= window.events or status > T.REACHED else window.until_ps
    for row in made.spinning.values():  # still waiting
        row[1] = row[8] = end - row[0]
    contexts = range(words[T.H_CONTEXTS])
    at = words[T.H_AT_CONTEXT]
    homes = [words[at + T.CONTEXT_WORDS * i + T.X_HOME] for i in contexts]
    agents = words[T.H_CPUS] + words[T.H_THREADS]
    return Trace(
        tuple(Row(*row) for row in made.rows), made.lost, window.start_ps, end, T.STATUS_NAMES[status], lengths,
        owner, sharers, words[T.H_CPUS], words[T.H_CORES],
        tuple(home if i < agents else -1 for i, home in zip(contexts, homes, strict=True)),
    )
