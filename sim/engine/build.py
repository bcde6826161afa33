"""`build`: lay out an arena from a spec image. Compiled like `run`, so that a page builds for other knobs itself.

The spec is read, never written. If the arena is too small nothing useful is in it and the words needed are
returned; the caller comes again with as many.
"""

from __future__ import annotations

from . import tables as T
from .arithmetic import random_seed, random_step
from .jit import Array, kernel
from .opcodes import (
    ACCESS,
    ADD,
    COUNT,
    CPU_REGISTER,
    INDEX_REGISTER,
    INSTRUCTION_WORDS,
    LOAD,
    LOCK,
    PEEK,
    POP,
    PUSH,
    QLEN,
    SPLICE,
    STORE,
    UNLOCK,
    VECTOR_COUNT,
)


@kernel
def evaluate(arena: Array, spec: Array, at_value: int) -> None:
    """Evaluate the values table row by row into the arena; a row refers to earlier rows only."""
    rows = spec[T.S_VALUES]
    knobs = spec[T.S_KNOBS]
    for i in range(spec[T.S_VALUES + 1]):
        fn = spec[rows + 4 * i]
        a = spec[rows + 4 * i + 1]
        b = spec[rows + 4 * i + 2]
        c = spec[rows + 4 * i + 3]
        if fn == T.V_CONST:
            value = a
        elif fn == T.V_KNOB:
            value = spec[knobs + a]
        else:
            x = arena[at_value + a]
            y = arena[at_value + b]
            if fn == T.V_ADD:
                value = x + y
            elif fn == T.V_SUB:
                value = x - y
            elif fn == T.V_MUL:
                value = x * y
            elif fn == T.V_DIV:
                value = x // y if y != 0 else 0
            elif fn == T.V_MOD:
                value = x % y if y != 0 else 0
            elif fn == T.V_MIN:
                value = min(x, y)
            elif fn == T.V_MAX:
                value = max(x, y)
            elif fn == T.V_EQ:
                value = 1 if x == y else 0
            elif fn == T.V_LT:
                value = 1 if x < y else 0
            else:
                value = y if x != 0 else arena[at_value + c]
        arena[at_value + i] = value


@kernel
def value_of(arena: Array, index: int) -> int:
    """Value of a row of the values table, after `evaluate`."""
    return arena[arena[T.H_AT_VALUE] + index]


@kernel
def domain_rows(arena: Array, spec: Array, domain: int) -> int:
    """Rows of a domain: how many skbs, pages, CPUs, flows there are."""
    return value_of(arena, spec[spec[T.S_DOMAINS] + domain])


@kernel
def place(arena: Array, spec: Array) -> int:
    """Set every offset and count of the header; return the arena's words."""
    n_tables = spec[T.S_TABLES + 1]
    n_lines = spec[T.S_LINES + 1]
    n_locks = spec[T.S_LOCKS + 1]
    n_queues = spec[T.S_QUEUES + 1]
    n_domains = spec[T.S_DOMAINS + 1]
    at_set = arena[T.H_AT_VALUE] + spec[T.S_VALUES + 1]
    arena[T.H_AT_SET] = at_set
    at = at_set + n_tables + n_lines + n_locks + n_queues + n_domains

    sockets = arena[T.H_SOCKETS]
    cores = sockets * arena[T.H_CORES_PER_SOCKET]
    cpus = cores * arena[T.H_THREADS_PER_CORE]
    threads = 0
    agents = 0
    for i in range(spec[T.S_SPAWNS + 1]):
        row = spec[T.S_SPAWNS] + 9 * i
        if spec[row] == T.THREAD:
            threads += value_of(arena, spec[row + 2])
        else:
            agents += value_of(arena, spec[row + 2])
    leaves = 1
    while leaves < cpus + agents:
        leaves *= 2
    arena[T.H_CPUS] = cpus
    arena[T.H_CORES] = cores
    arena[T.H_THREADS] = threads
    arena[T.H_AGENTS] = agents
    arena[T.H_CONTEXTS] = cpus + threads + agents
    arena[T.H_LEAVES] = leaves
    arena[T.H_SYMBOLS] = spec[T.S_SYMBOLS]
    arena[T.H_STATS] = spec[T.S_STATS]
    arena[T.H_CODE_ROWS] = spec[T.S_CODE + 1]
    arena[T.H_TRACE_ROWS] = value_of(arena, spec[T.S_TRACE_ROWS])

    arena[T.H_AT_CPU] = at
    at += cpus * T.CPU_WORDS
    arena[T.H_AT_CONTEXT] = at
    at += arena[T.H_CONTEXTS] * T.CONTEXT_WORDS
    arena[T.H_AT_TREE] = at
    at += 2 * leaves
    arena[T.H_AT_CORE] = at
    at += cores
    arena[T.H_AT_SOCKET] = at
    at += sockets
    arena[T.H_AT_CODE] = at
    at += spec[T.S_CODE + 1] * INSTRUCTION_WORDS
    arena[T.H_AT_PROFILE] = at
    at += 2 * cpus * spec[T.S_SYMBOLS]
    arena[T.H_AT_STAT] = at
    at += spec[T.S_STATS]

    arena[T.H_AT_CELL] = at
    for i in range(n_tables):
        row = spec[T.S_TABLES] + 2 * i
        if at_set + i < arena.shape[0]:
            arena[at_set + i] = at
        at += domain_rows(arena, spec, spec[row]) * spec[row + 1]
    arena[T.H_AT_LINE] = at
    for i in range(n_lines):
        row = spec[T.S_LINES] + 2 * i
        if at_set + n_tables + i < arena.shape[0]:
            arena[at_set + n_tables + i] = at
        at += domain_rows(arena, spec, spec[row]) * value_of(arena, spec[row + 1]) * T.LINE_WORDS
    arena[T.H_LINE_ROWS] = (at - arena[T.H_AT_LINE]) // T.LINE_WORDS
    arena[T.H_AT_LOCK] = at
    for i in range(n_locks):
        row = spec[T.S_LOCKS] + 4 * i
        if at_set + n_tables + n_lines + i < arena.shape[0]:
            arena[at_set + n_tables + n_lines + i] = at
        at += domain_rows(arena, spec, spec[row]) * T.LOCK_WORDS
    arena[T.H_LOCK_ROWS] = (at - arena[T.H_AT_LOCK]) // T.LOCK_WORDS
    arena[T.H_AT_QUEUE] = at
    for i in range(n_queues):
        row = spec[T.S_QUEUES] + 3 * i
        if at_set + n_tables + n_lines + n_locks + i < arena.shape[0]:
            arena[at_set + n_tables + n_lines + n_locks + i] = at
        at += domain_rows(arena, spec, spec[row]) * T.QUEUE_WORDS
    arena[T.H_QUEUE_ROWS] = (at - arena[T.H_AT_QUEUE]) // T.QUEUE_WORDS
    arena[T.H_AT_LINK] = at
    for i in range(n_domains):
        if at_set + n_tables + n_lines + n_locks + n_queues + i < arena.shape[0]:
            arena[at_set + n_tables + n_lines + n_locks + n_queues + i] = at
        at += domain_rows(arena, spec, i)
    arena[T.H_AT_TRACE] = at
    at += arena[T.H_TRACE_ROWS] * T.TRACE_WORDS
    return at


@kernel
def fill_code(arena: Array, spec: Array) -> None:
    """Copy the program; replace value references by numbers and sets by arena offsets."""
    at_set = arena[T.H_AT_SET]
    n_tables = spec[T.S_TABLES + 1]
    n_lines = spec[T.S_LINES + 1]
    lines_at = at_set + n_tables
    locks_at = lines_at + n_lines
    queues_at = locks_at + spec[T.S_LOCKS + 1]
    for i in range(spec[T.S_CODE + 1]):
        source = spec[T.S_CODE] + INSTRUCTION_WORDS * i
        row = arena[T.H_AT_CODE] + INSTRUCTION_WORDS * i
        mask = spec[source + 7]
        for k in range(7):
            word = spec[source + k]
            if (mask >> k) & 1:
                word = value_of(arena, word)
            arena[row + k] = word
        arena[row + 7] = 0
        op = arena[row]
        if op == ACCESS:  # a kind, b first line of row 0 (an offset), c row, d words from row to row
            lines = arena[row + 2]
            per_row = value_of(arena, spec[spec[T.S_LINES] + 2 * lines + 1])
            arena[row + 2] = arena[lines_at + lines] + arena[row + 4] * T.LINE_WORDS
            arena[row + 4] = per_row * T.LINE_WORDS
        elif op == LOCK or op == UNLOCK:
            arena[row + 1] = arena[locks_at + arena[row + 1]]
        elif op == PUSH or op == POP or op == PEEK or op == QLEN or op == SPLICE:
            arena[row + 1] = arena[queues_at + arena[row + 1]]
            if op == SPLICE:
                arena[row + 3] = arena[queues_at + arena[row + 3]]
        elif op == LOAD or op == STORE or op == ADD:  # a the column's offset in row 0, b words from row to row
            table = arena[row + 1]
            arena[row + 1] = arena[at_set + table] + arena[row + 2]
            arena[row + 2] = spec[spec[T.S_TABLES] + 2 * table + 1]
        elif op == COUNT:
            arena[row + 1] = arena[T.H_AT_STAT] + arena[row + 1]


@kernel
def fill_cpus(arena: Array, spec: Array) -> None:
    """CPUs and their softirq contexts. CPU number = thread * cores + core, as Linux numbers siblings on x86."""
    cores = arena[T.H_CORES]
    cpus = arena[T.H_CPUS]
    seed = value_of(arena, spec[T.S_SEED])
    for i in range(cpus):
        row = arena[T.H_AT_CPU] + T.CPU_WORDS * i
        arena[row + T.C_CORE] = i % cores
        arena[row + T.C_SOCKET] = (i % cores) // arena[T.H_CORES_PER_SOCKET]
        arena[row + T.C_SIBLING] = -1
        if arena[T.H_THREADS_PER_CORE] == 2:
            arena[row + T.C_SIBLING] = (i + cores) % cpus
        arena[row + T.C_STATE] = T.IDLE
        arena[row + T.C_CURRENT] = -1
        arena[row + T.C_RQ_HEAD] = -1
        arena[row + T.C_RQ_TAIL] = -1
        arena[row + T.C_LOCK_NEXT] = -1
        arena[row + T.C_SPIN_LOCK] = -1
        arena[row + T.C_ACCESS_LINE] = -1
        arena[row + T.C_BH_SINCE] = -1
        arena[row + T.C_V_NEXT] = T.INF
        for v in range(VECTOR_COUNT):
            arena[row + T.C_V0 + v] = T.INF
    for i in range(arena[T.H_CONTEXTS]):
        row = arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * i
        arena[row + T.X_NEXT] = -1
        arena[row + T.X_RNG] = random_seed(seed, i + 1)
        if i < cpus:
            arena[row + T.X_KIND] = T.SOFTIRQ
            arena[row + T.X_HOME] = i
            arena[row + T.X_REG + CPU_REGISTER] = i
            arena[row + T.X_REG + INDEX_REGISTER] = i
    for v in range(VECTOR_COUNT):
        arena[T.H_VECTOR0 + v] = -1
        if v < spec[T.S_VECTORS + 1]:
            arena[T.H_VECTOR0 + v] = spec[spec[T.S_VECTORS] + v]


@kernel
def fill_memory(arena: Array, spec: Array) -> None:
    """Lines nobody touched, free locks, empty queues, then the cells and queues that the spec fills."""
    at_set = arena[T.H_AT_SET]
    n_tables = spec[T.S_TABLES + 1]
    n_lines = spec[T.S_LINES + 1]
    n_locks = spec[T.S_LOCKS + 1]
    n_queues = spec[T.S_QUEUES + 1]
    seed = value_of(arena, spec[T.S_SEED])
    for i in range(arena[T.H_LINE_ROWS]):
        row = arena[T.H_AT_LINE] + T.LINE_WORDS * i
        arena[row + T.L_OWNER] = -1
        arena[row + T.L_STAMP] = T.NEVER
        arena[row + T.L_SOCKET_STAMP] = T.NEVER
        arena[row + T.L_SOCKET] = -1
    for s in range(n_locks):
        source = spec[T.S_LOCKS] + 4 * s
        lines = spec[source + 1]
        per_row = value_of(arena, spec[spec[T.S_LINES] + 2 * lines + 1])
        for i in range(domain_rows(arena, spec, spec[source])):
            row = arena[at_set + n_tables + n_lines + s] + T.LOCK_WORDS * i
            arena[row + T.K_HOLDER] = -1
            arena[row + T.K_HEAD] = -1
            arena[row + T.K_TAIL] = -1
            line = i * per_row + value_of(arena, spec[source + 2])
            arena[row + T.K_LINE] = arena[at_set + n_tables + lines] + line * T.LINE_WORDS
            arena[row + T.K_KIND] = value_of(arena, spec[source + 3])
    links = at_set + n_tables + n_lines + n_locks + n_queues
    for s in range(n_queues):
        source = spec[T.S_QUEUES] + 3 * s
        for i in range(domain_rows(arena, spec, spec[source])):
            row = arena[at_set + n_tables + n_lines + n_locks + s] + T.QUEUE_WORDS * i
            arena[row + T.Q_HEAD] = -1
            arena[row + T.Q_TAIL] = -1
            arena[row + T.Q_CAPACITY] = value_of(arena, spec[source + 2])
            arena[row + T.Q_LINK] = arena[links + spec[source + 1]]
    for s in range(spec[T.S_DOMAINS + 1]):
        for i in range(domain_rows(arena, spec, s)):
            arena[arena[links + s] + i] = T.UNLINKED
    for s in range(spec[T.S_INITS + 1]):
        source = spec[T.S_INITS] + 7 * s
        table = spec[source]
        base = value_of(arena, spec[source + 3])
        div = max(1, value_of(arena, spec[source + 4]))
        mod = max(1, value_of(arena, spec[source + 5]))
        mul = value_of(arena, spec[source + 6])
        columns = spec[spec[T.S_TABLES] + 2 * table + 1]
        state = random_seed(seed, 1_000_003 + s)
        for i in range(domain_rows(arena, spec, spec[spec[T.S_TABLES] + 2 * table])):
            step = (i // div) % mod
            if spec[source + 2] == T.RANDOM:
                state = random_step(state)
                step = (state * mod) >> 32
            arena[arena[at_set + table] + columns * i + spec[source + 1]] = base + step * mul
    for s in range(spec[T.S_FILLS + 1]):
        source = spec[T.S_FILLS] + 5 * s
        first = value_of(arena, spec[source + 2])
        div = max(1, value_of(arena, spec[source + 4]))
        for i in range(value_of(arena, spec[source + 3])):
            row = value_of(arena, spec[source + 1]) + i // div
            queue = arena[at_set + n_tables + n_lines + n_locks + spec[source]] + T.QUEUE_WORDS * row
            item = first + i
            if arena[queue + T.Q_TAIL] < 0:
                arena[queue + T.Q_HEAD] = item
            else:
                arena[arena[queue + T.Q_LINK] + arena[queue + T.Q_TAIL]] = item
            arena[arena[queue + T.Q_LINK] + item] = T.LAST
            arena[queue + T.Q_TAIL] = item
            arena[queue + T.Q_LENGTH] += 1
            arena[queue + T.Q_MAX] = arena[queue + T.Q_LENGTH]


@kernel
def fill_contexts(arena: Array, spec: Array) -> None:
    """Threads on their run queues, agents and the calendar."""
    cpus = arena[T.H_CPUS]
    leaves = arena[T.H_LEAVES]
    tree = arena[T.H_AT_TREE]
    for i in range(leaves):
        arena[tree + leaves + i] = (T.INF << T.ID_BITS) | i
    thread = cpus
    agent = cpus + arena[T.H_THREADS]
    for s in range(spec[T.S_SPAWNS + 1]):
        source = spec[T.S_SPAWNS] + 9 * s
        base = value_of(arena, spec[source + 3])
        div = max(1, value_of(arena, spec[source + 4]))
        mod = max(1, value_of(arena, spec[source + 5]))
        mul = value_of(arena, spec[source + 6])
        for i in range(value_of(arena, spec[source + 2])):
            cpu = base + ((i // div) % mod) * mul
            if spec[source] == T.THREAD:
                context = thread
                thread += 1
            else:
                context = agent
                agent += 1
            row = arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * context
            arena[row + T.X_KIND] = spec[source]
            arena[row + T.X_PC] = spec[source + 1]
            arena[row + T.X_REG + INDEX_REGISTER] = i
            if spec[source] == T.THREAD:
                arena[row + T.X_HOME] = cpu
                arena[row + T.X_REG + CPU_REGISTER] = cpu
                c = arena[T.H_AT_CPU] + T.CPU_WORDS * cpu
                if arena[c + T.C_RQ_TAIL] < 0:
                    arena[c + T.C_RQ_HEAD] = context
                else:
                    tail = arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * arena[c + T.C_RQ_TAIL]
                    arena[tail + T.X_NEXT] = context
                arena[c + T.C_RQ_TAIL] = context
                arena[tree + leaves + cpu] = cpu
            else:
                actor = context - arena[T.H_THREADS]
                arena[row + T.X_HOME] = actor
                start = value_of(arena, spec[source + 7]) + i * value_of(arena, spec[source + 8])
                arena[tree + leaves + actor] = (start << T.ID_BITS) | actor
    for i in range(leaves - 1, 0, -1):
        arena[tree + i] = min(arena[tree + 2 * i], arena[tree + 2 * i + 1])


@kernel
def build(arena: Array, spec: Array) -> int:
    """Make the arena of a spec.

    Returns the words needed. The arena holds a run at time 0 if it has at least that many.
    """
    floor = T.HEADER_WORDS + spec[T.S_VALUES + 1]
    if arena.shape[0] < floor:
        return floor
    arena[:] = 0
    arena[T.H_AT_VALUE] = T.HEADER_WORDS
    arena[T.H_VALUES] = spec[T.S_VALUES + 1]
    evaluate(arena, spec, T.HEADER_WORDS)
    for i in range(spec[T.S_MACHINE + 1]):
        arena[T.H_HIT_PS + i] = value_of(arena, spec[spec[T.S_MACHINE] + i])
    words = place(arena, spec)
    if words > arena.shape[0]:
        return words
    arena[T.H_MAGIC] = T.MAGIC
    arena[T.H_WORDS] = words
    arena[T.H_UNTIL] = T.INF
    arena[T.H_FAULT_ACTOR] = -1
    arena[T.H_FAULT_PC] = -1
    fill_code(arena, spec)
    fill_cpus(arena, spec)
    fill_memory(arena, spec)
    fill_contexts(arena, spec)
    return words
