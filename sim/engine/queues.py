"""Queues of items chained through their domain's link table, as sk_buffs are: push, pop, splice."""

from __future__ import annotations

from . import opcodes as O
from . import tables as T
from .jit import Array, kernel


@kernel
def account(arena: Array, queue: int, now: int) -> None:
    """Add the queue's length times the time it had it: the mean length is area / time."""
    arena[queue + T.Q_AREA] += arena[queue + T.Q_LENGTH] * (now - arena[queue + T.Q_SINCE])
    arena[queue + T.Q_SINCE] = now


@kernel
def push(arena: Array, queue: int, item: int, front: int, now: int) -> int:
    """Put an item on a queue: MORE, or EXHAUSTED if it is full, or CORRUPTED if the item is on a queue already."""
    if arena[queue + T.Q_LENGTH] >= arena[queue + T.Q_CAPACITY]:
        return T.EXHAUSTED
    if arena[arena[queue + T.Q_LINK] + item] != T.UNLINKED:
        return T.CORRUPTED
    account(arena, queue, now)
    link = arena[queue + T.Q_LINK]
    if arena[queue + T.Q_LENGTH] == 0:
        arena[queue + T.Q_HEAD] = item
        arena[queue + T.Q_TAIL] = item
        arena[link + item] = T.LAST
    elif front == O.FRONT:
        arena[link + item] = arena[queue + T.Q_HEAD]
        arena[queue + T.Q_HEAD] = item
    else:
        arena[link + arena[queue + T.Q_TAIL]] = item
        arena[queue + T.Q_TAIL] = item
        arena[link + item] = T.LAST
    arena[queue + T.Q_LENGTH] += 1
    arena[queue + T.Q_MAX] = max(arena[queue + T.Q_MAX], arena[queue + T.Q_LENGTH])
    return T.MORE


@kernel
def pop(arena: Array, queue: int, now: int) -> int:
    """Take the first item of a queue, or -1."""
    item = arena[queue + T.Q_HEAD]
    if item < 0:
        return -1
    account(arena, queue, now)
    link = arena[queue + T.Q_LINK]
    arena[queue + T.Q_HEAD] = arena[link + item]
    arena[link + item] = T.UNLINKED
    arena[queue + T.Q_LENGTH] -= 1
    if arena[queue + T.Q_LENGTH] == 0:
        arena[queue + T.Q_TAIL] = -1
    return item


@kernel
def splice(arena: Array, source: int, to: int, now: int) -> None:
    """Move all items to the tail of another queue (its capacity is not asked)."""
    count = arena[source + T.Q_LENGTH]
    if count == 0 or source == to:
        return
    account(arena, source, now)
    account(arena, to, now)
    if arena[to + T.Q_LENGTH] == 0:
        arena[to + T.Q_HEAD] = arena[source + T.Q_HEAD]
    else:
        arena[arena[to + T.Q_LINK] + arena[to + T.Q_TAIL]] = arena[source + T.Q_HEAD]
    arena[to + T.Q_TAIL] = arena[source + T.Q_TAIL]
    arena[to + T.Q_LENGTH] += count
    arena[to + T.Q_MAX] = max(arena[to + T.Q_MAX], arena[to + T.Q_LENGTH])
    arena[source + T.Q_HEAD] = -1
    arena[source + T.Q_TAIL] = -1
    arena[source + T.Q_LENGTH] = 0
