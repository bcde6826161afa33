"""What a spec declares: machine, domains, sets, first contents, threads and agents, all within what fits."""

from __future__ import annotations

from functools import partial
from typing import Final

from ..engine import tables as T
from .image import Image
from .unsound import Unsound

CORES: Final = 2 * T.SHARER_BITS  # a line's sharers are bits of two words
ACTORS: Final = 1 << T.ID_BITS
COST_LIMIT: Final = 1 << 34  # ps, 17 ms: times 131 permille factors and 1024 waiters it stays below 2**63
PERMILLE_LIMIT: Final = 1 << 17
SMT_LIMIT: Final = 16_000
ROWS_LIMIT: Final = 1 << 26
ARENA_LIMIT: Final = 1 << 26  # words: 512 MB
DRAW_LIMIT: Final = 1 << 31  # a 32-bit draw times this fits in 64 bits
COSTS: Final = (
    "hit_ps", "sibling_ps", "same_socket_ps", "other_socket_ps", "shared_read_ps", "memory_ps", "atomic_ps",
    "switch_ps", "idle_exit_ps",
)


def check_declarations(image: Image) -> None:
    """Refuse unsound declarations. Raises `Unsound` with the row of the spec's section."""
    check_machine(image)
    check_sets(image)
    check_spawns(image)
    check_size(image)
    check_inits(image)
    check_fills(image)


def _require(condition: bool, reason: str, where: str) -> None:
    if not condition:
        raise Unsound(reason, where)


def check_machine(image: Image) -> None:
    """Costs that are not negative and cannot overflow; a topology that the tables have room for."""
    for number, name in enumerate(T.MACHINE_FIELDS):
        value = image.machine(name)
        limit = COST_LIMIT if name in COSTS else PERMILLE_LIMIT if name.endswith("permille") else T.INF
        where = image.name("machine", number)
        _require(value >= 0, f"is {value}: it may not be negative", where)
        _require(value < limit, f"is {value}: times could overflow from {limit} on", where)
    smt = image.machine("smt_permille")
    _require(smt <= SMT_LIMIT, f"smt_permille is {smt}: times could overflow above {SMT_LIMIT}", "machine")
    cores = image.machine("sockets") * image.machine("cores_per_socket")
    _require(cores >= 1, f"there are {cores} cores; a machine has one at least", "machine")
    _require(cores <= CORES, f"there are {cores} cores; a line's sharers are {CORES} at most", "machine")
    threads = image.machine("threads_per_core")
    _require(threads in (1, 2), f"a core has {threads} threads; 1 or 2 are possible", "machine")


def check_sets(image: Image) -> None:
    """Domains, tables, lines, locks and queues."""
    for i in range(len(image.sections["domains"])):
        count, where = image.count(i), image.name("domains", i)
        _require(0 <= count <= ROWS_LIMIT, f"has {count} rows; 0 to {ROWS_LIMIT} are possible", where)
    for i in range(len(image.sections["lines"])):
        per_row, where = image.value("lines", i, "per_row"), image.name("lines", i)
        _require(0 <= per_row <= 1 << 16, f"has {per_row} lines a row; 0 to 65536 are possible", where)
    for i, (domain, lines, _, _) in enumerate(image.sections["locks"]):
        where = image.name("locks", i)
        line, per_row = image.value("locks", i, "line"), image.value("lines", lines, "per_row")
        _require(domain == image.sections["lines"][lines][0], "lies on lines of another domain", where)
        _require(0 <= line < per_row, f"lies on line {line} of a row, which has {per_row}", where)
        kind = image.value("locks", i, "kind")
        known = kind in (T.TICKET, T.QUEUED)
        _require(known, f"is of kind {kind}; 0 (ticket) and 1 (queued) are possible", where)
    for i in range(len(image.sections["queues"])):
        capacity = image.value("queues", i, "capacity")
        _require(capacity >= 0, f"has room for {capacity} items", image.name("queues", i))


def _largest_step(count: int, div: int, mod: int) -> int:
    """The largest ``(i // div) % mod`` for i below count, as `build` computes it."""
    return min((count - 1) // max(1, div), max(1, mod) - 1) if count > 0 else 0


def check_spawns(image: Image) -> None:
    """Threads on CPUs that exist, agents that begin before the end of time, and not too many of both."""
    for i, row in enumerate(image.sections["spawns"]):
        where = image.name("spawns", i)
        value = partial(image.value, "spawns", i)
        count = value("count")
        known = row[0] in (T.THREAD, T.AGENT)
        _require(known, f"is of kind {row[0]}; 1 (thread) and 2 (agent) are possible", where)
        _require(0 <= count <= ROWS_LIMIT, f"there are {count} of them", where)
        if row[0] == T.THREAD:
            last = value("base") + _largest_step(count, value("div"), value("mod")) * value("mul")
            for cpu in (value("base"), last) if count else ():
                reason = f"runs on CPU {cpu}; they go from 0 to {image.cpus - 1}"
                _require(0 <= cpu < image.cpus, reason, where)
        else:
            last = value("start") + (count - 1) * value("stagger")
            for start in (value("start"), last) if count else ():
                _require(0 <= start < T.INF, f"begins at {start} ps; times go from 0 to {T.INF - 1}", where)
    actors = image.cpus + image.spawned(T.AGENT)
    _require(actors <= ACTORS, f"{actors} CPUs and agents; the calendar has room for {ACTORS}", "spawns")


def check_size(image: Image) -> None:
    """An arena that fits in memory."""
    trace_rows = image.values[image.words[T.S_TRACE_ROWS]]
    _require(trace_rows >= 0, f"is {trace_rows}", "trace rows")
    contexts = image.cpus + image.spawned(T.THREAD) + image.spawned(T.AGENT)
    words = trace_rows * T.TRACE_WORDS + contexts * (T.CONTEXT_WORDS + T.CPU_WORDS + 4)
    words += 2 * image.cpus * image.words[T.S_SYMBOLS] + image.words[T.S_STATS] + len(image.words) * 2
    widths = {"domains": 1, "tables": 0, "lines": 0, "locks": T.LOCK_WORDS, "queues": T.QUEUE_WORDS}
    for section, width in widths.items():
        for i, row in enumerate(image.sections[section]):
            each = width
            if section == "tables":
                each = row[1]
            elif section == "lines":
                each = image.value("lines", i, "per_row") * T.LINE_WORDS
            words += each * image.count(i if section == "domains" else row[0])
    _require(words <= ARENA_LIMIT, f"the arena needs about {words} words; {ARENA_LIMIT} are possible", "size")


def check_inits(image: Image) -> None:
    """Every cell begins with a number of its type."""
    set_by_init: set[tuple[int, int]] = set()
    for i, (table, column, draw, *_) in enumerate(image.sections["inits"]):
        where = f"init {i}"
        columns = image.sections["tables"][table][1]
        _require(0 <= column < columns, f"{image.name('tables', table)} has no column {column}", where)
        where = f"init {i} of {image.column_name(table, column)}"
        _require(draw in (T.LINEAR, T.RANDOM), f"there is no draw {draw}", where)
        base, div, mod, mul = (image.value("inits", i, name) for name in ("base", "div", "mod", "mul"))
        rows = image.count(image.sections["tables"][table][0])
        step = _largest_step(rows, div, mod) if draw == T.LINEAR else max(1, mod) - 1
        _require(draw == T.LINEAR or mod < DRAW_LIMIT, f"a draw of {mod} could overflow", where)
        set_by_init.add((table, column))
        if rows:
            _check_cell(image, table, column, [base, base + step * mul], where)
    for table, row in enumerate(image.sections["tables"]):
        for column in range(row[1]):
            if image.count(row[0]) and (table, column) not in set_by_init:
                _check_cell(image, table, column, [0], f"column {image.column_name(table, column)}")


def _check_cell(image: Image, table: int, column: int, numbers: list[int], where: str) -> None:
    low, high = image.column_range(image.column_type(table, column))
    for number in numbers:
        _require(low <= number <= high, f"a cell begins with {number}; its type has {low} to {high}", where)


def check_fills(image: Image) -> None:
    """Items that exist on rows that exist, each on one queue, and no queue above its capacity."""
    taken: dict[int, list[tuple[int, int, int]]] = {}
    filled: dict[tuple[int, int], int] = {}
    for i, (queue, *_) in enumerate(image.sections["fills"]):
        where = f"fill {i} of {image.name('queues', queue)}"
        domain, items, _ = image.sections["queues"][queue]
        row, first, count, div = (image.value("fills", i, name) for name in ("row", "first", "count", "div"))
        div = max(1, div)
        _require(count >= 0, f"puts {count} items", where)
        if count == 0:
            continue
        last, last_row = first + count - 1, row + (count - 1) // div
        _require(
            first >= 0 and last < image.count(items),
            f"puts items {first} to {last}; they go from 0 to {image.count(items) - 1}", where,
        )
        _require(
            row >= 0 and last_row < image.count(domain),
            f"fills rows {row} to {last_row}; they go from 0 to {image.count(domain) - 1}", where,
        )
        for low, high, other in taken.get(items, []):
            _require(last < low or first > high, f"puts items that fill {other} puts on a queue too", where)
        taken.setdefault(items, []).append((first, last, i))
        for at in range(row, last_row + 1):
            filled[queue, at] = filled.get((queue, at), 0) + min(div, count - (at - row) * div)
            capacity = image.value("queues", queue, "capacity")
            items_there = filled[queue, at]
            _require(items_there <= capacity, f"puts {items_there} items where {capacity} fit", where)
