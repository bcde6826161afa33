"""The calendar: a tournament tree over actors, each leaf one integer ``time << ID_BITS | actor``.

The root is the smallest (time, actor), so equal times go to the lower actor, as in the SimPy reference.
"""

from __future__ import annotations

from . import tables as T
from .jit import Array, kernel


@kernel
def post(arena: Array, actor: int, time: int) -> int:
    """Set an actor's next time; return its key."""
    key = (time << T.ID_BITS) | actor
    tree = arena[T.H_AT_TREE]
    node = arena[T.H_LEAVES] + actor
    arena[tree + node] = key
    while node > 1:
        best = min(arena[tree + node], arena[tree + (node ^ 1)])
        node >>= 1
        arena[tree + node] = best
    return key


@kernel
def time_of(arena: Array, actor: int) -> int:
    """An actor's next time, ps."""
    return arena[arena[T.H_AT_TREE] + arena[T.H_LEAVES] + actor] >> T.ID_BITS


@kernel
def runner_up(arena: Array, actor: int) -> int:
    """The smallest key of all other actors: how far this one may run ahead."""
    tree = arena[T.H_AT_TREE]
    node = arena[T.H_LEAVES] + actor
    best = (T.INF << T.ID_BITS) | T.ID_MASK
    while node > 1:
        best = min(best, arena[tree + (node ^ 1)])
        node >>= 1
    return best
