"""The smallest path program: N CPUs count events, each in one of five ways, on one cache line or one each.

An atomic add to a shared counter, a counter under a ticket lock, the same under a queued lock, a counter of one's own,
and a counter under a plain lock: whoever wants it exchanges its word until it finds it free. The plain lock is no
instruction of the engine but four of the program, and so its cost is none of its constants: every waiter's exchange
takes the line, and the holder's release must wait for the line like everyone else.

The costs of the machine are knobs of the spec, so a page changes the machine without Python. What a CPU does between
two counts lasts from nothing to twice `outside_ps`, drawn evenly; that is all that a seed varies.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final

from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.engine.opcodes import CPU_REGISTER
from sim.machine import Machine
from sim.program import Register
from sim.result import Estimate, interval
from sim.spec import Integer, Spec

CPU: Final = Register(CPU_REGISTER, "cpu")
N: Final = Register(0, "n")

CPUS: Final = 24  # one socket of the servers
#: The ways to count, in the order of the knob: name, what it is called on a page, the measured operation.
WAYS: Final = {
    "atomic": ("atomic add", "atomic_add"),
    "ticket": ("ticket lock", "ticket_lock"),
    "queued": ("queued lock", ""),
    "private": ("private counters", "private_add"),
    "plain": ("plain lock", ""),
}
#: What the machine decides, as knobs.
COSTS: Final = (
    "hit_ps",
    "same_socket_ps",
    "atomic_ps",
    "ticket_permille",
    "ticket_waiter_permille",
    "queued_permille",
)
KNOBS: Final = ("threads", "way", *COSTS, "inside_ps", "outside_ps")
#: Operations of a first picture's run and of a replication, all CPUs together, and rounds before they count.
QUICK_OPERATIONS, OPERATIONS, WARM_ROUNDS = 120, 480, 4
LEAST_ROUNDS: Final = 12
#: A throughput so much below its peak has collapsed, and one so much above its last still gains: less is variation.
FALL_PCT, GAIN_PCT = 5, 2
#: Numbers of CPUs that a curve is drawn through.
COUNTS: Final = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24)


@functools.cache
def build() -> Spec:
    """The spec; its knobs are those of `KNOBS`: `threads` (1 to `CPUS`), `way` (a place in `WAYS`), costs, times."""
    spec = Spec(KNOBS)
    knob = spec.values.knob
    cpus = spec.domain("cpu", CPUS)
    one = spec.domain("counter", 1)
    counter = spec.struct("counter", one, {"value": 0}, 1)
    own = spec.struct("own", cpus, {"value": 0}, 1)
    ticket_line = spec.struct("ticket", one, {"word": 0}, 1)
    queued_line = spec.struct("queued", one, {"word": 0}, 1)
    plain_line = spec.struct("plain", one, {"word": 0}, 1)
    plain = spec.table("plain", one, held=Integer(0, 1))
    ticket = spec.spinlocks("ticket", ticket_line, "word", tables.TICKET)
    queued = spec.spinlocks("queued", queued_line, "word", tables.QUEUED)
    spec.cost(sockets=1, cores_per_socket=CPUS, threads_per_core=1, **{name: knob(name) for name in COSTS})
    spec.cost(
        other_socket_ps=knob("same_socket_ps"),
        shared_read_ps=knob("same_socket_ps"),
        memory_ps=knob("same_socket_ps"),
        sibling_ps=knob("hit_ps"),
        l2_lines=1 << 20,
        llc_lines=1 << 24,
    )
    p = spec.program
    inside, outside = knob("inside_ps"), knob("outside_ps")
    p.label("count")
    with p.symbol("count"):
        for place, way in enumerate(WAYS):
            with p.where(knob("way").is_(place), way):
                if way == "atomic":
                    p.atomic(counter, "value")
                elif way == "private":
                    p.write(own, "value", CPU)
                elif way == "plain":
                    p.label("try")
                    p.atomic(plain_line, "word")
                    p.count("tries")
                    p.load(N, plain, "held")
                    p.branch(N, "!=", 0, "try")
                    p.store(plain, "held", 1)
                    p.write(counter, "value")
                    p.work(inside)
                    p.write(plain_line, "word")
                    p.store(plain, "held", 0)
                else:
                    locks = ticket if way == "ticket" else queued
                    p.lock(locks)
                    p.work(knob("hit_ps") + inside)
                    p.unlock(locks)
        p.count("operations")
        with p.where(outside.above(0), "outside"):
            p.uniform(N, outside * 2 + 1)
            p.work(0, by=N, fs=1000)
        p.jump("count")
    spec.spawn_threads("counting", "count", knob("threads"), mod=CPUS)
    return spec


def costs(which: Machine) -> dict[str, int]:
    """The machine's part of the knobs."""
    return {name: which.cost(name) for name in COSTS}


def window(knobs: dict[str, int], operations: int) -> tuple[int, int]:
    """End of the warm-up and of the run, ps: long enough for so many operations, whatever one takes.

    `knobs` are those of `KNOBS`. A round is what one turn of all CPUs takes at most; the bound errs on the long side.
    """
    way, n, transfer = list(WAYS)[knobs["way"]], knobs["threads"], knobs["same_socket_ps"]
    waiting = {
        "atomic": transfer + knobs["atomic_ps"],
        "ticket": transfer * (knobs["ticket_permille"] + knobs["ticket_waiter_permille"] * max(0, n - 2)) // 1000,
        "queued": transfer * knobs["queued_permille"] // 1000,
        "private": 0,
        "plain": transfer * (n + 2),
    }[way]
    each = 3 * knobs["hit_ps"] + knobs["atomic_ps"] + (waiting if n > 1 else 0)
    inside = 0 if way in ("atomic", "private") else knobs["inside_ps"]
    turn = knobs["outside_ps"] + (each + inside) * (1 if way == "private" else n)
    rounds = max(LEAST_ROUNDS, operations // n)
    return WARM_ROUNDS * turn, (WARM_ROUNDS + rounds) * turn


def rate(
    way: str, threads: int, machine_costs: dict[str, int], inside_ps: int = 0, outside_ps: int = 0, seed: int = 1,
    operations: int = OPERATIONS,
) -> tuple[float, float]:
    """Simulate once: operations of all CPUs, million a second, and what one operation more or less would add."""
    knobs = {
        "threads": threads, "way": list(WAYS).index(way), **machine_costs, "inside_ps": inside_ps,
        "outside_ps": outside_ps,
    }
    return _rate(tuple(knobs.items()), seed, operations)


@functools.lru_cache(maxsize=4096)
def _rate(knobs: tuple[tuple[str, int], ...], seed: int, operations: int) -> tuple[float, float]:
    spec, engine = build(), NativeEngine()
    warm_ps, until_ps = window(dict(knobs), operations)
    arena = engine.build(spec.image({**dict(knobs), "seed": seed}))
    engine.run_until(arena, warm_ps)
    engine.reset(arena)
    engine.run_until(arena, until_ps)
    counted = int(arena[arena[tables.H_AT_STAT] + spec.stat_number("operations")])
    return 1e6 * counted / (until_ps - warm_ps), 1e6 / (until_ps - warm_ps)


@dataclass(frozen=True)
class Curve:
    """Throughput of one way by the number of CPUs, million operations a second with 95 % intervals."""

    way: str
    rates: dict[int, Estimate]

    @property
    def peak(self) -> int:
        """The number of CPUs with the highest mean."""
        return max(self.rates, key=lambda n: (self.rates[n].mean, -n))

    @property
    def falls_from(self) -> int | None:
        """The least number of CPUs beyond the peak whose mean is more than `FALL_PCT` below it; None if none is."""
        best = self.rates[self.peak].mean
        return next(
            (n for n, e in self.rates.items() if n > self.peak and e.mean < best * (1 - FALL_PCT / 100)), None
        )

    @property
    def gains(self) -> bool:
        """Whether the last step to more CPUs still gained more than `GAIN_PCT`."""
        before, last = list(self.rates.values())[-2:]
        return last.mean > before.mean * (1 + GAIN_PCT / 100)

    @property
    def lost_pct(self) -> float:
        """How much of the peak is gone with the most CPUs, percent."""
        return 100 * (1 - self.rates[max(self.rates)].mean / self.rates[self.peak].mean)


def curve(
    way: str, counts: tuple[int, ...], machine_costs: dict[str, int], inside_ps: int, outside_ps: int, seed: int = 1,
    replications: int = 5,
) -> Curve:
    """The curve of a way over some numbers of CPUs, from `replications` seeds each."""
    rates = {}
    for n in counts:
        runs = [rate(way, n, machine_costs, inside_ps, outside_ps, seed + i) for i in range(replications)]
        rates[n] = Estimate(*interval([run for run, _ in runs], runs[0][1]), "M/s")
    return Curve(way, rates)
