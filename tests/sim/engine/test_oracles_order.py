"""Order: first in first out, no wake-up lost, interrupts delivered."""

from __future__ import annotations

import pytest

from sim.engine import tables
from sim.spec import Integer, Spec
from tests.sim.engine.oracle import CPU, FLAT, R0, R1, R2, US, Run


def test_first_in_first_out() -> None:
    """Items leave a queue as they came, also after a splice; those put in front leave first."""
    s = Spec()
    p = s.program
    one, item = s.domain("one", 1), s.domain("item", 10)
    a, b = s.queue("a", one, item), s.queue("b", one, item)
    s.fill(a, 6)
    s.fill(b, 3, first=6)
    s.cost(**FLAT)
    order = s.table("order", item, place=Integer(0, 100))
    with p.symbol("thread"):
        p.label("thread")
        p.pop(a, R0)
        p.push(a, R0)  # 1 2 3 4 5 0
        p.splice(b, a)  # 1 2 3 4 5 0 6 7 8
        p.pop(a, R0)
        p.pop(a, R1)
        p.push(a, R0, front=True)
        p.push(a, R1, front=True)  # 2 1 3 4 5 0 6 7 8
        p.set(R2, 0)
        p.label("next")
        p.pop(a, R0, empty="done")
        p.store(order, "place", R2, R0)
        p.alu(R2, R2, "+", 1)
        p.branch(R2, "<", 20, "next")
        p.label("done")
        p.halt()
    s.spawn_threads("thread", "thread")
    run = Run(s, US, tables.HALTED)
    at = run.word(tables.H_AT_CELL)
    assert list(run.arena[at : at + 9]) == [5, 1, 0, 2, 3, 4, 6, 7, 8]


@pytest.mark.parametrize("delay", [0, 1, 499_999, 3 * US])
def test_no_wake_up_is_lost(delay: int) -> None:
    """A consumer that checks and then sleeps sees every item, whenever the wake-up comes."""
    s = Spec()
    p = s.program
    one, item = s.domain("one", 1), s.domain("item", 500)
    free, ready = s.queue("free", one, item), s.queue("ready", one, item)
    s.fill(free, 500)
    s.cost(**FLAT, switch_ps=100_000, idle_exit_ps=50_000)
    with p.symbol("consumer"):
        p.label("consumer")
        p.pop(ready, R0, empty="consumer.sleep")
        p.work(200_000)
        p.count("seen")
        p.jump("consumer")
        p.label("consumer.sleep")
        p.work(400_000)  # a wake-up now comes before the sleep
        p.sleep()
        p.jump("consumer")
        p.label("producer")
        p.pop(free, R0, empty="producer.done")
        p.exponential(R1, 600_000)
        p.work(0, by=R1, fs=1_000)
        p.push(ready, R0)
        p.set(R1, 0)
        p.wake_thread(R1, delay)
        p.jump("producer")
        p.label("producer.done")
        p.halt()
    s.spawn_threads("consumer", "consumer")
    s.spawn_agents("producer", "producer")
    run = Run(s, 10_000 * US, tables.DEADLOCK, seed=2)
    assert run.stat("seen") == 500


def test_interrupts_between_cpus_are_delivered() -> None:
    """Packets steered to other CPUs by an IPI each arrive there, one IPI latency after they were sent."""
    cpus, packets, latency = 4, 300, 700_000
    s = Spec()
    p = s.program
    cpu, item, one = s.domain("cpu", cpus), s.domain("item", packets), s.domain("one", 1)
    source, backlog = s.queue("source", one, item), s.queue("backlog", cpu, item)
    seen = s.table("seen", cpu, packets=Integer())
    stamp = s.table("stamp", item, at=Integer(0, tables.INF))
    s.fill(source, packets)
    s.cost(sockets=1, cores_per_socket=cpus, threads_per_core=1)
    ipi = s.vector("ipi")
    with p.symbol("rps"):
        p.label("ipi")
        p.pop(backlog, R0, CPU, empty="ipi.done")
        p.add(seen, "packets", 1, CPU)
        p.now(R1)
        p.load(R2, stamp, "at", R0)
        p.alu(R1, R1, "-", R2)
        p.count("latency", R1)
        p.jump("ipi")
        p.label("ipi.done")
        p.end()
        p.label("steer")
        p.pop(source, R0, empty="steer.done")
        p.work(US)
        p.alu(R1, R0, "%", cpus)
        p.now(R2)
        p.store(stamp, "at", R2, R0)
        p.push(backlog, R0, R1)
        p.raise_(ipi, latency, R1)
        p.jump("steer")
        p.label("steer.done")
        p.halt()
    s.spawn_threads("steer", "steer")
    run = Run(s, 1_000 * US, tables.HALTED)
    at = run.word(tables.H_AT_CELL)
    assert list(run.arena[at : at + cpus]) == [packets // cpus] * cpus
    # The steering CPU itself is at work when its own come due: it takes them up after the packet under way.
    assert packets * latency <= run.stat("latency") <= packets * latency + packets // cpus * US
