"""The arena's tables, declared once as data: the words of a row, in order.

All state of a run is one int64 array. Its first words are the header; every other table starts where the
header says. `sim.engine.build` lays the tables out, `sim.engine.run` changes them, the SimPy reference
writes the same words from its own objects, and a page reads them through a BigInt64Array.

A word is declared as a constant with the table's prefix, since Numba takes module-level integers as
constants; the tuples of names (`HEADER`, `CPU`, ...) are read off these constants.
"""

from __future__ import annotations

from typing import Final


def _names(prefix: str) -> tuple[str, ...]:
    """Names of a table's words in order: the constants of this module that begin with the prefix."""
    words = {n[len(prefix) :].lower(): v for n, v in globals().items() if n.startswith(prefix)}
    return tuple(sorted(words, key=lambda name: words[name]))


MAGIC: Final = 0x5258_5041_5448  # "RXPATH"
VERSION: Final = 1
INF: Final = 1 << 52  # picoseconds: 75 minutes, later than any run
ID_BITS: Final = 10  # a calendar key is time << ID_BITS | actor
ID_MASK: Final = (1 << ID_BITS) - 1
NEVER: Final = -(1 << 50)  # a line's stamp before anyone touched it
LIVELOCK_STEPS: Final = 1_000_000  # instructions at one instant before a run counts as a livelock

# "halted": every context has stopped by itself; "corrupted": an item was put on a second queue, as the kernel's list
# debugging reports it; the other results of a run are what their names say.
MORE, REACHED, DEADLOCK, LIVELOCK, EXHAUSTED, HALTED, CORRUPTED = range(7)
STATUS_NAMES: Final = ("more", "reached", "deadlock", "livelock", "exhausted", "halted", "corrupted")

# Costs of the machine: the order of the spec's machine section and of these header words is the same.
(
    H_MAGIC, H_WORDS, H_STATUS, H_NOW, H_UNTIL, H_STEPS, H_SAME_TIME, H_FAULT_ACTOR, H_FAULT_PC,
    H_TRACE_ROWS, H_TRACE_COUNT, H_TRANSFERS, H_LLC_READS, H_MEMORY_READS, H_RESET_TIME,
    H_CPUS, H_CONTEXTS, H_THREADS, H_AGENTS, H_LEAVES, H_SYMBOLS, H_STATS, H_CODE_ROWS, H_LINE_ROWS,
    H_LOCK_ROWS, H_QUEUE_ROWS, H_CORES, H_VECTOR0, H_VECTOR1, H_VECTOR2, H_VECTOR3,
    H_AT_CPU, H_AT_CONTEXT, H_AT_TREE, H_AT_LINE, H_AT_LOCK, H_AT_QUEUE, H_AT_CODE, H_AT_CORE, H_AT_SOCKET,
    H_AT_PROFILE, H_AT_STAT, H_AT_CELL, H_AT_LINK, H_AT_TRACE, H_AT_VALUE, H_AT_SET, H_VALUES,
    H_HIT_PS, H_SIBLING_PS, H_SAME_SOCKET_PS, H_OTHER_SOCKET_PS, H_SHARED_READ_PS, H_MEMORY_PS, H_ATOMIC_PS,
    H_L2_LINES, H_LLC_LINES, H_SMT_PERMILLE, H_TICKET_PERMILLE, H_TICKET_WAITER_PERMILLE, H_QUEUED_PERMILLE,
    H_SWITCH_PS, H_IDLE_EXIT_PS, H_CHUNK_PS, H_SLICE_PS, H_KSOFTIRQD_AFTER_PS, H_KSOFTIRQD_SLICE_PS,
    H_KSOFTIRQD_BLOCKS_IRQ, H_SOCKETS, H_CORES_PER_SOCKET, H_THREADS_PER_CORE,
) = range(71)
HEADER: Final = _names("H_")
HEADER_WORDS: Final = len(HEADER)
MACHINE_FIELDS: Final = HEADER[H_HIT_PS:]

# A CPU. SOFT is 1 while its softirq context runs; V0..V3 are the times of pending vectors, V_NEXT their least.
(
    C_CORE, C_SOCKET, C_SIBLING, C_STATE, C_SOFT, C_CURRENT, C_RQ_HEAD, C_RQ_TAIL, C_LOCKS, C_V_NEXT,
    C_V0, C_V1, C_V2, C_V3, C_BH_SINCE, C_THROTTLE, C_SLICE_SINCE, C_IDLE_SINCE, C_IDLE, C_SPIN_SINCE,
    C_LOCK_NEXT, C_SPIN_LOCK, C_ACCESS_LINE, C_ACCESS_END, C_ACCESS_KIND, C_BASE,
) = range(26)
CPU: Final = _names("C_")
CPU_WORDS: Final = len(CPU)
IDLE, RUNNING, SPINNING = range(3)

# A context: the softirq of a CPU, a thread, or an agent (a NIC queue, a sender). Registers and stack follow.
(X_PC, X_SP, X_STATE, X_HOME, X_KIND, X_TOKEN, X_NEXT, X_LEFT, X_RNG, X_INSTRUCTIONS) = range(10)
CONTEXT: Final = (*_names("X_"), *(f"r{i}" for i in range(16)), *(f"s{i}" for i in range(8)))
X_REG: Final = 10
X_STACK: Final = 26
CONTEXT_WORDS: Final = len(CONTEXT)
READY, SLEEPING, STOPPED = range(3)
SOFTIRQ, THREAD, AGENT = range(3)

# A cache line. Owner and sharers are cores; stamps are positions on the core's and the socket's line clocks.
(
    L_OWNER, L_SHARERS0, L_SHARERS1, L_FREE, L_STAMP, L_SOCKET_STAMP, L_SOCKET, L_TRANSFERS,
) = range(8)
LINE: Final = _names("L_")
LINE_WORDS: Final = len(LINE)
SHARER_BITS: Final = 56

# A spinlock; its word lies on a line (an arena offset), so it moves with that line's neighbours.
(
    K_HOLDER, K_HEAD, K_TAIL, K_WAITERS, K_LINE, K_KIND, K_ACQUIRED, K_CONTENDED, K_WAIT_PS,
) = range(9)
LOCK: Final = _names("K_")
LOCK_WORDS: Final = len(LOCK)
TICKET, QUEUED = range(2)

LAST: Final = -1  # link of the last item of a queue
UNLINKED: Final = -2  # link of an item that is on no queue

# A queue of items chained through the link table of their domain (an arena offset).
(Q_HEAD, Q_TAIL, Q_LENGTH, Q_CAPACITY, Q_LINK, Q_MAX, Q_AREA, Q_SINCE) = range(8)
QUEUE: Final = _names("Q_")
QUEUE_WORDS: Final = len(QUEUE)

(T_TIME, T_DURATION, T_CONTEXT, T_PC, T_ITEM, T_LINE, T_BEFORE, T_AFTER) = range(8)
TRACE: Final = _names("T_")
TRACE_WORDS: Final = len(TRACE)

#: Sections of a spec image: the words of one row.
SECTIONS: Final = {
    "knobs": ("value",),
    "values": ("fn", "a", "b", "c"),
    "domains": ("count",),
    "tables": ("domain", "columns"),
    "lines": ("domain", "per_row"),
    "locks": ("domain", "lines", "line", "kind"),
    "queues": ("domain", "items", "capacity"),
    "inits": ("table", "column", "draw", "base", "div", "mod", "mul"),
    "fills": ("queue", "row", "first", "count", "div"),
    "spawns": ("kind", "entry", "count", "base", "div", "mod", "mul", "start", "stagger"),
    "vectors": ("entry",),
    "code": ("op", "a", "b", "c", "d", "e", "symbol", "mask"),
    "machine": ("value",),
}
SPEC_MAGIC: Final = 0x5258_5350_4543  # "RXSPEC"
S_MAGIC, S_VERSION, S_WORDS, S_SYMBOLS, S_STATS, S_SEED, S_TRACE_ROWS, S_SECTION = range(8)
SPEC_HEADER: Final = (
    "magic", "version", "words", "symbols", "stats", "seed", "trace_rows",
    *(f"{word}_{name}" for name in SECTIONS for word in ("at", "n")),
)
SPEC_HEADER_WORDS: Final = len(SPEC_HEADER)
(
    S_KNOBS, S_VALUES, S_DOMAINS, S_TABLES, S_LINES, S_LOCKS, S_QUEUES, S_INITS, S_FILLS, S_SPAWNS, S_VECTORS,
    S_CODE, S_MACHINE,
) = range(7, 33, 2)

# Functions of the values table (see `sim.expression`).
(
    V_CONST, V_KNOB, V_ADD, V_SUB, V_MUL, V_DIV, V_MOD, V_MIN, V_MAX, V_EQ, V_LT, V_SELECT,
) = range(12)
VALUE_FUNCTIONS: Final = _names("V_")

# Draws of an init row.
LINEAR, RANDOM = range(2)
