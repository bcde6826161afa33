"""What is sound is not refused: branches, loops, subroutines and copies are understood."""

from __future__ import annotations

import pytest

from sim.verifier import verify
from tests.sim.verifier.small import CPU, INDEX, R0, R1, R2, R3, Body, Small


def none_is_asked(s: Small) -> None:
    s.p.uniform(R1, 3)
    s.p.load(R0, s.table, "head", R1)
    s.p.branch(R0, "==", -1, "thread.done")
    s.p.push(s.backlog, R0, R1)


def none_is_asked_of_a_copy(s: Small) -> None:
    s.p.load(R0, s.table, "head")
    s.p.set(R2, R0)
    s.p.branch(R2, "<", 0, "thread.done")
    s.p.push(s.backlog, R0)


def a_row_counted_up(s: Small) -> None:
    s.p.set(R1, 0)
    s.p.label("again")
    s.p.qlen(s.backlog, R0, R1)
    s.p.alu(R1, R1, "+", 1)
    s.p.branch(R1, "<", 3, "again")


def a_row_counted_down(s: Small) -> None:
    s.p.set(R1, 2)
    s.p.label("again")
    s.p.qlen(s.backlog, R0, R1)
    s.p.loop(R1, "again")


def a_row_by_modulo_of_any_number(s: Small) -> None:
    s.p.add(s.table, "bytes", 7)
    s.p.load(R0, s.table, "bytes")
    s.p.alu(R0, R0, "%", 3)
    s.p.read(s.lines, "lock", R0)


def a_row_between_registers(s: Small) -> None:
    s.p.now(R0)
    s.p.uniform(R1, 3)
    s.p.branch(R0, ">", R1, "thread.done")
    s.p.read(s.lines, "lock", R0)


def a_lock_by_a_copy_of_its_row(s: Small) -> None:
    s.p.uniform(R1, 3)
    s.p.set(R2, R1)
    s.p.lock(s.lock, R1)
    s.p.uniform(R1, 3)
    s.p.unlock(s.lock, R2)


def a_lock_in_a_loop(s: Small) -> None:
    s.p.set(R3, 5)
    s.p.label("again")
    s.p.uniform(R1, 3)
    s.p.lock(s.lock, R1)
    s.p.work(1000)
    s.p.unlock(s.lock, R1)
    s.p.loop(R3, "again")


def a_loop_under_a_lock(s: Small) -> None:
    s.p.uniform(R1, 3)
    s.p.lock(s.lock, R1)
    s.p.set(R3, 5)
    s.p.label("again")
    s.p.work(1000)
    s.p.loop(R3, "again")
    s.p.unlock(s.lock, R1)


def the_row_chosen_on_two_ways(s: Small) -> None:
    s.p.uniform(R1, 3)
    s.p.branch(R1, "==", 2, "two")
    s.p.set(R1, 0)
    s.p.lock(s.lock, R1)
    s.p.jump("locked")
    s.p.label("two")
    s.p.lock(s.lock, R1)
    s.p.label("locked")
    s.p.unlock(s.lock, R1)


def a_subroutine_that_unlocks(s: Small) -> None:
    s.p.uniform(R1, 3)
    s.p.lock(s.lock, R1)
    s.p.call("release")
    s.p.jump("thread.done")
    s.p.label("release")
    s.p.unlock(s.lock, R1)
    s.p.ret()


def a_subroutine_for_two_kinds_of_rows(s: Small) -> None:
    s.p.pop(s.free, R0)
    s.p.call("twice")
    s.p.push(s.free, R0)
    s.p.uniform(R0, 3)
    s.p.call("twice")
    s.p.read(s.lines, "lock", R0)
    s.p.jump("thread.done")
    s.p.label("twice")
    s.p.work(10)
    s.p.ret()


def eight_calls_deep(s: Small) -> None:
    for k in range(8):
        s.p.call(f"level{k}")
        s.p.jump("thread.done")
        s.p.label(f"level{k}")
    s.p.ret()


def pushed_elsewhere_when_full(s: Small) -> None:
    s.p.pop(s.free, R0)
    s.p.push(s.backlog, R0, INDEX, full="back")
    s.p.jump("thread.done")
    s.p.label("back")
    s.p.push(s.free, R0)


def pops_of_an_empty_queue_may_fail(s: Small) -> None:
    s.p.pop(s.pages, R0, empty="thread.done")
    s.p.push(s.pages, R0, front=True)
    s.p.raise_(0, 5, CPU)


BODIES = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", "") == __name__]


@pytest.mark.parametrize("body", BODIES, ids=[body.__name__ for body in BODIES])
def test_sound_program_is_accepted(body: Body) -> None:
    def whole(s: Small) -> None:
        body(s)
        s.p.label("thread.done")
        s.p.halt()

    verify(Small(thread=whole).spec)
