"""What ends a run is a result: its status, the actor and the instruction, the same on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from sim.engine import tables as T
from sim.program import Program
from sim.spec import Spec

from .small import R0, all_engines, run, spec, word


@pytest.fixture(params=all_engines(), ids=lambda engine: type(engine).__name__)
def engine(request: pytest.FixtureRequest) -> Any:
    return request.param


def outcome(arena: Any) -> tuple[str, int, int, int]:
    """Status, actor at fault, pc at fault, time."""
    status, *rest = (int(arena[i]) for i in (T.H_STATUS, T.H_FAULT_ACTOR, T.H_FAULT_PC, T.H_NOW))
    return (T.STATUS_NAMES[status], *rest)


def test_a_thread_that_nobody_wakes_is_a_deadlock(engine: Any) -> None:
    def write(s: Spec, p: Program) -> None:
        p.label("main")
        p.work(1_000)
        p.sleep()
        p.jump("main")
        s.spawn_threads("sleeper", "main")

    status, arena = run(engine, spec(write))
    assert status == T.DEADLOCK
    # The CPU has work at time 0, so there is no exit from idle: the switch, the work.
    assert outcome(arena) == ("deadlock", -1, -1, 301_000)
    assert word(arena, "context", 2, "state") == T.SLEEPING


def test_two_locks_taken_in_opposite_orders_are_a_deadlock(engine: Any) -> None:
    def write(s: Spec, p: Program) -> None:
        one = s.domain("one", 1)
        lines = s.struct("pair", one, {"a": 0, "b": 1}, 2)
        a, b = s.spinlocks("lock_a", lines, "a"), s.spinlocks("lock_b", lines, "b")
        for label, locks in (("ab", (a, b)), ("ba", (b, a))):
            p.label(label)
            p.lock(locks[0])
            p.work(500_000)
            p.lock(locks[1])
            p.halt()
        s.spawn_threads("first", "ab", base=0)
        s.spawn_threads("second", "ba", base=1)

    status, arena = run(engine, spec(write))
    assert status == T.DEADLOCK
    # switch, lock from memory with its atomic, work; then both ask for the other's lock and spin
    assert outcome(arena) == ("deadlock", -1, -1, 300_000 + 86_000 + 500_000)
    assert [word(arena, "cpu", i, "state") for i in (0, 1)] == [T.SPINNING, T.SPINNING]
    assert [word(arena, "lock", i, "waiters") for i in (0, 1)] == [1, 1]
    assert [word(arena, "lock", i, "head") for i in (0, 1)] == [1, 0]


def test_a_loop_that_takes_no_time_is_a_livelock(engine: Any) -> None:
    def write(s: Spec, p: Program) -> None:
        p.label("main")
        p.work(7_000)
        p.label("again")
        p.set(R0, 1)
        p.jump("again")
        s.spawn_agents("spinner", "main", start=1_000)

    status, arena = run(engine, spec(write))
    assert status == T.LIVELOCK
    # The agent is actor 2, after the CPUs. The millionth set after the work is allowed, the next instruction
    # at that instant is not: 1,000,001 instructions, of which the odd ones are sets at pc 1.
    assert outcome(arena) == ("livelock", 2, 1, 8_000)
    assert arena[T.H_STEPS] == 1 + T.LIVELOCK_STEPS + 1
    assert arena[T.H_SAME_TIME] == T.LIVELOCK_STEPS + 1


@pytest.mark.parametrize("op", ["pop", "peek", "push"])
def test_a_queue_without_a_way_out_is_exhaustion(engine: Any, op: str) -> None:
    def write(s: Spec, p: Program) -> None:
        one = s.domain("one", 1)
        queue = s.queue("ring", one, s.domain("packet", 3), capacity=2)
        s.fill(queue, 2)
        p.label("main")
        p.work(50_000)
        p.set(R0, 2)
        if op == "push":
            p.push(queue, R0)
        else:
            p.pop(queue, R0)
            p.pop(queue, R0)
            getattr(p, op)(queue, R0)
        p.halt()
        s.spawn_threads("reader", "main", base=1)

    status, arena = run(engine, spec(write))
    assert status == T.EXHAUSTED
    assert outcome(arena) == ("exhausted", 1, 2 if op == "push" else 4, 350_000)
    assert word(arena, "context", 2, "r0") == (2 if op == "push" else 1)
    assert word(arena, "queue", 0, "length") == (2 if op == "push" else 0)


def test_an_item_on_two_queues_is_corruption(engine: Any) -> None:
    def write(s: Spec, p: Program) -> None:
        one, packet = s.domain("one", 1), s.domain("packet", 3)
        first, second = s.queue("first", one, packet), s.queue("second", one, packet)
        p.label("main")
        p.work(50_000)
        p.set(R0, 2)
        p.push(first, R0)
        p.pop(first, R0)
        p.push(first, R0)  # it was taken, so this is allowed
        p.push(second, R0)
        p.halt()
        s.spawn_threads("reader", "main", base=1)

    status, arena = run(engine, spec(write))
    assert status == T.CORRUPTED
    assert outcome(arena) == ("corrupted", 1, 5, 350_000)
    assert [word(arena, "queue", i, "length") for i in (0, 1)] == [1, 0]


def test_when_all_contexts_have_stopped_nothing_is_left_to_happen(engine: Any) -> None:
    def write(s: Spec, p: Program) -> None:
        p.label("main")
        p.work(10_000)
        p.halt()
        s.spawn_threads("worker", "main", count=2)
        s.spawn_agents("source", "main")

    status, arena = run(engine, spec(write))
    assert T.STATUS_NAMES[status] == "halted"
    # Both threads on CPU 0: two switches and two works.
    assert outcome(arena)[1:] == (-1, -1, 620_000)
    assert [word(arena, "context", i, "state") for i in (2, 3, 4)] == [T.STOPPED] * 3
    assert [word(arena, "cpu", i, "state") for i in (0, 1)] == [T.IDLE, T.IDLE]


def test_a_run_stops_before_the_first_event_at_its_end_and_goes_on(engine: Any) -> None:
    def write(s: Spec, p: Program) -> None:
        p.label("main")
        p.work(100_000)
        p.count("rounds")
        p.jump("main")
        s.spawn_threads("worker", "main")

    new = spec(write, switch_ps=0)
    for until, rounds in ((99_999, 0), (100_000, 0), (100_001, 1), (1_000_000, 9)):
        status, arena = run(engine, new, until)
        assert (status, int(arena[T.H_NOW])) == (T.REACHED, until)
        assert arena[arena[T.H_AT_STAT]] == rounds


def test_a_run_that_has_ended_stays_as_it_is(engine: Any) -> None:
    def write(s: Spec, p: Program) -> None:
        queue = s.queue("ring", s.domain("one", 1), s.domain("packet", 1))
        p.label("main")
        p.pop(queue, R0)
        s.spawn_agents("source", "main")

    state = engine.build(spec(write).image())
    assert engine.run(state, 10) == T.EXHAUSTED
    read = getattr(engine, "read", lambda arena: arena.copy())
    before = read(state)
    assert engine.run(state, 10) == T.EXHAUSTED
    assert (read(state) == before).all()
