"""`run`: execute an arena, the smallest (time, actor) first, until a time, a number of instructions or a result.

One instruction is atomic at its begin; it takes the time that it returns. The actor goes on without touching
the calendar while it stays the smallest ("run-ahead"), which changes no result.
"""

from __future__ import annotations

from . import opcodes as O
from . import tables as T
from .actors import NO_KEY, enqueue, leave_softirq, raise_vector, schedule, wake
from .arithmetic import alu, draw, holds, random_step
from .calendar import post, runner_up, time_of
from .jit import Array, kernel
from .lines import touch
from .locks import release_lock, take_lock
from .queues import pop, push, splice


@kernel
def trace(arena: Array, now: int, took: int, context: int, pc: int, item: int, line: int, before: int) -> None:
    """Write a row of the trace ring."""
    row = arena[T.H_AT_TRACE] + T.TRACE_WORDS * (arena[T.H_TRACE_COUNT] % arena[T.H_TRACE_ROWS])
    arena[row + T.T_TIME] = now
    arena[row + T.T_DURATION] = took
    arena[row + T.T_CONTEXT] = context
    arena[row + T.T_PC] = pc
    arena[row + T.T_ITEM] = item
    arena[row + T.T_LINE] = line
    arena[row + T.T_BEFORE] = before
    arena[row + T.T_AFTER] = arena[line + T.L_OWNER] if line >= 0 else -1
    arena[T.H_TRACE_COUNT] += 1


@kernel
def fault(arena: Array, status: int, actor: int, pc: int) -> int:
    """End the run with a result."""
    arena[T.H_STATUS] = status
    arena[T.H_FAULT_ACTOR] = actor
    arena[T.H_FAULT_PC] = pc
    return status


@kernel
def ended(arena: Array) -> int:
    """How a run ends in which nothing will ever happen: all have stopped, or some sleep or spin for ever."""
    for i in range(arena[T.H_CPUS], arena[T.H_CONTEXTS]):
        if arena[arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * i + T.X_STATE] != T.STOPPED:
            return T.DEADLOCK
    for i in range(arena[T.H_CPUS]):
        if arena[arena[T.H_AT_CPU] + T.CPU_WORDS * i + T.C_STATE] == T.SPINNING:
            return T.DEADLOCK
    return T.HALTED


@kernel
def run(arena: Array, steps: int) -> int:
    """Execute at most `steps` instructions; return a status (see `tables.STATUS_NAMES`).

    The run stops before the first event at or after the header's ``until``. It can be continued with a later
    ``until``, in slices of any size: the same instructions are executed in the same order.
    """
    if arena[T.H_STATUS] > T.REACHED:
        return arena[T.H_STATUS]
    arena[T.H_STATUS] = T.MORE
    cpus = arena[T.H_CPUS]
    threads = arena[T.H_THREADS]
    at_cpu = arena[T.H_AT_CPU]
    at_context = arena[T.H_AT_CONTEXT]
    at_code = arena[T.H_AT_CODE]
    at_profile = arena[T.H_AT_PROFILE]
    symbols = arena[T.H_SYMBOLS]
    root = arena[T.H_AT_TREE] + 1
    until = arena[T.H_UNTIL]
    chunk = arena[T.H_CHUNK_PS]
    smt = arena[T.H_SMT_PERMILLE]
    tracing = arena[T.H_TRACE_ROWS]
    done = 0
    while True:
        key = arena[root]
        actor = key & T.ID_MASK
        now = key >> T.ID_BITS
        if now >= until or now >= T.INF:
            if now < T.INF:
                if until > arena[T.H_NOW]:
                    arena[T.H_NOW] = until
                    arena[T.H_SAME_TIME] = 0
                arena[T.H_STATUS] = T.REACHED
            else:
                arena[T.H_STATUS] = ended(arena)
            break
        bound = min(runner_up(arena, actor), until << T.ID_BITS)
        is_cpu = actor < cpus
        cpu = at_cpu + T.CPU_WORDS * actor
        if is_cpu and arena[cpu + T.C_STATE] == T.IDLE:
            arena[cpu + T.C_IDLE] += now - arena[cpu + T.C_IDLE_SINCE]
            arena[cpu + T.C_STATE] = T.RUNNING
        posted = False
        while ((now << T.ID_BITS) | actor) < bound and done < steps:
            if is_cpu:
                context = schedule(arena, actor, cpu, now)
                if context == -1:
                    posted = True
                    break
                if context == -2:
                    now += arena[T.H_SWITCH_PS]
                    continue
            else:
                context = threads + actor
            x = at_context + T.CONTEXT_WORDS * context
            reg = x + T.X_REG
            pc = arena[x + T.X_PC]
            i = at_code + O.INSTRUCTION_WORDS * pc
            op = arena[i]
            a = arena[i + 1]
            b = arena[i + 2]
            c = arena[i + 3]
            d = arena[i + 4]
            e = arena[i + 5]
            arena[x + T.X_PC] = pc + 1
            took = 0
            woken = NO_KEY
            line = -1
            before = -1
            stop = False
            if op == O.WORK:
                took = arena[x + T.X_LEFT]
                if took == 0:
                    took = a
                    if b >= 0:
                        took += arena[reg + b] * c // 1000
                        if d != 0:
                            streamed = arena[reg + b] >> 5  # lines read and lines written
                            arena[arena[T.H_AT_CORE] + arena[cpu + T.C_CORE]] += streamed
                            arena[arena[T.H_AT_SOCKET] + arena[cpu + T.C_SOCKET]] += streamed
                if is_cpu:
                    if chunk > 0 and took > chunk and context != actor:
                        arena[x + T.X_LEFT] = took - chunk
                        arena[x + T.X_PC] = pc
                        took = chunk
                    else:
                        arena[x + T.X_LEFT] = 0
                    sibling = arena[cpu + T.C_SIBLING]
                    if sibling >= 0 and arena[at_cpu + T.CPU_WORDS * sibling + T.C_STATE] == T.RUNNING:
                        took = took * smt // 1000
            elif op == O.ACCESS:
                line = b
                if c >= 0:
                    line += arena[reg + c] * d
                before = arena[line + T.L_OWNER]
                took = touch(arena, cpu, line, a, now)
            elif op == O.LOAD:
                cell = a
                if c >= 0:
                    cell += arena[reg + c] * b
                arena[reg + d] = arena[cell]
            elif op == O.STORE or op == O.ADD:
                cell = a
                if c >= 0:
                    cell += arena[reg + c] * b
                value = e
                if d >= 0:
                    value = arena[reg + d]
                if op == O.ADD:
                    value += arena[cell]
                arena[cell] = value
            elif op == O.BRANCH:
                value = d
                if c >= 0:
                    value = arena[reg + c]
                if holds(a, arena[reg + b], value):
                    arena[x + T.X_PC] = e
            elif op == O.POP:
                queue = a
                if b >= 0:
                    queue += arena[reg + b] * T.QUEUE_WORDS
                item = pop(arena, queue, now)
                if item >= 0:
                    arena[reg + c] = item
                elif d >= 0:
                    arena[x + T.X_PC] = d
                else:
                    fault(arena, T.EXHAUSTED, actor, pc)
                    stop = True
            elif op == O.PUSH:
                queue = a
                if b >= 0:
                    queue += arena[reg + b] * T.QUEUE_WORDS
                pushed = push(arena, queue, arena[reg + c], e, now)
                if pushed == T.EXHAUSTED and d >= 0:
                    arena[x + T.X_PC] = d
                elif pushed != T.MORE:
                    fault(arena, pushed, actor, pc)
                    stop = True
            elif op == O.JUMP:
                arena[x + T.X_PC] = a
            elif op == O.CALL:
                arena[x + T.X_STACK + arena[x + T.X_SP]] = pc + 1
                arena[x + T.X_SP] += 1
                arena[x + T.X_PC] = a
            elif op == O.RET:
                arena[x + T.X_SP] -= 1
                arena[x + T.X_PC] = arena[x + T.X_STACK + arena[x + T.X_SP]]
            elif op == O.SET:
                arena[reg + a] = arena[reg + b] if b >= 0 else c
            elif op == O.ALU:
                arena[reg + b] = alu(a, arena[reg + c], arena[reg + d] if d >= 0 else e)
            elif op == O.LOOP:
                arena[reg + a] -= 1
                if arena[reg + a] > 0:
                    arena[x + T.X_PC] = b
            elif op == O.KEY:
                if a == 0:
                    arena[x + T.X_PC] = b
            elif op == O.COUNT:
                arena[a] += arena[reg + b] if b >= 0 else c
            elif op == O.QLEN or op == O.PEEK:
                queue = a
                if b >= 0:
                    queue += arena[reg + b] * T.QUEUE_WORDS
                if op == O.QLEN:
                    arena[reg + c] = arena[queue + T.Q_LENGTH]
                elif arena[queue + T.Q_HEAD] >= 0:
                    arena[reg + c] = arena[queue + T.Q_HEAD]
                elif d >= 0:
                    arena[x + T.X_PC] = d
                else:
                    fault(arena, T.EXHAUSTED, actor, pc)
                    stop = True
            elif op == O.SPLICE:
                source = a
                if b >= 0:
                    source += arena[reg + b] * T.QUEUE_WORDS
                to = c
                if d >= 0:
                    to += arena[reg + d] * T.QUEUE_WORDS
                splice(arena, source, to, now)
            elif op == O.LOCK:
                lock = a
                if b >= 0:
                    lock += arena[reg + b] * T.LOCK_WORDS
                line = arena[lock + T.K_LINE]
                before = arena[line + T.L_OWNER]
                took = take_lock(arena, actor, cpu, lock, now)
                if took < 0:
                    took = 0
                    post(arena, actor, T.INF)
                    posted = True
                    stop = True
            elif op == O.UNLOCK:
                lock = a
                if b >= 0:
                    lock += arena[reg + b] * T.LOCK_WORDS
                line = arena[lock + T.K_LINE]
                before = arena[line + T.L_OWNER]
                woken = release_lock(arena, cpu, lock, now)
                took = arena[T.H_HIT_PS]
            elif op == O.RAISE:
                number = arena[reg + a] if a >= 0 else actor
                woken = raise_vector(arena, number, b, now + c)
            elif op == O.END:
                leave_softirq(arena, cpu, now)
            elif op == O.WAKE:
                first = cpus if a == O.THREADS else cpus + threads
                woken = wake(arena, first + arena[reg + b], now, c)
            elif op == O.SLEEP:
                if arena[x + T.X_TOKEN] != 0:
                    arena[x + T.X_TOKEN] = 0
                else:
                    arena[x + T.X_STATE] = T.SLEEPING
                    if is_cpu:
                        arena[cpu + T.C_CURRENT] = -1
                    else:
                        post(arena, actor, T.INF)
                        posted = True
                        stop = True
            elif op == O.YIELD:
                if arena[cpu + T.C_RQ_HEAD] >= 0:
                    enqueue(arena, cpu, context)
                    arena[cpu + T.C_CURRENT] = -1
            elif op == O.RAND:
                arena[x + T.X_RNG] = random_step(arena[x + T.X_RNG])
                arena[reg + a] = draw(b, arena[x + T.X_RNG], c)
            elif op == O.NOW:
                arena[reg + a] = now
            else:  # HALT
                arena[x + T.X_STATE] = T.STOPPED
                if is_cpu:
                    arena[cpu + T.C_CURRENT] = -1
                else:
                    post(arena, actor, T.INF)
                    posted = True
                    stop = True
            done += 1
            arena[x + T.X_INSTRUCTIONS] += 1
            if tracing > 0:
                trace(arena, now, took, context, pc, arena[reg], line, before)
            if now > arena[T.H_NOW]:
                arena[T.H_NOW] = now
                arena[T.H_SAME_TIME] = 0
            arena[T.H_SAME_TIME] += 1
            if arena[T.H_SAME_TIME] > T.LIVELOCK_STEPS:
                fault(arena, T.LIVELOCK, actor, pc)
                stop = True
            if took > 0:
                if is_cpu:
                    row = actor if context == actor else cpus + actor
                    arena[at_profile + row * symbols + arena[i + O.SYMBOL_WORD]] += took
                now += took
            if woken < bound:
                bound = woken
            if stop:
                break
        if not posted:
            post(arena, actor, now)
        if arena[T.H_STATUS] != T.MORE:
            break
        if done >= steps:
            break
    arena[T.H_STEPS] += done
    return arena[T.H_STATUS]


@kernel
def reset_statistics(arena: Array) -> None:
    """Forget what was counted so far: the end of the warm-up. What is queued, held or owned stays."""
    now = arena[T.H_UNTIL] if arena[T.H_STATUS] == T.REACHED else arena[T.H_NOW]
    arena[T.H_RESET_TIME] = now
    arena[T.H_TRANSFERS] = 0
    arena[T.H_LLC_READS] = 0
    arena[T.H_MEMORY_READS] = 0
    for i in range(arena[T.H_AT_PROFILE], arena[T.H_AT_CELL]):
        arena[i] = 0
    for i in range(arena[T.H_CPUS]):
        cpu = arena[T.H_AT_CPU] + T.CPU_WORDS * i
        arena[cpu + T.C_IDLE] = 0
        arena[cpu + T.C_BASE] = max(now, time_of(arena, i))
        if arena[cpu + T.C_STATE] == T.IDLE:
            arena[cpu + T.C_IDLE_SINCE] = max(arena[cpu + T.C_IDLE_SINCE], now)
            arena[cpu + T.C_BASE] = arena[cpu + T.C_IDLE_SINCE]
        elif arena[cpu + T.C_STATE] == T.SPINNING:
            arena[cpu + T.C_SPIN_SINCE] = max(arena[cpu + T.C_SPIN_SINCE], now)
            arena[cpu + T.C_BASE] = arena[cpu + T.C_SPIN_SINCE]
    for i in range(arena[T.H_CONTEXTS]):
        arena[arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * i + T.X_INSTRUCTIONS] = 0
    for i in range(arena[T.H_LINE_ROWS]):
        arena[arena[T.H_AT_LINE] + T.LINE_WORDS * i + T.L_TRANSFERS] = 0
    for i in range(arena[T.H_LOCK_ROWS]):
        lock = arena[T.H_AT_LOCK] + T.LOCK_WORDS * i
        arena[lock + T.K_ACQUIRED] = 0
        arena[lock + T.K_CONTENDED] = 0
        arena[lock + T.K_WAIT_PS] = 0
    for i in range(arena[T.H_QUEUE_ROWS]):
        queue = arena[T.H_AT_QUEUE] + T.QUEUE_WORDS * i
        arena[queue + T.Q_MAX] = arena[queue + T.Q_LENGTH]
        arena[queue + T.Q_AREA] = 0
        arena[queue + T.Q_SINCE] = max(arena[queue + T.Q_SINCE], now)
