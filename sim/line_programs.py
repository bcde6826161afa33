"""Small programs whose CPUs want one cache line, each with a reason of its own; three of them can have a fault."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from . import machine
from .engine import tables as T
from .engine.opcodes import CPU_REGISTER
from .engine.tables import MACHINE_FIELDS
from .machine import COSTS
from .program import Program, Register
from .spec import Integer, Locks, Spec, Table

CPU: Final = Register(CPU_REGISTER, "cpu")
N: Final = Register(1, "n")
THREAD: Final = Register(2, "thread")
M: Final = Register(3, "m")


@cache
def build(name: str, cpus: int) -> Spec:
    """The spec of a program of `PROGRAMS` on so many CPUs; its one knob is ``bug``."""
    which = machine.load("cascade-lake")
    spec = Spec(("bug",))
    spec.cost(**{n: which.cost(n) for n in MACHINE_FIELDS if n in COSTS})
    spec.cost(sockets=1, cores_per_socket=cpus, threads_per_core=1, switch_ps=0, idle_exit_ps=0)
    PROGRAMS[name](spec, cpus)
    return spec


def _two_counters(spec: Spec, cpus: int) -> None:
    """CPU c adds to its own counter; both lie on one line."""
    p, count = spec.program, spec.struct("counters", spec.domain("one", 1), {"of CPU 0": 0, "of CPU 1": 0}, 1)
    with p.symbol("count"):
        p.label("count")
        p.branch(CPU, "!=", 0, "count.other")
        p.write(count, "of CPU 0")
        p.jump("count.on")
        p.label("count.other")
        p.write(count, "of CPU 1")
        p.label("count.on")
        p.uniform(N, 200_000)
        p.work(50_000, by=N, fs=1000)
        p.jump("count")
    spec.spawn_threads("counting", "count", cpus, mod=cpus)


def _readers(spec: Spec, cpus: int) -> None:
    """CPU 0 changes a setting now and then; the others read it for each packet."""
    p, lines = spec.program, spec.struct("setting", spec.domain("one", 1), {"value": 0}, 1)
    with p.symbol("sysctl"):
        p.label("start")
        p.branch(CPU, "!=", 0, "packet")
        p.label("set")
        p.uniform(N, 1_500_000)
        p.work(500_000, by=N, fs=1000)
        p.write(lines, "value")
        p.jump("set")
    with p.symbol("packet"):
        p.label("packet")
        p.read(lines, "value")
        p.uniform(N, 300_000)
        p.work(100_000, by=N, fs=1000)
        p.jump("packet")
    spec.spawn_threads("cpu", "start", cpus, mod=cpus)


def _spinlock(spec: Spec, cpus: int) -> None:
    """Every CPU takes a lock, counts, releases it. With the fault CPU 0 goes on into the error path now and then."""
    p, one = spec.program, spec.domain("one", 1)
    lines = spec.struct("lock", one, {"word": 0}, 1)
    counter = spec.struct("counter", one, {"value": 0}, 1)
    lock = spec.spinlocks("lock", lines, "word", T.QUEUED)
    rounds = spec.table("rounds", spec.domain("cpu", cpus), done=Integer(0, 1 << 30))
    with p.symbol("section"):
        p.label("section")
        p.uniform(N, 200_000)
        p.work(60_000, by=N, fs=1000)
        p.lock(lock)
        p.write(counter, "value")
        p.work(40_000)
        p.unlock(lock)
        with p.where(spec.values.knob("bug"), "bug"):
            _released_again(p, lock, rounds)
        p.jump("section")
    spec.spawn_threads("counting", "section", cpus, mod=cpus)


def _released_again(p: Program, lock: Locks, rounds: Table) -> None:
    p.branch(CPU, "!=", 0, "release.out")
    p.add(rounds, "done", 1, CPU)
    p.load(N, rounds, "done", CPU)
    p.branch(N, "!=", 3, "release.out")
    p.work(60_000)
    p.label("release.again")
    p.unlock(lock)
    p.label("release.out")


def _counter(spec: Spec, cpus: int) -> None:
    """Every CPU counts its packets in one plain variable, under a lock. With the fault it counts before it has it."""
    p, one, bug = spec.program, spec.domain("one", 1), spec.values.knob("bug")
    count = spec.struct("tcp_sock", one, {"segs_in": 0}, 1)
    sock = spec.struct("sock", one, {"sk_lock.slock": 0}, 1)
    lock = spec.spinlocks("sk_lock.slock", sock, "sk_lock.slock", T.QUEUED)
    with p.symbol("tcp_v6_rcv"):
        p.label("tcp_v6_rcv")
        p.uniform(N, 400_000)
        p.work(80_000, by=N, fs=1000)
        with p.where(1 - bug, "under the lock"):
            p.lock(lock)
        p.read(count, "segs_in")
        p.write(count, "segs_in")
        with p.where(bug, "before the lock"):
            p.lock(lock)
        p.work(60_000)
        p.unlock(lock)
        p.jump("tcp_v6_rcv")
    spec.spawn_threads("softirq", "tcp_v6_rcv", cpus, mod=cpus)


def _wakeup(spec: Spec, cpus: int) -> None:
    """A producer and a consumer that sleeps. With the fault the consumer looks before it announces itself."""
    p, one = spec.program, spec.domain("one", 1)
    lines = spec.struct("queue", one, {"item": 0, "waiting": 0}, 1)
    cells = spec.table("queue", one, item=Integer(0, 1), waiting=Integer(0, 1), made=Integer(0, 1 << 30))
    bug = spec.values.knob("bug")
    with p.symbol("consumer"):
        p.label("start")
        p.branch(CPU, "!=", 0, "producer")
        p.set(THREAD, 1)
        p.label("consumer.again")
        with p.where(1 - bug, "announce first"):
            p.write(lines, "waiting")
            p.store(cells, "waiting", 1)
        p.label("consumer")
        p.read(lines, "item")
        p.load(N, cells, "item")
        p.branch(N, "!=", 0, "consumer.take")
        with p.where(bug, "announce late"):
            p.work(90_000)
            p.label("consumer.announce")
            p.write(lines, "waiting")
            p.store(cells, "waiting", 1)
        p.sleep()
        p.jump("consumer.again")
        p.label("consumer.take")
        p.write(lines, "item")
        p.store(cells, "item", 0)
        p.store(cells, "waiting", 0)
        p.wake_thread(THREAD)
        p.work(300_000)
        p.jump("consumer.again")
    with p.symbol("producer"):
        p.label("producer")
        p.set(THREAD, 0)
        p.label("producer.again")
        p.load(N, cells, "made")
        p.alu(N, N, "&", 7)
        p.set(M, 7)
        p.alu(M, M, "-", N)
        p.work(100_000, by=M, fs=80_000_000)  # from 660 ns down to 100 ns, and again
        p.add(cells, "made", 1)
        p.write(lines, "item")
        p.store(cells, "item", 1)
        p.read(lines, "waiting")
        p.load(N, cells, "waiting")
        p.branch(N, "==", 0, "producer.sleep")
        p.wake_thread(THREAD)
        p.label("producer.sleep")
        p.sleep()
        p.jump("producer.again")
    spec.spawn_threads("thread", "start", 2, mod=2)


#: By the name of the sample that watches them.
PROGRAMS: Final[dict[str, Callable[[Spec, int], None]]] = {
    "false-sharing": _two_counters, "readers": _readers, "spinlock": _spinlock, "counter": _counter, "wakeup": _wakeup,
}
