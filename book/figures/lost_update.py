"""A counter that two CPUs raise by reading and writing it: what the page on races counts."""

from __future__ import annotations

from functools import cache
from typing import Final

from book.figures.table import Cell, Table
from sim import machine
from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.machine import COSTS
from sim.program import Register
from sim.spec import Integer, Spec

N: Final = Register(0, "n")
UNTIL_PS: Final = 200_000_000
BETWEEN_PS: Final = 300_000  # between two packets of a CPU, on average

#: What a CPU does to count a packet: the knob, and in words.
WAYS: Final = {
    "before": "counts, then takes the lock",
    "under": "takes the lock, then counts",
}


@cache
def build() -> Spec:
    """A spec in which as many CPUs as the knob `cpus` says count packets of one socket, under its lock or before it."""
    spec = Spec(("cpus", "under"))
    knob = spec.values.knob
    host = machine.load("cascade-lake").with_(sockets=1, cores_per_socket=4, threads_per_core=1)
    spec.cost(**{name: host.cost(name) for name in T.MACHINE_FIELDS if name in COSTS})
    spec.cost(sockets=1, cores_per_socket=4, threads_per_core=1)
    one = spec.domain("one", 1)
    sock = spec.struct("sock", one, {"sk_lock.slock": 0}, 1)
    tp = spec.struct("tcp_sock", one, {"segs_in": 0}, 1)
    lock = spec.spinlocks("sk_lock.slock", sock, "sk_lock.slock")
    count = spec.table("tcp_sock", one, segs_in=Integer(0, 1 << 30))
    p = spec.program
    with p.symbol("tcp_v6_rcv"):
        p.label("tcp_v6_rcv")
        p.uniform(N, 2 * BETWEEN_PS // 1000)
        p.work(0, by=N, fs=1_000_000)
        with p.where(knob("under"), "under"):
            p.lock(lock)
        p.load(N, count, "segs_in")
        p.alu(N, N, "+", 1)
        p.alu(N, N, "min", 1 << 29)
        p.write(tp, "segs_in")
        p.store(count, "segs_in", N)
        p.count("packets")
        with p.where(1 - knob("under"), "before"):
            p.lock(lock)
        p.work(60_000)
        p.unlock(lock)
        p.jump("tcp_v6_rcv")
    spec.spawn_threads("softirq", "tcp_v6_rcv", knob("cpus"), mod=4)
    return spec


def counted(cpus: int, under: int) -> tuple[int, int]:
    """Packets that passed, and what the counter says, after 0.2 ms."""
    spec, engine = build(), NativeEngine()
    arena = engine.build(spec.image({"cpus": cpus, "under": under, "seed": 1}))
    engine.run_until(arena, UNTIL_PS)
    passed = int(arena[arena[T.H_AT_STAT] + spec.stat_number("packets")])
    return passed, int(arena[int(arena[int(arena[T.H_AT_SET])])])


def losses() -> Table:
    """What the counter misses, by the number of CPUs and by where it is raised."""
    rows: list[list[Cell]] = []
    for cpus in (1, 2, 4):
        for under, words in enumerate(WAYS.values()):
            passed, says = counted(cpus, under)
            rows.append([f"{cpus} CPU{'s' * (cpus > 1)}, {words}", passed, says, passed - says])
    return Table("Packets of one socket, counted in 0.2 ms", ["who, and how", "passed", "counted", "lost"], rows)
