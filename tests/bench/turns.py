"""Interleaved turns: what is compared runs in the same minute, in an order that changes from round to round."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

#: One repeat of one subject.
Turn = Callable[[], "Spent"]


@dataclass(frozen=True)
class Spent:
    """Instructions of a turn, its seconds by the wall, and its seconds on a CPU (None if they are not known)."""

    steps: int
    wall: float
    cpu: float | None = None

    def rate(self, clock: str = "wall") -> float:
        """Million instructions a second."""
        seconds = getattr(self, clock)
        return self.steps / seconds / 1e6


@dataclass(frozen=True)
class Figure:
    """A median over the rounds, with the quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        """The figure of some repeats, at least one."""
        if len(values) < 2:
            return cls(values[0], values[0], values[0])
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(middle, low, high)


def timed(steps: int, work: Callable[[], object]) -> Spent:
    """Run something in this thread and say what it took."""
    wall, cpu = time.perf_counter(), time.thread_time()
    work()
    return Spent(steps, time.perf_counter() - wall, time.thread_time() - cpu)


def interleave(subjects: Mapping[str, Turn], rounds: int, warm: int = 2) -> dict[str, list[Spent]]:
    """Give every subject a turn a round, each round beginning with another one; the first `warm` do not count."""
    names = list(subjects)
    out: dict[str, list[Spent]] = {name: [] for name in names}
    for number in range(-warm, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            spent = subjects[name]()
            if number >= 0:
                out[name].append(spent)
    return out


def clock(*subjects: Sequence[Spent]) -> str:
    """The clock to compare by: CPU time if it is known of every turn, since other work spoils the wall's."""
    return "cpu" if all(turn.cpu is not None for turns in subjects for turn in turns) else "wall"


def rate(turns: Sequence[Spent], clock: str = "wall") -> Figure:
    """Million instructions a second."""
    return Figure.of([turn.rate(clock) for turn in turns])


def ratio(turns: Sequence[Spent], over: Sequence[Spent], clock: str = "wall") -> Figure:
    """Speed of one subject over that of another, by rounds, so that both met the same load."""
    return Figure.of([a.rate(clock) / b.rate(clock) for a, b in zip(turns, over, strict=True)])


def share(turns: Sequence[Spent]) -> float:
    """How much of a CPU this process got while it asked for a whole one: 1 on a quiet machine."""
    return sum(turn.cpu or 0.0 for turn in turns) / sum(turn.wall for turn in turns)
