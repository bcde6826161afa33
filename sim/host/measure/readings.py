"""Measured numbers with their spread, round by round, so that a drift of the machine hits them alike."""

from __future__ import annotations

import datetime
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from . import calls, crew, loops
from .cpus import HIDDEN, Cpus, here, steal_ticks

UNSTABLE: Final = 0.15  # middle half of the rounds, as a share of the median
ROUNDS: Final = 7
MOST_ROUNDS: Final = 50
TURNS: Final = 100
#: Threads that share a counter or a lock, as far as one socket has cores.
THREADS: Final = (1, 2, 3, 4, 8, 16, 32)
SIZES: Final = (1500, 4096, 65536, 1048576)
LOOPS: Final = {"shared_add": loops.shared_add, "ticket_lock": loops.ticket_lock, "queued_lock": loops.queued_lock}
Key = tuple[str, int]


@dataclass(frozen=True)
class Reading:
    """A quantity in ns (or ns a byte, as `unit` says), once for each round."""

    samples: tuple[float, ...]
    unit: str = "ns"

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.samples)

    @property
    def middle(self) -> tuple[float, float]:
        """Between which values the middle half of the rounds lies."""
        if len(self.samples) < 2:
            return self.samples[0], self.samples[0]
        first, _, third = statistics.quantiles(self.samples, n=4, method="inclusive")
        return first, third

    @property
    def unstable(self) -> bool:
        """Whether the rounds differ so much that the number is worth little; one round cannot tell."""
        low, high = self.middle
        return len(self.samples) < 2 or high - low > UNSTABLE * abs(self.median)

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        low, high = self.middle
        return {"median": self.median, "low": low, "high": high, "unit": self.unit, "unstable": self.unstable}


@dataclass(frozen=True)
class Readings:
    """All that was measured.

    Attributes
    ----------
    plain
        By name: ``private_add``, ``system_call``, ``wakeup``, ``wakeup_other_cpu``, ``switch``, ``page_touch``.
    by_threads
        By loop and number of threads: ns of a turn as a thread sees it.
    pairs
        One-way hand-over of a line, by two CPUs.
    copies
        By place and size: ``kernel``, ``own``, ``other_core``, ``beyond_l2``; ns a byte.
    steal_pct
        CPU time that the host took away meanwhile.
    """

    cpus: Cpus
    plain: Mapping[str, Reading]
    by_threads: Mapping[Key, Reading]
    pairs: Mapping[tuple[int, int], Reading]
    copies: Mapping[Key, Reading]
    steal_pct: float
    seconds: float
    when: str = field(default_factory=lambda: datetime.date.today().isoformat())
    kernel: str = field(default_factory=platform.release)

    def kind(self, name: str) -> Reading | None:
        """Hand-over between CPUs that lie to each other as `name` says (`sim.host.measure.cpus.KINDS`), over pairs."""
        number = {cpu.number: cpu for cpu in self.cpus.each}
        mine = [r for (a, b), r in self.pairs.items() if self.cpus.kind(number[a], number[b]) == name]
        if not mine:
            return None
        rounds = zip(*(r.samples for r in mine), strict=True)
        return Reading(tuple(statistics.median(each) for each in rounds))

    def unstable(self) -> list[str]:
        """Names of the readings whose rounds differ too much."""
        rows = [(name, r) for name, r in self.plain.items()]
        rows += [(f"{name}, {n} threads", r) for (name, n), r in self.by_threads.items()]
        rows += [(f"hand-over {a}-{b}", r) for (a, b), r in self.pairs.items()]
        rows += [(f"copy, {place}, {n} bytes", r) for (place, n), r in self.copies.items()]
        return [name for name, r in rows if r.unstable]

    def to_dict(self) -> dict[str, Any]:
        """JSON values: the machine, and every reading."""
        return {
            "machine": {
                "processor": self.cpus.processor, "machine": self.cpus.machine, "kernel": self.kernel,
                "cpus": len(self.cpus.each), "hypervisor": self.cpus.hypervisor, "when": self.when,
                "steal_pct": self.steal_pct, "seconds": self.seconds,
            },
            "hidden": list(HIDDEN) if self.cpus.hypervisor else [],
            "plain": {name: r.to_dict() for name, r in self.plain.items()},
            "by_threads": [{"loop": name, "threads": n, **r.to_dict()} for (name, n), r in self.by_threads.items()],
            "pairs": [{"cpus": list(pair), **r.to_dict()} for pair, r in self.pairs.items()],
            "copies": [{"place": place, "bytes": n, **r.to_dict()} for (place, n), r in self.copies.items()],
            "unstable": self.unstable(),
        }


def take(rounds: int = ROUNDS, progress: Callable[[int, int], None] = lambda *_: None) -> Readings:
    """Measure this machine; some seconds for two CPUs, more with many pairs.

    Raises
    ------
    ValueError
        for a number of rounds out of range.
    crew.Lost
        if a thread cannot be bound to its CPU or does not come back.
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise ValueError(f"{rounds} rounds: 1 to {MOST_ROUNDS}")
    cpus = here()
    steal, ticks = steal_ticks()
    began = time.monotonic()
    samples: dict[tuple[str, Any], list[float]] = {}
    for number in range(rounds):
        progress(number, rounds)
        for key, value in _round(cpus):
            samples.setdefault(key, []).append(value)
    steal_after, ticks_after = steal_ticks()

    def part(name: str, unit: str = "ns") -> dict[Any, Reading]:
        return {key: Reading(tuple(v), unit) for (group, key), v in samples.items() if group == name}

    return Readings(
        cpus, part("plain"), part("by_threads"), part("pairs"), part("copies", "ns/byte"),
        100 * (steal_after - steal) / max(1, ticks_after - ticks), time.monotonic() - began,
    )


def _round(cpus: Cpus) -> Iterator[tuple[tuple[str, Any], float]]:
    cores = [cpu.number for cpu in cpus.cores()]
    first = cores[0]
    yield ("plain", "private_add"), crew.together([first], loops.private_add, TURNS)[0]
    for name, loop in LOOPS.items():
        for threads in THREADS:
            if threads <= len(cores):
                each = crew.together(cores[:threads], loop, TURNS)
                yield ("by_threads", (name, threads)), statistics.median(each)
    for a, b in cpus.pairs():
        yield ("pairs", (a.number, b.number)), max(crew.together([a.number, b.number], loops.ping, TURNS)) / 2
    yield ("plain", "system_call"), calls.system_call_ns(first)
    yield ("plain", "wakeup"), calls.wakeup_ns(first, first)
    yield ("plain", "switch"), calls.switch_ns(first)
    yield ("plain", "page_touch"), calls.page_touch_ns(first)
    if len(cores) > 1:
        yield ("plain", "wakeup_other_cpu"), calls.wakeup_ns(first, cores[1])
    l2 = cpus.l2_bytes or 1 << 20
    beyond = min(4 * l2, 1 << 26)
    # without what a call costs whatever its size: the difference of two sizes
    small, large = (calls.read_ns(first, size, beyond) for size in (SIZES[1], SIZES[2]))
    yield ("copies", ("kernel", SIZES[2])), max(0.0, large - small) / (SIZES[2] - SIZES[1])
    for size in SIZES:
        yield ("copies", ("own", size)), calls.copy_ns(first, size, max(size, 1 << 14)) / size
        yield ("copies", ("beyond_l2", size)), calls.copy_ns(first, size, max(4 * size, beyond)) / size
        if len(cores) > 1:
            yield ("copies", ("other_core", size)), calls.copy_ns(first, size, max(size, l2 // 2), cores[1]) / size
