"""A saturated lock and a line that is handed round take the time that pencil gives."""

from __future__ import annotations

import pytest

from sim.engine import tables
from sim.spec import Integer, Spec
from tests.sim.engine.oracle import CPU, US, Run


@pytest.mark.parametrize("cpus", [2, 4, 8])
@pytest.mark.parametrize("kind", [tables.TICKET, tables.QUEUED], ids=["ticket", "queued"])
def test_a_saturated_lock(kind: int, cpus: int) -> None:
    """One critical section per section + hand-over, and waiters get it in turn."""
    section, transfer, ticket, waiter, queued = 300_000, 40_000, 1_200, 400, 1_100
    s = Spec()
    p = s.program
    cpu = s.domain("cpu", cpus)
    lock = s.spinlocks("lock", s.struct("line", s.domain("one", 1), {"lock": 0}, 1), "lock", kind)
    taken = s.table("taken", cpu, times=Integer())
    s.cost(sockets=1, cores_per_socket=cpus, threads_per_core=1, same_socket_ps=transfer, hit_ps=0,
           ticket_permille=ticket, ticket_waiter_permille=waiter, queued_permille=queued)
    with p.symbol("loop"):
        p.label("loop")
        p.lock(lock)
        p.work(section)
        p.add(taken, "times", 1, CPU)
        p.unlock(lock)
        p.jump("loop")
    s.spawn_threads("loop", "loop", cpus, mod=cpus)
    # After a release cpus - 1 wait and the next of them gets it; the releaser comes back behind the others.
    others = cpus - 2
    hand_over = transfer * (ticket + waiter * others if kind == tables.TICKET else queued) // 1_000
    until = 20_000 * US
    run = Run(s, until)
    expected = until / (section + hand_over)
    assert run.lock(0, tables.K_ACQUIRED) == pytest.approx(expected, rel=0.002)
    at = run.word(tables.H_AT_CELL)
    times = run.arena[at : at + cpus]
    assert int(times.max() - times.min()) <= 1


@pytest.mark.parametrize("cpus", [2, 3, 7])
def test_a_line_handed_round(cpus: int) -> None:
    """N CPUs that change one line in a loop: each of them once per N * (transfer + atomic)."""
    transfer, atomic = 45_000, 5_000
    s = Spec()
    p = s.program
    cpu = s.domain("cpu", cpus)
    line = s.struct("line", s.domain("one", 1), {"a": 0}, 1)
    s.cost(sockets=1, cores_per_socket=cpus, threads_per_core=1, same_socket_ps=transfer, atomic_ps=atomic)
    done = s.table("done", cpu, times=Integer())
    with p.symbol("loop"):
        p.label("loop")
        p.atomic(line, "a")
        p.add(done, "times", 1, CPU)
        p.jump("loop")
    s.spawn_threads("loop", "loop", cpus, mod=cpus)
    until = 10_000 * US
    run = Run(s, until)
    at = run.word(tables.H_AT_CELL)
    times = run.arena[at : at + cpus]
    expected = until / (cpus * (transfer + atomic))
    assert abs(times - expected).max() <= 2
    assert run.word(tables.H_TRANSFERS) == pytest.approx(until / (transfer + atomic), abs=cpus)
