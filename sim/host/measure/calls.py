"""What the kernel's own services cost: system call, wakeup, context switch, page touch, copy; by C's functions.

A thread that waits is asleep in ``read()`` of an eventfd. The wakeup is measured as the waker's time: its ``write()``
with a sleeper less one without. The sleeper is of the batch class, which does not take the CPU at once.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
import time
from typing import Any, Final

import numba
import numpy as np

from . import atomics, loops
from .crew import LONGEST_S, Lost, bound

PAGE_BYTES: Final = 4096
_libc = ctypes.CDLL(None)


def _function(name: str, *arguments: Any) -> Any:
    """A function of the C library that compiled code can call; addresses and sizes are integers of 64 bits."""
    found = _libc[name]
    found.argtypes, found.restype = list(arguments), ctypes.c_int64
    return found


_getppid = _function("getppid")
_read = _function("read", ctypes.c_int32, ctypes.c_int64, ctypes.c_int64)
_write = _function("write", ctypes.c_int32, ctypes.c_int64, ctypes.c_int64)
_pread = _function("pread64", ctypes.c_int32, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_memcpy = _function("memcpy", ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_jit = numba.njit(nogil=True)


@_jit
def _calls(turns: int, place: int, clock: Any, took: Any) -> None:
    for n in range(len(took)):
        began = loops.now(place, clock)
        for _ in range(turns):
            _getppid()
        took[n] = loops.now(place, clock) - began


@_jit
def _alone(event: int, word: int, place: int, clock: Any, took: Any, whole: Any) -> None:
    """Write an eventfd that nobody waits for, and read it again; ns of each write, and of both."""
    for n in range(len(took)):
        began = loops.now(place, clock)
        _write(event, word, 8)
        took[n] = loops.now(place, clock) - began
        _read(event, word, 8)
        whole[n] = loops.now(place, clock) - began


@_jit
def _wake(event: int, back: int, word: int, place: int, clock: Any, took: Any, whole: Any) -> None:
    """Write an eventfd that a thread sleeps on, and sleep until it answers; ns of each write, and of each round."""
    for n in range(len(took)):
        began = loops.now(place, clock)
        _write(event, word, 8)
        took[n] = loops.now(place, clock) - began
        _read(back, word, 8)
        whole[n] = loops.now(place, clock) - began


@_jit
def _answer(event: int, back: int, word: int, times: int) -> None:
    for _ in range(times):
        _read(event, word, 8)
        _write(back, word, 8)


@_jit
def _touch(address: int, step: int, pages: int, place: int, clock: Any, took: Any) -> None:
    """Write a word in each page, `pages` of them in a block."""
    for n in range(len(took)):
        began = loops.now(place, clock)
        for _ in range(pages):
            atomics.store(address, 1)
            address += step
        took[n] = loops.now(place, clock) - began


@_jit
def _chunks(file: int, target: int, size: int, span: int, place: int, clock: Any, took: Any) -> None:
    """Read a file in pieces, round and round; ns of each."""
    at = 0
    for n in range(len(took)):
        began = loops.now(place, clock)
        _pread(file, target, size, at)
        took[n] = loops.now(place, clock) - began
        at += size
        if at + size > span:
            at = 0


@_jit
def _copies(source: int, target: int, size: int, span: int, place: int, clock: Any, took: Any) -> None:
    """Copy pieces of a buffer to one place, round and round; ns of each."""
    at = 0
    for n in range(len(took)):
        began = loops.now(place, clock)
        _memcpy(target, source + at, size)
        took[n] = loops.now(place, clock) - began
        at += size
        if at + size > span:
            at = 0


class Timer:
    """A clock of two words and the times that it took."""

    def __init__(self, blocks: int) -> None:
        self.clock = np.zeros(2, np.int64)
        self.took = np.zeros(blocks, np.int64)
        self.whole = np.zeros(blocks, np.int64)

    @property
    def place(self) -> int:
        """The clock's address."""
        return int(self.clock.ctypes.data)

    def median(self) -> float:
        """The middle one, ns."""
        return float(np.median(self.took))


def system_call_ns(cpu: int, blocks: int = 100, turns: int = 100) -> float:
    """Entering and leaving the kernel once: getppid()."""
    timer = Timer(blocks)
    with bound(cpu):
        _calls(turns, timer.place, timer.clock, timer.took)
    return timer.median() / turns


class Events:
    """Two eventfds, a word and a clock for each side; a context."""

    def __enter__(self) -> Events:
        self.there, self.back = os.eventfd(0), os.eventfd(0)
        self.words = np.ones(64, np.int64)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.there)
        os.close(self.back)

    def word(self, side: int) -> int:
        """Address of a side's word."""
        return int(self.words.ctypes.data) + 256 * side


def event_ns(cpu: int, times: int = 1_000) -> tuple[float, float]:
    """write() of an eventfd that nobody waits for; that and the read() that follows."""
    timer = Timer(times)
    with bound(cpu), Events() as e:
        _alone(e.there, e.word(0), timer.place, timer.clock, timer.took, timer.whole)
    return timer.median(), float(np.median(timer.whole))


def _pair(waker: int, sleeper: int, times: int) -> tuple[float, float]:
    """Median ns of a write that wakes, and of a whole round, of a waker and a sleeper on their CPUs."""
    timer = Timer(times)
    problems: list[BaseException] = []
    with Events() as e:

        def sleep() -> None:
            try:
                with bound(sleeper):
                    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
                    _answer(e.there, e.back, e.word(1), times)
            except BaseException as error:
                problems.append(error)
                os.eventfd_write(e.back, times)  # the waker must not sleep for ever

        _answer(e.there, e.back, e.word(1), 0)  # compiled before anybody waits
        _wake(e.there, e.back, e.word(0), timer.place, timer.clock, timer.took[:0], timer.whole[:0])
        thread = threading.Thread(target=sleep, daemon=True)
        with bound(waker):
            thread.start()
            time.sleep(0.002)  # it is asleep by then
            if not problems:
                _wake(e.there, e.back, e.word(0), timer.place, timer.clock, timer.took, timer.whole)
        thread.join(LONGEST_S)
    if problems:
        raise Lost(str(problems[0]))
    return timer.median(), float(np.median(timer.whole))


def wakeup_ns(waker: int, sleeper: int, times: int = 500) -> float:
    """The waker's time to make a sleeping thread runnable, above the system call.

    On its own CPU that is the scheduler's work; on another, idle one it is an interrupt as well.
    """
    return max(0.0, _pair(waker, sleeper, times)[0] - event_ns(waker, times)[0])


def switch_ns(cpu: int, times: int = 500) -> float:
    """From one thread to another of the same CPU: half a round, less its calls and its wakeup."""
    write, both = event_ns(cpu, times)
    woken, whole = _pair(cpu, cpu, times)
    return max(0.0, whole / 2 - both - max(0.0, woken - write))


def page_touch_ns(cpu: int, blocks: int = 200, pages: int = 8) -> float:
    """The first write to a page of anonymous memory: fault, page, zeroes."""
    timer = Timer(blocks)
    with mmap.mmap(-1, (blocks + 1) * pages * PAGE_BYTES) as memory, bound(cpu):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        view = np.frombuffer(memory, np.uint8)
        _touch(int(view.ctypes.data), PAGE_BYTES, pages, timer.place, timer.clock, timer.took)
        del view  # the map cannot be closed while somebody looks at it
    return timer.median() / pages


def read_ns(cpu: int, size: int, span: int, times: int = 200) -> float:
    """One pread() of `size` bytes from a file in memory, of `span` bytes that are read in turn."""
    timer = Timer(max(times, 2 * span // size))
    file = os.memfd_create("span")
    try:
        os.write(file, bytes(span))
        target = np.zeros(size, np.uint8)
        with bound(cpu):
            _chunks(file, int(target.ctypes.data), size, span, timer.place, timer.clock, timer.took)
    finally:
        os.close(file)
    return float(np.median(timer.took[span // size :]))  # the first time round brings it where it stays


def copy_ns(cpu: int, size: int, span: int, writer: int | None = None, times: int = 200) -> float:
    """One memcpy() of `size` bytes out of a buffer of `span`, in turn; after another CPU wrote all of it, if given."""
    source, target = np.ones(span, np.uint8), np.zeros(size, np.uint8)
    pieces = span // size
    timer = Timer(pieces if writer is not None else max(times, 2 * pieces))
    with bound(cpu):
        _copies(int(source.ctypes.data), int(target.ctypes.data), size, span, timer.place, timer.clock, timer.took[:1])
        if writer is not None:
            with bound(writer):
                source[:] = 2
        _copies(int(source.ctypes.data), int(target.ctypes.data), size, span, timer.place, timer.clock, timer.took)
    return float(np.median(timer.took[0 if writer is not None else pieces :]))
