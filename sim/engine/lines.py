"""Cache lines: who owns one, what it costs to get it, and how long others wait meanwhile.

A line is owned by one core (modified or exclusive) or shared by several. A request that misses waits until
the line is free, in arrival order, then takes the hand-over; so a hot line is a server with a queue. Caches
are finite by count: each core and each socket has a clock that advances with every line brought in, and a
line whose stamp is further behind than the cache holds lines has left it. Copies of a shared line do not age.
"""

from __future__ import annotations

from . import tables as T
from .jit import Array, kernel
from .opcodes import ATOMIC, READ


@kernel
def transfer_ps(arena: Array, core: int, other: int) -> int:
    """Cost of handing a line from one core to another, ps."""
    if core == other:
        return arena[T.H_SIBLING_PS]
    per_socket = arena[T.H_CORES_PER_SOCKET]
    if core // per_socket == other // per_socket:
        return arena[T.H_SAME_SOCKET_PS]
    return arena[T.H_OTHER_SOCKET_PS]


@kernel
def socket_mask(arena: Array, socket: int, word: int) -> int:
    """Bits of a sharers word that stand for the cores of a socket."""
    per_socket = arena[T.H_CORES_PER_SOCKET]
    low = max(socket * per_socket - word * T.SHARER_BITS, 0)
    high = min((socket + 1) * per_socket - word * T.SHARER_BITS, T.SHARER_BITS)
    if high <= low:
        return 0
    return ((1 << (high - low)) - 1) << low


@kernel
def beyond_core_ps(arena: Array, line: int, socket: int) -> int:
    """Cost of a line that no core's own cache holds: the socket's shared cache or memory, ps."""
    llc_lines = arena[T.H_LLC_LINES]
    at = arena[line + T.L_SOCKET]
    if at >= 0:
        age = arena[arena[T.H_AT_SOCKET] + at] - arena[line + T.L_SOCKET_STAMP]
        if llc_lines == 0 or age <= llc_lines:
            arena[T.H_LLC_READS] += 1
            if at == socket:
                return arena[T.H_SHARED_READ_PS]
            return arena[T.H_OTHER_SOCKET_PS]
    arena[T.H_MEMORY_READS] += 1
    return arena[T.H_MEMORY_PS]


@kernel
def own_ps(arena: Array, line: int, core: int, socket: int) -> int:
    """Cost of a line that this core owns: a hit, or a fetch if it has left the core's own cache, ps."""
    l2_lines = arena[T.H_L2_LINES]
    if l2_lines == 0:
        return arena[T.H_HIT_PS]
    clock = arena[T.H_AT_CORE] + core
    if arena[clock] - arena[line + T.L_STAMP] <= l2_lines:
        cost = arena[T.H_HIT_PS]
    else:
        cost = beyond_core_ps(arena, line, socket)
        arena[clock] += 1
        arena[arena[T.H_AT_SOCKET] + socket] += 1
    arena[line + T.L_STAMP] = arena[clock]
    arena[line + T.L_SOCKET_STAMP] = arena[arena[T.H_AT_SOCKET] + socket]
    return cost


@kernel
def fetch_ps(arena: Array, line: int, kind: int, core: int, socket: int) -> int:
    """Cost of a line that this core lacks, and the change of owner and sharers, ps."""
    owner = arena[line + T.L_OWNER]
    s0 = arena[line + T.L_SHARERS0]
    s1 = arena[line + T.L_SHARERS1]
    word = 0 if core < T.SHARER_BITS else 1
    bit = 1 << (core - word * T.SHARER_BITS)
    alone = False  # nobody else keeps a copy
    if owner >= 0:
        l2_lines = arena[T.H_L2_LINES]
        alone = l2_lines > 0 and arena[arena[T.H_AT_CORE] + owner] - arena[line + T.L_STAMP] > l2_lines
        cost = beyond_core_ps(arena, line, socket) if alone else transfer_ps(arena, core, owner)
        arena[line + T.L_TRANSFERS] += 1
        arena[T.H_TRANSFERS] += 1
        if kind == READ and not alone:
            s0 = 0
            s1 = 0
            if owner < T.SHARER_BITS:
                s0 = 1 << owner
            else:
                s1 = 1 << (owner - T.SHARER_BITS)
    elif s0 != 0 or s1 != 0:
        o0 = s0
        o1 = s1
        if word == 0:
            o0 = s0 & ~bit
        else:
            o1 = s1 & ~bit
        here0 = o0 & socket_mask(arena, socket, 0)  # at least two cores share, so others are left
        here1 = o1 & socket_mask(arena, socket, 1)
        if kind == READ:
            near = here0 != 0 or here1 != 0
            cost = arena[T.H_SHARED_READ_PS] if near else arena[T.H_OTHER_SOCKET_PS]
        else:
            far = here0 != o0 or here1 != o1
            cost = arena[T.H_OTHER_SOCKET_PS] if far else arena[T.H_SAME_SOCKET_PS]
        arena[line + T.L_TRANSFERS] += 1
        arena[T.H_TRANSFERS] += 1
    else:
        cost = beyond_core_ps(arena, line, socket)
        alone = True
    if kind == READ and not alone:
        arena[line + T.L_OWNER] = -1
        arena[line + T.L_SHARERS0] = s0 | bit if word == 0 else s0
        arena[line + T.L_SHARERS1] = s1 | bit if word == 1 else s1
    else:
        arena[line + T.L_OWNER] = core
        arena[line + T.L_SHARERS0] = 0
        arena[line + T.L_SHARERS1] = 0
    clock = arena[T.H_AT_CORE] + core
    socket_clock = arena[T.H_AT_SOCKET] + socket
    arena[clock] += 1
    if arena[line + T.L_SOCKET] != socket or alone:
        arena[socket_clock] += 1
    arena[line + T.L_STAMP] = arena[clock]
    arena[line + T.L_SOCKET_STAMP] = arena[socket_clock]
    arena[line + T.L_SOCKET] = socket
    return cost


@kernel
def touch(arena: Array, cpu: int, line: int, kind: int, now: int) -> int:
    """Access a line from a CPU (both arena offsets) at time `now`; return how long it takes, ps.

    Waiting for earlier requests of the line is part of it. If the sibling has the same line under way, the
    core asks only once.
    """
    core = arena[cpu + T.C_CORE]
    owner = arena[line + T.L_OWNER]
    free = arena[line + T.L_FREE]
    extra = arena[T.H_ATOMIC_PS] if kind == ATOMIC else 0
    if owner == core:
        begin = max(now, free)
        took = begin - now + own_ps(arena, line, core, arena[cpu + T.C_SOCKET]) + extra
        arena[line + T.L_FREE] = now + took
        return took
    if kind == READ:
        word = 0 if core < T.SHARER_BITS else 1
        if (arena[line + T.L_SHARERS0 + word] >> (core - word * T.SHARER_BITS)) & 1:
            return arena[T.H_HIT_PS]
    sibling = arena[cpu + T.C_SIBLING]
    if sibling >= 0:
        other = arena[T.H_AT_CPU] + T.CPU_WORDS * sibling
        if (
            arena[other + T.C_ACCESS_LINE] == line
            and arena[other + T.C_ACCESS_END] > now
            and (kind == READ or arena[other + T.C_ACCESS_KIND] != READ)
        ):
            return arena[other + T.C_ACCESS_END] - now + arena[T.H_HIT_PS] + extra
    begin = max(now, free)
    exclusive = owner >= 0 or kind != READ
    took = begin - now + fetch_ps(arena, line, kind, core, arena[cpu + T.C_SOCKET]) + extra
    if exclusive:
        arena[line + T.L_FREE] = now + took
    arena[cpu + T.C_ACCESS_LINE] = line
    arena[cpu + T.C_ACCESS_END] = now + took
    arena[cpu + T.C_ACCESS_KIND] = kind
    return took


@kernel
def hand_over_ps(arena: Array, cpu: int, waiter: int, kind: int, others: int) -> int:
    """Time from a release to the next holder's first instruction, ps.

    A ticket lock's word is re-read by every waiter, so its hand-over grows with those still waiting; a queued
    lock's does not. The factors are fitted on published lock benchmarks (see `sim.contention`).
    """
    cost = transfer_ps(arena, arena[cpu + T.C_CORE], arena[waiter + T.C_CORE])
    if kind == T.TICKET:
        return cost * (arena[T.H_TICKET_PERMILLE] + arena[T.H_TICKET_WAITER_PERMILLE] * others) // 1000
    return cost * arena[T.H_QUEUED_PERMILLE] // 1000
