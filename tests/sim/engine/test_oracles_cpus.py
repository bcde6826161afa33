"""CPUs: busy and idle are all the time, siblings slow each other, ksoftirqd has its share."""

from __future__ import annotations

import pytest

from sim.engine import tables
from sim.spec import Spec
from tests.sim.engine.oracle import FLAT, R0, R1, R2, US, Run


def test_busy_and_idle_are_all_the_time() -> None:
    """Busy + idle = elapsed on each CPU, whatever it ended with."""
    s = Spec()
    p = s.program
    one = s.domain("one", 3)
    lines = s.struct("line", one, {"lock": 0}, 1)
    lock = s.spinlocks("lock", lines, "lock")
    s.cost(sockets=1, cores_per_socket=3, threads_per_core=1, hit_ps=1_000, same_socket_ps=40_000,
           memory_ps=90_000, switch_ps=300_000, idle_exit_ps=50_000, slice_ps=2 * US, chunk_ps=US // 4)
    vector = s.vector("softirq")
    with p.symbol("all"):
        p.label("softirq")
        p.work(700_001)
        p.end()
        p.label("thread")
        p.uniform(R0, 3)
        p.lock(lock)
        p.work(33_333)
        p.unlock(lock)
        p.exponential(R1, US)
        p.work(0, by=R1, fs=1_000)
        p.raise_(vector, 10_000, R0)
        p.uniform(R2, 2)
        p.branch(R2, "==", 0, "thread")
        p.sleep()
        p.jump("thread")
        p.label("agent")
        p.exponential(R1, 3 * US)
        p.work(0, by=R1, fs=1_000)
        p.uniform(R0, 5)
        p.wake_thread(R0)
        p.jump("agent")
    s.spawn_threads("thread", "thread", 5, mod=2)
    s.spawn_agents("agent", "agent")
    until = 400 * US
    run = Run(s, until, seed=4)
    tree, leaves = run.word(tables.H_AT_TREE), run.word(tables.H_LEAVES)
    for cpu in range(3):
        state, idle = run.cpu(cpu, tables.C_STATE), run.cpu(cpu, tables.C_IDLE)
        if state == tables.IDLE:
            end = run.cpu(cpu, tables.C_IDLE_SINCE)
        elif state == tables.SPINNING:
            end = run.cpu(cpu, tables.C_SPIN_SINCE)
        else:
            end = run.word(tree + leaves + cpu) >> tables.ID_BITS
        assert run.busy(cpu) + idle == end
        assert end >= until or state != tables.RUNNING


def test_a_busy_sibling_slows_work() -> None:
    """Both threads of a core get 1000 / permille of what one gets alone."""
    counts = []
    for threads in (1, 2):
        s = Spec()
        s.cost(sockets=1, cores_per_socket=1, threads_per_core=2, smt_permille=1_600)
        with s.program.symbol("busy"):
            s.program.label("busy")
            s.program.work(US)
            s.program.count("done")
            s.program.jump("busy")
        s.spawn_threads("busy", "busy", threads, mod=2)
        counts.append(Run(s, 1_600 * US + 1).stat("done"))
    assert counts[0] == 1_600
    assert abs(counts[1] - 2 * 1_000) <= 4


@pytest.mark.parametrize(("after", "slice_us"), [(2_000, 1_000), (500, 500)])
def test_ksoftirqd_gives_threads_their_share(after: int, slice_us: int) -> None:
    """A softirq that never ends leaves threads slice / (after + slice) of the CPU, to a packet's time."""
    s = Spec()
    p = s.program
    s.cost(**FLAT, ksoftirqd_after_ps=after * US, ksoftirqd_slice_ps=slice_us * US, ksoftirqd_blocks_irq=1,
           chunk_ps=US)
    vector = s.vector("flood")
    p.label("flood")
    with p.symbol("flood"):
        p.work(10 * US)
        p.raise_(vector)
        p.end()
    with p.symbol("thread"):
        p.label("thread")
        p.raise_(vector)
        p.label("thread.on")
        p.work(US)
        p.count("thread")
        p.jump("thread.on")
    s.spawn_threads("thread", "thread")
    run = Run(s, 300_000 * US)
    share = run.stat("thread") / 300_000
    assert share == pytest.approx(slice_us / (after + slice_us), rel=0.03)
