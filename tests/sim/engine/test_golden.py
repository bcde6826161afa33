"""Golden integers: what small fixed specs give, worked out by hand where that can be done, on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from sim.engine import tables as T
from sim.program import Program, Register
from sim.spec import Integer, Spec

from .small import R0, R1, R2, all_engines, profile, run, spec, word


@pytest.fixture(params=all_engines(), ids=lambda engine: type(engine).__name__)
def engine(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_line_goes_from_memory_to_a_core_and_between_cores(engine: Any) -> None:
    def write(s: Spec, p: Program) -> None:
        line = s.struct("sock", s.domain("one", 1), {"refcount": 0}, 1)
        for label, pause in (("a", 0), ("b", 1_000_000)):
            with p.symbol(label):
                p.label(label)
                p.work(pause)
                p.atomic(line, "refcount")
                p.atomic(line, "refcount")
                p.work(2_000_000)
                p.read(line, "refcount")
                p.read(line, "refcount")
                p.halt()
        s.spawn_threads("a", "a", base=0)
        s.spawn_threads("b", "b", base=1)

    new = spec(write)
    _, arena = run(engine, new)
    # a: from memory, then its own; much later b has it, so a read transfers it, and the next one is a hit.
    assert profile(arena, new, 2) == {
        "__schedule": 300_000, "a": (80_000 + 6_000) + (1_000 + 6_000) + 2_000_000 + 40_000 + 1_000,
    }
    # b: a transfer from a, then its own; both share it since a's read, so both reads are hits.
    assert profile(arena, new, 3) == {
        "__schedule": 300_000, "b": 1_000_000 + (40_000 + 6_000) + (1_000 + 6_000) + 2_000_000 + 1_000 + 1_000,
    }
    assert (arena[T.H_TRANSFERS], arena[T.H_MEMORY_READS]) == (2, 1)
    assert (word(arena, "line", 0, "owner"), word(arena, "line", 0, "sharers0")) == (-1, 0b11)


@pytest.mark.parametrize(("kind", "hand_overs"), [
    (T.TICKET, (60_000, 40_000)),  # 1.5 transfers while another one waits, then 1
    (T.QUEUED, (48_000, 48_000)),  # 1.2 transfers whoever waits
])
def test_a_lock_is_handed_over_in_the_order_of_arrival(
    engine: Any, kind: int, hand_overs: tuple[int, int]
) -> None:
    def write(s: Spec, p: Program) -> None:
        line = s.struct("queue", s.domain("one", 1), {"lock": 0}, 1)
        lock = s.spinlocks("queue_lock", line, "lock", kind)
        p.label("main")
        p.alu(R0, Register(15, "cpu"), "*", 200_000)
        p.work(0, R0, 1_000)  # CPU 0 comes first, CPU 1 200,000 ps later, then CPU 2
        p.lock(lock)
        p.work(1_000_000)
        p.unlock(lock)
        p.now(R1)
        p.halt()
        s.spawn_threads("worker", "main", count=3, mod=3)

    new = spec(write, cores_per_socket=3, switch_ps=0)
    _, arena = run(engine, new)
    released = [86_000 + 1_000_000]
    for hand_over in hand_overs:
        released.append(released[-1] + hand_over + 1_000_000)
    assert [word(arena, "context", 3 + i, "r1") for i in range(3)] == [at + 1_000 for at in released]
    waits = released[0] + hand_overs[0] - 200_000 + released[1] + hand_overs[1] - 400_000
    assert word(arena, "lock", 0, "wait_ps") == waits
    assert [word(arena, "lock", 0, name) for name in ("acquired", "contended", "waiters")] == [3, 2, 0]


def receive(s: Spec, p: Program) -> None:
    """A NIC, its softirq, a reader that sleeps: the smallest receive path."""
    one, packet = s.domain("one", 1), s.domain("packet", 8)
    free = s.queue("free", one, packet)
    s.fill(free, 8)
    ring, backlog = s.queue("ring", one, packet, 4), s.queue("backlog", one, packet, 4)
    counters = s.table("counters", one, read=Integer())
    sock = s.struct("sock", one, {"lock": 0, "rcv_nxt": 0, "rcvbuf": 1}, 2)
    lock = s.spinlocks("sk_lock", sock, "lock")
    p.label("nic")
    p.exponential(R1, 900)
    p.work(0, R1, 1_000_000)
    p.pop(free, R0, empty="nic")
    p.push(ring, R0, full="drop")
    p.set(R2, 0)
    p.raise_(0, cpu=R2)
    p.jump("nic")
    p.label("drop")
    p.push(free, R0)
    p.count("dropped")
    p.jump("nic")
    with p.symbol("net_rx_action"):
        p.label("softirq")
        p.pop(ring, R0, empty="done")
        p.work(150_000)
        p.lock(lock)
        p.write(sock, "rcv_nxt")
        p.push(backlog, R0, full="full")
        p.unlock(lock)
        p.set(R1, 0)
        p.wake_thread(R1, 100_000)
        p.jump("softirq")
        p.label("full")
        p.push(free, R0)
        p.count("pruned")
        p.unlock(lock)
        p.jump("softirq")
        p.label("done")
        p.end()
    with p.symbol("tcp_recvmsg"):
        p.label("reader")
        p.lock(lock)
        p.pop(backlog, R0, empty="nothing")
        p.unlock(lock)
        p.read(sock, "rcvbuf")
        p.uniform(R1, 1_460)
        p.work(200_000, R1, 300_000, copy=True)
        p.push(free, R0)
        p.add(counters, "read", 1)
        p.jump("reader")
        p.label("nothing")
        p.unlock(lock)
        p.sleep()
        p.jump("reader")
    s.vector("softirq")
    s.spawn_agents("nic", "nic")
    s.spawn_threads("reader", "reader", base=1)


def test_the_smallest_receive_path(engine: Any) -> None:
    new = spec(receive, l2_lines=64, llc_lines=4_096)
    status, arena = run(engine, new, until=1_000_000_000, seed=1)
    assert status == T.REACHED
    stats = dict(zip(new.stats, arena[arena[T.H_AT_STAT] :].tolist(), strict=False))
    assert stats == {"dropped": 0, "pruned": 11}
    assert arena[arena[T.H_AT_CELL]] == 1_069  # packets read
    assert profile(arena, new, 0) == {"net_rx_action": 202_609_400}
    assert profile(arena, new, 3) == {"__schedule": 99_900_000, "tcp_recvmsg": 490_163_600}
    assert [word(arena, "cpu", i, "idle") for i in (0, 1)] == [793_734_600, 406_887_700]
    assert [word(arena, "queue", i, "length") for i in range(3)] == [8, 0, 0]
    areas = [word(arena, "queue", i, "area") for i in range(3)]
    assert areas == [6_305_859_800, 224_066_800, 796_635_300]
    assert arena[T.H_STEPS] == 31_416


def test_the_smallest_receive_path_with_another_seed_is_another_run(engine: Any) -> None:
    new = spec(receive, l2_lines=64, llc_lines=4_096)
    runs = [run(engine, new, until=100_000_000, seed=seed)[1] for seed in (1, 1, 2)]
    assert (runs[0] == runs[1]).all()
    assert runs[0][T.H_STEPS] != runs[2][T.H_STEPS]


def test_knob_arithmetic_is_the_same_everywhere(engine: Any) -> None:
    new = Spec(knobs=("x", "y"))
    new.cost(sockets=1, cores_per_socket=1, threads_per_core=1)
    x, y = new.values.knob("x"), new.values.knob("y")
    rows = [
        x + y, x - y, x * y, x // y, x % y, x.least(y), x.most(y), x.is_(y), x.below(y), x.above(y),
        x.choose(y, 7), 5 - x, 5 // y, 3 * x + 1,
    ]
    for knobs in ((17, 5), (-17, 5), (17, -5), (0, 0), (5, 5)):
        arena = engine.build(new.image({"x": knobs[0], "y": knobs[1]}))
        words = getattr(engine, "read", lambda arena: arena)(arena)
        got = words[T.HEADER_WORDS : T.HEADER_WORDS + len(new.values.rows)].tolist()
        assert got == new.values.evaluate([0, 0, *knobs])
        assert [got[row.row] for row in rows[:2]] == [knobs[0] + knobs[1], knobs[0] - knobs[1]]
