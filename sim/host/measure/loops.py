"""The timed loops: what threads do to shared words, compiled without Python's lock, waiters spinning without a pause.

They are those of the published measurements that the book's machines rest on: two cores that pass a word to and fro
(core-to-core-latency), counters and locks of N threads (A Concurrency Cost Hierarchy).

A loop runs in short blocks. All threads meet before each, so that they really run at the same time, and each takes its
own time. On a busy machine most blocks still pass without a thread being taken off its CPU: their median is the cost.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numba

from . import atomics

CLOCK_MONOTONIC: Final = 1
_clock = ctypes.CDLL(None)["clock_gettime"]
_clock.argtypes, _clock.restype = [ctypes.c_int32, ctypes.c_int64], ctypes.c_int32  # an address is a number here
Loop = Callable[[int, int, int], None]

_jit = numba.njit(nogil=True)
ENOUGH: Final = 1 << 40  # more than any number of threads that could meet


@_jit
def now(place: int, clock: Any) -> int:
    """Time in ns; `clock` is an array of two words at the address `place`."""
    _clock(CLOCK_MONOTONIC, place)
    return int(clock[0] * 1_000_000_000 + clock[1])


@_jit
def release(gate: int) -> None:
    """Let everybody through who waits at a gate or ever will."""
    atomics.add(gate, ENOUGH)


@cache
def blocks(loop: Any) -> Callable[..., None]:
    """Compiled: run a loop in blocks of `turns`, each after all `threads` have met at the gate; ns of each."""

    @_jit
    def run(
        address: int, gate: int, threads: int, lane: int, turns: int, place: int, clock: Any, took: Any
    ) -> None:
        for k in range(len(took)):
            atomics.add(gate, 1)
            while atomics.load(gate) < threads * (k + 1):
                pass
            began = now(place, clock)
            loop(address, lane, turns)
            took[k] = now(place, clock) - began

    return run


@_jit
def private_add(address: int, _lane: int, times: int) -> None:
    """Load, add, store on a line that nobody else touches."""
    for _ in range(times):
        atomics.store(address, atomics.load(address) + 1)


@_jit
def shared_add(address: int, _lane: int, times: int) -> None:
    """Atomic add on one word of all threads."""
    for _ in range(times):
        atomics.add(address, 1)


@_jit
def ping(address: int, lane: int, times: int) -> None:
    """Turn the word from this thread's number (0 or 1) to the other's, `times` times."""
    for _ in range(times):
        while atomics.compare_exchange(address, lane, 1 - lane) != lane:
            pass


@_jit
def ticket_lock(address: int, _lane: int, times: int) -> None:
    """Take a ticket lock, change a counter of another line (at 256), let go. Words: next ticket, ticket served."""
    for _ in range(times):
        ticket = atomics.add(address, 1)
        while atomics.load(address + 8) != ticket:
            pass
        atomics.store(address + 256, atomics.load(address + 256) + 1)
        atomics.store(address + 8, ticket + 1)


@_jit
def queued_lock(address: int, lane: int, times: int) -> None:
    """The same with a queued (MCS) lock: each waiter spins on a line of its own. Tail at 0, nodes from 512 on."""
    node = address + 512 + 256 * lane
    for _ in range(times):
        atomics.store(node, 0)
        atomics.store(node + 128, 1)
        before = atomics.exchange(address, node)
        if before != 0:
            atomics.store(before, node)
            while atomics.load(node + 128) != 0:
                pass
        atomics.store(address + 256, atomics.load(address + 256) + 1)
        after = atomics.load(node)
        if after == 0:
            if atomics.compare_exchange(address, node, 0) == node:
                continue
            while after == 0:
                after = atomics.load(node)
        atomics.store(after + 128, 0)
