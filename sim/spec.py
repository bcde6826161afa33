"""A spec: all that a run needs, as small integers, and the names that go with them.

The arena holds integers only. A spec declares domains (how many skbs, pages, CPUs, sockets there are), the
tables, cache lines, locks and queues over them, the program, the threads and agents that execute it, the
machine's costs and the knobs. `image` is the int64 array that `sim.engine.build` reads; the names stay in
Python or go into the sidecar of a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .engine import tables as T
from .engine.jit import Array
from .expression import Number, Value, Values
from .program import Program


@dataclass(frozen=True)
class Domain:
    """An index domain: rows 0 to count-1 of something."""

    number: int
    name: str
    count: Value


@dataclass(frozen=True)
class Integer:
    """Type of a cell or register that holds a number in a range."""

    low: int = -(1 << 40)
    high: int = 1 << 40


@dataclass(frozen=True)
class Reference:
    """Type of a cell or register that holds an index of a domain, or -1 for none."""

    domain: Domain
    none: bool = True


CellType = Integer | Reference


@dataclass(frozen=True)
class Table:
    """Cells: one row for each index of a domain, typed columns."""

    number: int
    name: str
    domain: Domain
    columns: Mapping[str, CellType]

    def column(self, name: str) -> int:
        """Number of a column; raises ValueError with the names there are."""
        if name not in self.columns:
            raise ValueError(f"table {self.name} has no column {name!r}; it has {', '.join(self.columns)}")
        return list(self.columns).index(name)


@dataclass(frozen=True)
class Lines:
    """Cache lines: `per_row` for each index of a domain; a field lies on one of them."""

    number: int
    name: str
    domain: Domain
    per_row: Value
    fields: Mapping[str, Number]

    def line(self, name: str) -> Number:
        """Which line of a row a field lies on; raises ValueError with the names there are."""
        if name not in self.fields:
            raise ValueError(f"{self.name} has no field {name!r}; it has {', '.join(self.fields)}")
        return self.fields[name]


@dataclass(frozen=True)
class Locks:
    """Spinlocks: one for each index of a domain, each on a field of its lines."""

    number: int
    name: str
    domain: Domain
    lines: Lines
    field: str
    kind: Value


@dataclass(frozen=True)
class Queue:
    """Queues: one for each index of a domain, of items of another domain."""

    number: int
    name: str
    domain: Domain
    items: Domain
    capacity: Value


@dataclass(frozen=True)
class Spawn:
    """Threads or agents that begin at an entry; thread i runs on CPU base + (i // div) % mod * mul."""

    kind: int
    name: str
    entry: str
    count: Value
    base: Value
    div: Value
    mod: Value
    mul: Value
    start: Value
    stagger: Value


@dataclass
class Spec:
    """A spec under construction. `knobs` are names in order; their settings are given to `image`."""

    knobs: Sequence[str] = ()
    values: Values = field(init=False)
    program: Program = field(init=False)
    domains: list[Domain] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    lines: list[Lines] = field(default_factory=list)
    locks: list[Locks] = field(default_factory=list)
    queues: list[Queue] = field(default_factory=list)
    inits: list[tuple[int, int, int, Value, Value, Value, Value]] = field(default_factory=list)
    fills: list[tuple[int, Value, Value, Value, Value]] = field(default_factory=list)
    spawns: list[Spawn] = field(default_factory=list)
    vectors: list[str] = field(default_factory=list)
    stats: list[str] = field(default_factory=list)
    machine: dict[str, Value] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)  # what the parts asked for, by name: for sensitivity
    seed: Value = field(init=False)
    trace_rows: Value = field(init=False)

    def __post_init__(self) -> None:
        self.knobs = ("seed", "trace_rows", *self.knobs)
        self.values = Values(self.knobs)
        self.program = Program(self)
        self.seed = self.values.knob("seed")
        self.trace_rows = self.values.knob("trace_rows")

    def domain(self, name: str, count: Number) -> Domain:
        """Declare an index domain."""
        self.domains.append(Domain(len(self.domains), name, self.values.value(count)))
        return self.domains[-1]

    def table(self, name: str, domain: Domain, **columns: CellType) -> Table:
        """Declare a table; all cells begin at 0 until `init` says otherwise."""
        self.tables.append(Table(len(self.tables), name, domain, columns))
        return self.tables[-1]

    def struct(self, name: str, domain: Domain, fields: Mapping[str, Number], per_row: Number) -> Lines:
        """Declare the cache lines of a struct: field to line, and how many lines a row has."""
        self.lines.append(Lines(len(self.lines), name, domain, self.values.value(per_row), dict(fields)))
        return self.lines[-1]

    def spinlocks(self, name: str, lines: Lines, at: str, kind: Number = T.QUEUED) -> Locks:
        """Declare a spinlock for each row of `lines`, its word on field `at`; kind is tables.TICKET or QUEUED."""
        lines.line(at)
        self.locks.append(Locks(len(self.locks), name, lines.domain, lines, at, self.values.value(kind)))
        return self.locks[-1]

    def queue(self, name: str, domain: Domain, items: Domain, capacity: Number = 1 << 30) -> Queue:
        """Declare a queue for each index of `domain`, holding items of `items`. An item is on one queue at most."""
        self.queues.append(Queue(len(self.queues), name, domain, items, self.values.value(capacity)))
        return self.queues[-1]

    def init(
        self, table: Table, column: str, base: Number = 0, div: Number = 1, mod: Number = 1, mul: Number = 1,
        random: bool = False,
    ) -> None:
        """Set a column: row i gets base + (i // div) % mod * mul, or with `random` base + uniform(mod) * mul."""
        draw = T.RANDOM if random else T.LINEAR
        v = self.values.value
        self.inits.append((table.number, table.column(column), draw, v(base), v(div), v(mod), v(mul)))

    def fill(self, queue: Queue, count: Number, first: Number = 0, row: Number = 0, div: Number = 1 << 40) -> None:
        """Put items first.. on queues at time 0: item first + k on row `row` + k // div."""
        v = self.values.value
        self.fills.append((queue.number, v(row), v(first), v(count), v(div)))

    def spawn_threads(
        self, name: str, entry: str, count: Number = 1, base: Number = 0, div: Number = 1, mod: Number = 1,
        mul: Number = 1,
    ) -> None:
        """Threads that begin at a label."""
        self._spawn(T.THREAD, name, entry, count, base, div, mod, mul, 0, 0)

    def spawn_agents(
        self, name: str, entry: str, count: Number = 1, start: Number = 0, stagger: Number = 0
    ) -> None:
        """Agents (no caches, no CPU) that begin at a label at time start + i * stagger."""
        self._spawn(T.AGENT, name, entry, count, 0, 1, 1, 1, start, stagger)

    def _spawn(self, kind: int, name: str, entry: str, *numbers: Number) -> None:
        self.spawns.append(Spawn(kind, name, entry, *(self.values.value(x) for x in numbers)))

    def vector(self, entry: str) -> int:
        """Declare the softirq that an interrupt vector starts; returns the vector's number."""
        if len(self.vectors) == 4:
            raise ValueError("a CPU has four vectors")
        self.vectors.append(entry)
        return len(self.vectors) - 1

    def stat_number(self, name: str) -> int:
        """Number of a counter, declared if it is new."""
        if name not in self.stats:
            self.stats.append(name)
        return self.stats.index(name)

    def cost(self, **fields: Number) -> None:
        """Set machine fields (see `engine.tables.MACHINE_FIELDS`); raises ValueError for an unknown one."""
        for name, number in fields.items():
            if name not in T.MACHINE_FIELDS:
                raise ValueError(f"no machine field {name!r}; there are {', '.join(T.MACHINE_FIELDS)}")
            self.machine[name] = self.values.value(number)

    def image(self, knobs: Mapping[str, int] | None = None) -> Array:
        """The spec as integers at a setting of the knobs (those not given are 0)."""
        settings = dict(knobs or {})
        unknown = set(settings) - set(self.knobs)
        if unknown:
            raise ValueError(f"no knob {', '.join(sorted(unknown))} in this spec")
        machine = [self.machine.get(name, self.values.const(0)).row for name in T.MACHINE_FIELDS]
        code = self.program.rows()
        sections: dict[str, list[Sequence[int]]] = {
            "knobs": [[int(settings.get(name, 0))] for name in self.knobs],
            "domains": [[d.count.row] for d in self.domains],
            "tables": [[t.domain.number, len(t.columns)] for t in self.tables],
            "lines": [[x.domain.number, x.per_row.row] for x in self.lines],
            "locks": [[k.domain.number, k.lines.number, self._line_row(k), k.kind.row] for k in self.locks],
            "queues": [[q.domain.number, q.items.number, q.capacity.row] for q in self.queues],
            "inits": [[a, b, c, *(x.row for x in rest)] for a, b, c, *rest in self.inits],
            "fills": [[a, *(x.row for x in rest)] for a, *rest in self.fills],
            "spawns": [self._spawn_row(s) for s in self.spawns],
            "vectors": [[self.program.address(entry)] for entry in self.vectors],
            "code": [list(row) for row in code],
            "machine": [[row] for row in machine],
        }
        sections["values"] = [list(row) for row in self.values.rows]
        header = [T.SPEC_MAGIC, T.VERSION, 0, len(self.program.symbols), max(1, len(self.stats)),
                  self.seed.row, self.trace_rows.row]
        body: list[int] = []
        for name, words in T.SECTIONS.items():
            rows = sections[name]
            header += [T.SPEC_HEADER_WORDS + len(body), len(rows)]
            for row in rows:
                if len(row) != len(words):
                    raise ValueError(f"a row of section {name} has {len(row)} words, not {len(words)}")
                body += row
        image = np.array(header + body, np.int64)
        image[T.S_WORDS] = image.shape[0]
        return image

    def knob_word(self, name: str) -> int:
        """Where a knob's setting stands in the image: knobs are the first section."""
        return T.SPEC_HEADER_WORDS + list(self.knobs).index(name)

    def _line_row(self, locks: Locks) -> int:
        return self.values.value(locks.lines.line(locks.field)).row

    def _spawn_row(self, s: Spawn) -> list[int]:
        numbers = (s.count, s.base, s.div, s.mod, s.mul, s.start, s.stagger)
        return [s.kind, self.program.address(s.entry), *(x.row for x in numbers)]
