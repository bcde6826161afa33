"""Threads bound to CPUs that do one loop together, and the time that each of them took for a turn of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from . import loops

LINE: Final = 256  # two lines and more: the neighbour that a prefetcher takes along is nobody's
LONGEST_S: Final = 30.0


class Lost(RuntimeError):
    """A thread that did not come back, or could not be bound to its CPU."""


class Words:
    """Zeroed memory, aligned so that places `LINE` bytes apart share nothing."""

    def __init__(self, size_bytes: int = 1 << 16) -> None:
        self._buffer = np.zeros(size_bytes + LINE, np.uint8)
        self.address = -(-self._buffer.ctypes.data // LINE) * LINE


@contextmanager
def bound(cpu: int) -> Any:
    """This thread on one CPU; afterwards where it was. Raises Lost if the system forbids it."""
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError as error:
        raise Lost(f"CPU {cpu}: {error.strerror}; is it offline, or outside this container's set?") from None
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def together(cpus: Sequence[int], loop: Any, turns: int, blocks: int = 50) -> list[float]:
    """Run a loop of `sim.host.measure.loops` on each CPU at once; ns for a turn, the median over blocks, by thread.

    Raises Lost if a thread fails or does not end in `LONGEST_S`.
    """
    run = loops.blocks(loop)
    words, gate = Words(1024 + LINE * (len(cpus) + 2)), Words(LINE)
    took = [np.zeros(blocks, np.int64) for _ in cpus]
    problems: list[BaseException] = []

    def work(lane: int, cpu: int) -> None:
        clock = np.zeros(2, np.int64)
        try:
            with bound(cpu):
                run(words.address, gate.address, len(cpus), lane, turns, clock.ctypes.data, clock, took[lane])
        except BaseException as error:
            problems.append(error)
            loops.release(gate.address)

    crew = [threading.Thread(target=work, args=(n, cpu), daemon=True) for n, cpu in enumerate(cpus)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join(LONGEST_S)
    if problems:
        raise Lost(str(problems[0])) from problems[0]
    if any(thread.is_alive() for thread in crew):
        loops.release(gate.address)
        raise Lost(f"{blocks} blocks of {turns} turns on CPUs {list(cpus)} did not end in {LONGEST_S:g} s")
    return [float(np.median(each)) / turns for each in took]
