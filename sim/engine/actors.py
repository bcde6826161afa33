"""CPUs, their interrupts and run queues; threads and agents going to sleep and waking."""

from __future__ import annotations

from . import tables as T
from .calendar import post, time_of
from .jit import Array, kernel
from .opcodes import VECTOR_COUNT

NO_KEY = (T.INF << T.ID_BITS) | T.ID_MASK


@kernel
def enqueue(arena: Array, cpu: int, context: int) -> None:
    """Put a thread at the tail of a CPU's run queue (cpu is an arena offset)."""
    at = arena[T.H_AT_CONTEXT]
    arena[at + T.CONTEXT_WORDS * context + T.X_NEXT] = -1
    tail = arena[cpu + T.C_RQ_TAIL]
    if tail < 0:
        arena[cpu + T.C_RQ_HEAD] = context
    else:
        arena[at + T.CONTEXT_WORDS * tail + T.X_NEXT] = context
    arena[cpu + T.C_RQ_TAIL] = context


@kernel
def dequeue(arena: Array, cpu: int) -> int:
    """Take the thread at the head of a CPU's run queue, which must not be empty."""
    context = arena[cpu + T.C_RQ_HEAD]
    row = arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * context
    arena[cpu + T.C_RQ_HEAD] = arena[row + T.X_NEXT]
    if arena[cpu + T.C_RQ_HEAD] < 0:
        arena[cpu + T.C_RQ_TAIL] = -1
    arena[row + T.X_NEXT] = -1
    return context


@kernel
def rouse(arena: Array, number: int, time: int) -> int:
    """Let an idle CPU look for work at a time at the latest; return its new key, or a key never reached."""
    cpu = arena[T.H_AT_CPU] + T.CPU_WORDS * number
    if arena[cpu + T.C_STATE] == T.IDLE:
        at = time + arena[T.H_IDLE_EXIT_PS]
        if at < time_of(arena, number):
            return post(arena, number, at)
    return NO_KEY


@kernel
def raise_vector(arena: Array, number: int, vector: int, time: int) -> int:
    """Make a vector pending on a CPU from a time on (an earlier pending time stays); see `rouse`."""
    cpu = arena[T.H_AT_CPU] + T.CPU_WORDS * number
    if time < arena[cpu + T.C_V0 + vector]:
        arena[cpu + T.C_V0 + vector] = time
        arena[cpu + T.C_V_NEXT] = min(time, arena[cpu + T.C_V_NEXT])
        return rouse(arena, number, time)
    return NO_KEY


@kernel
def wake(arena: Array, context: int, now: int, delay: int) -> int:
    """Make a thread or agent runnable; if it is not asleep the wake-up is kept for its next sleep; see `rouse`."""
    row = arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * context
    if arena[row + T.X_STATE] != T.SLEEPING:
        arena[row + T.X_TOKEN] = 1
        return NO_KEY
    arena[row + T.X_STATE] = T.READY
    if arena[row + T.X_KIND] == T.AGENT:
        return post(arena, arena[row + T.X_HOME], now + delay)
    number = arena[row + T.X_HOME]
    enqueue(arena, arena[T.H_AT_CPU] + T.CPU_WORDS * number, context)
    return rouse(arena, number, now + delay)


@kernel
def enter_softirq(arena: Array, number: int, cpu: int, now: int) -> bool:
    """Start the CPU's softirq context if a vector is due and nothing forbids it.

    A thread that holds a spinlock is not interrupted. After ``ksoftirqd_after_ps`` of softirq without a pause
    waiting threads get a slice first (``throttle``); kernels before 4.12 still let interrupts in
    (``ksoftirqd_blocks_irq`` 0: vector 0 passes).
    """
    if arena[cpu + T.C_V_NEXT] > now or arena[cpu + T.C_LOCKS] > 0:
        return False
    vectors = VECTOR_COUNT
    threads_wait = arena[cpu + T.C_CURRENT] >= 0 or arena[cpu + T.C_RQ_HEAD] >= 0
    if arena[cpu + T.C_THROTTLE] > now and threads_wait:
        if arena[T.H_KSOFTIRQD_BLOCKS_IRQ] != 0 or arena[cpu + T.C_V0] > now:
            return False
        vectors = 1
    first = -1
    for v in range(vectors):
        if arena[cpu + T.C_V0 + v] <= now and (
            first < 0 or arena[cpu + T.C_V0 + v] < arena[cpu + T.C_V0 + first]
        ):
            first = v
    arena[cpu + T.C_V0 + first] = T.INF
    least = T.INF
    for v in range(VECTOR_COUNT):
        least = min(least, arena[cpu + T.C_V0 + v])
    arena[cpu + T.C_V_NEXT] = least
    arena[cpu + T.C_SOFT] = 1
    if arena[cpu + T.C_BH_SINCE] < 0:
        arena[cpu + T.C_BH_SINCE] = now
    row = arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * number
    arena[row + T.X_PC] = arena[T.H_VECTOR0 + first]
    arena[row + T.X_SP] = 0
    arena[row + T.X_LEFT] = 0
    return True


@kernel
def leave_softirq(arena: Array, cpu: int, now: int) -> None:
    """End the softirq; if it has gone on for long and threads wait, they get a slice."""
    arena[cpu + T.C_SOFT] = 0
    after = arena[T.H_KSOFTIRQD_AFTER_PS]
    waiting = arena[cpu + T.C_CURRENT] >= 0 or arena[cpu + T.C_RQ_HEAD] >= 0
    if after > 0 and waiting and now - arena[cpu + T.C_BH_SINCE] > after:
        arena[cpu + T.C_THROTTLE] = now + arena[T.H_KSOFTIRQD_SLICE_PS]
        arena[cpu + T.C_BH_SINCE] = -1


@kernel
def schedule(arena: Array, number: int, cpu: int, now: int) -> int:
    """Choose what a CPU executes: its context number; -1 if it goes idle; -2 if it switched to a thread.

    A switch takes ``switch_ps``, charged to symbol 0; going idle posts the CPU's next vector.
    """
    if arena[cpu + T.C_SOFT] != 0 or enter_softirq(arena, number, cpu, now):
        return number
    current = arena[cpu + T.C_CURRENT]
    if current >= 0:
        slice_ps = arena[T.H_SLICE_PS]
        if (
            arena[cpu + T.C_RQ_HEAD] < 0
            or slice_ps == 0
            or arena[cpu + T.C_LOCKS] > 0
            or now - arena[cpu + T.C_SLICE_SINCE] < slice_ps
        ):
            arena[cpu + T.C_BH_SINCE] = -1
            return current
        enqueue(arena, cpu, current)
        arena[cpu + T.C_CURRENT] = -1
    if arena[cpu + T.C_RQ_HEAD] >= 0:
        arena[cpu + T.C_CURRENT] = dequeue(arena, cpu)
        arena[cpu + T.C_SLICE_SINCE] = now + arena[T.H_SWITCH_PS]
        arena[cpu + T.C_BH_SINCE] = -1
        row = arena[T.H_AT_PROFILE] + (arena[T.H_CPUS] + number) * arena[T.H_SYMBOLS]
        arena[row] += arena[T.H_SWITCH_PS]
        return -2
    arena[cpu + T.C_STATE] = T.IDLE
    arena[cpu + T.C_IDLE_SINCE] = now
    arena[cpu + T.C_BH_SINCE] = -1
    at = arena[cpu + T.C_V_NEXT]
    if at < T.INF:
        at = max(at, now) + arena[T.H_IDLE_EXIT_PS]
    post(arena, number, at)
    return -1
