"""An arena with bounds checks: the engine in plain Python, every index held against its table.

With the JIT off the engine's functions take any object with ``shape`` and ``[]``. Offsets remember the
table that they came from, through addition and through being stored in the arena (a lock's line, a queue's
links, an instruction's operands), so an index that leaves its table is seen even if it stays in the arena.
Cells, lines, locks, queues and links are checked set by set. Run as a program it reads lines of JSON, each a
list of image words, and answers each with what happened.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from sim.engine import build, reset_statistics, run
from sim.engine import tables as T

AT = {number: name for name, number in vars(T).items() if name.startswith("H_AT_")}
STEPS = 400
WORDS_LIMIT = 100_000


class Fault(Exception):
    """What a run must never do."""


class Region:
    """A table of the arena: its words from `begin` to before `end`."""

    def __init__(self, name: str, begin: int, whole: bool) -> None:
        self.name, self.begin, self.end, self.whole = name, begin, begin, whole


class Offset(int):
    """A position that remembers its table."""

    region: Region

    def __new__(cls, value: int, region: Region) -> Offset:
        made = super().__new__(cls, value)
        made.region = region
        return made

    def __add__(self, other: int) -> Offset:  # type: ignore[override]
        return Offset(int(self) + int(other), self.region)

    __radd__ = __add__  # type: ignore[assignment]


class Words:
    """The image: read-only, no index below zero."""

    def __init__(self, words: list[int]) -> None:
        self.words = words
        self.shape = (len(words),)

    def __getitem__(self, index: int) -> int:
        if not 0 <= index < len(self.words):
            raise Fault(f"word {index} of the image")
        return self.words[index]


class CheckedArena:
    """All state of a run; see the module's text."""

    def __init__(self, size: int) -> None:
        self.words: list[int] = [0] * size
        self.shape = (size,)
        self.regions: list[Region] = []
        self.closed = False
        self.reset = False

    def __getitem__(self, index: int) -> Any:
        self._check(index)
        return self.words[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self.words[:] = [0] * len(self.words)
            return
        self._check(index)
        if not -(1 << 63) <= value < 1 << 63:
            raise Fault(f"{value} does not fit in 64 bits")
        if not self.closed and self._is_begin(index):
            region = Region(AT.get(int(index), f"set {int(index)}"), int(value), index in AT)
            self.regions.append(region)
            value = Offset(int(value), region)
        self.words[index] = value if isinstance(value, Offset) else int(value)

    def _is_begin(self, index: int) -> bool:
        at_set, at_cpu = self.words[T.H_AT_SET], self.words[T.H_AT_CPU]
        return index in AT or (0 < at_set <= index and (at_cpu == 0 or index < at_cpu))

    def close(self, words: int) -> None:
        """Every table ends where the next begins: the places are known now."""
        self.closed = True
        for k, region in enumerate(self.regions):
            later = self.regions[k + 1 :]
            if region.whole:  # such as all locks: up to the next whole table
                later = [other for other in later if other.whole]
            region.end = min((other.begin for other in later if other.begin >= region.begin), default=words)

    def _check(self, index: int) -> None:
        if isinstance(index, Offset):
            region = index.region
            if self.closed and not region.begin <= index < region.end:
                raise Fault(f"word {int(index)} of {region.name} ({region.begin} to {region.end})")
        elif self.closed and not self.reset and not 0 <= index < self.words[T.H_AT_SET]:
            raise Fault(f"word {index}, of no table")
        if not 0 <= index < len(self.words):
            raise Fault(f"word {index} of the arena")


def chains_are_whole(arena: CheckedArena) -> bool:
    """Whether every queue has as many items as it says and no item is on two queues."""
    seen: set[tuple[int, int]] = set()
    for i in range(arena.words[T.H_QUEUE_ROWS]):
        queue = arena.words[T.H_AT_QUEUE] + T.QUEUE_WORDS * i
        item, link = arena.words[queue + T.Q_HEAD], arena.words[queue + T.Q_LINK]
        for _ in range(arena.words[queue + T.Q_LENGTH]):
            if item < 0 or (int(link), item) in seen:
                return False
            seen.add((int(link), item))
            item = arena.words[link + item]
        if item >= 0:
            return False
    return True


def outcome(words: list[int]) -> str:
    """``clean STATUS``, ``too large``, ``shared item`` or ``fault`` and what it did."""
    spec = Words(words)
    try:
        arena = CheckedArena(1 << 15)
        needed = int(build(arena, spec))  # type: ignore[arg-type]
        if needed > arena.shape[0]:
            if needed > WORDS_LIMIT:
                return "too large"
            arena = CheckedArena(needed)
            build(arena, spec)  # type: ignore[arg-type]
        arena.close(needed)
        return _run(arena)
    except Fault as fault:
        return f"fault {fault}"
    except (IndexError, OverflowError, ValueError, ZeroDivisionError) as error:
        return f"fault {type(error).__name__} {error}"


def _run(arena: CheckedArena) -> str:
    done, before, status = 0, 0, T.MORE
    try:
        while done < STEPS and status == T.MORE:
            status = run(arena, 7)  # type: ignore[arg-type]
            done += 7
            if done == STEPS // 14 * 7:
                arena.reset = True
                reset_statistics(arena)  # type: ignore[arg-type]
                arena.reset = False
            if arena.words[T.H_NOW] < before:
                return "fault the time goes back"
            before = arena.words[T.H_NOW]
    except Fault as fault:
        return f"fault {fault}" if chains_are_whole(arena) else f"shared item {fault}"
    for i in range(arena.words[T.H_CPUS]):
        if arena.words[arena.words[T.H_AT_CPU] + T.CPU_WORDS * i + T.C_LOCKS] < 0:
            return "fault a CPU has released more locks than it took"
    if not chains_are_whole(arena):
        return "shared item"
    return f"clean {T.STATUS_NAMES[status]}"


def main() -> None:
    """Answer each line of the input."""
    for line in sys.stdin:
        print(json.dumps(outcome(json.loads(line))), flush=True)



if __name__ == "__main__":
    main()
