"""Spinlocks: taken in arrival order; the lock's word lies on a cache line like any other field."""

from __future__ import annotations

from . import opcodes as O
from . import tables as T
from .actors import NO_KEY
from .calendar import post
from .jit import Array, kernel
from .lines import hand_over_ps, touch


@kernel
def take_lock(arena: Array, number: int, cpu: int, lock: int, now: int) -> int:
    """Take a spinlock: the time it takes, or -1 if the CPU now spins for it."""
    took = touch(arena, cpu, arena[lock + T.K_LINE], O.ATOMIC, now)
    arena[cpu + T.C_LOCKS] += 1
    arena[lock + T.K_ACQUIRED] += 1
    if arena[lock + T.K_HOLDER] < 0:
        arena[lock + T.K_HOLDER] = number
        return took
    arena[lock + T.K_CONTENDED] += 1
    arena[cpu + T.C_LOCK_NEXT] = -1
    if arena[lock + T.K_TAIL] < 0:
        arena[lock + T.K_HEAD] = number
    else:
        arena[arena[T.H_AT_CPU] + T.CPU_WORDS * arena[lock + T.K_TAIL] + T.C_LOCK_NEXT] = number
    arena[lock + T.K_TAIL] = number
    arena[lock + T.K_WAITERS] += 1
    arena[cpu + T.C_STATE] = T.SPINNING
    arena[cpu + T.C_SPIN_SINCE] = now
    arena[cpu + T.C_SPIN_LOCK] = lock
    return -1


@kernel
def release_lock(arena: Array, cpu: int, lock: int, now: int) -> int:
    """Release a spinlock; the next waiter's key, or a key never reached.

    The release is a posted store: it does not stall its CPU, but it takes the line.
    """
    line = arena[lock + T.K_LINE]
    arena[cpu + T.C_LOCKS] -= 1
    number = arena[lock + T.K_HEAD]
    if number < 0:
        arena[lock + T.K_HOLDER] = -1
        touch(arena, cpu, line, O.WRITE, now)
        return NO_KEY
    waiter = arena[T.H_AT_CPU] + T.CPU_WORDS * number
    arena[lock + T.K_HEAD] = arena[waiter + T.C_LOCK_NEXT]
    if arena[lock + T.K_HEAD] < 0:
        arena[lock + T.K_TAIL] = -1
    arena[lock + T.K_WAITERS] -= 1
    arena[lock + T.K_HOLDER] = number
    # the fitted hand-over contains what the waiters' own requests for the word cost: it begins at the release
    at = now + hand_over_ps(arena, cpu, waiter, arena[lock + T.K_KIND], arena[lock + T.K_WAITERS])
    core = arena[waiter + T.C_CORE]
    arena[line + T.L_OWNER] = core
    arena[line + T.L_SHARERS0] = 0
    arena[line + T.L_SHARERS1] = 0
    arena[line + T.L_FREE] = max(arena[line + T.L_FREE], at)
    arena[line + T.L_STAMP] = arena[arena[T.H_AT_CORE] + core]
    arena[line + T.L_SOCKET] = arena[waiter + T.C_SOCKET]
    arena[line + T.L_SOCKET_STAMP] = arena[arena[T.H_AT_SOCKET] + arena[waiter + T.C_SOCKET]]
    arena[line + T.L_TRANSFERS] += 1
    arena[T.H_TRANSFERS] += 1
    waited = at - arena[waiter + T.C_SPIN_SINCE]
    arena[lock + T.K_WAIT_PS] += waited
    soft = arena[waiter + T.C_SOFT]
    context = number if soft else arena[waiter + T.C_CURRENT]
    pc = arena[arena[T.H_AT_CONTEXT] + T.CONTEXT_WORDS * context + T.X_PC] - 1
    symbol = arena[arena[T.H_AT_CODE] + O.INSTRUCTION_WORDS * pc + O.SYMBOL_WORD]
    row = (0 if soft else arena[T.H_CPUS]) + number
    arena[arena[T.H_AT_PROFILE] + row * arena[T.H_SYMBOLS] + symbol] += waited
    arena[waiter + T.C_STATE] = T.RUNNING
    arena[waiter + T.C_SPIN_LOCK] = -1
    return post(arena, number, at)
