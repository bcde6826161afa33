"""Where a program may not go, and what it may not hold when it does."""

from __future__ import annotations

from tests.sim.verifier.refusals import Refusals, a_row, check_refusal
from tests.sim.verifier.small import R0, R1, R2, Body, Small

CASES = Refusals()
refused = CASES.refused


# -- control ------------------------------------------------------------------------------------------------


@refused("thread", "the program ends here: nothing follows")
def falls_off_the_end(s: Small) -> None:
    s.p.jump("end of the program")
    s.p.label("later")
    s.p.halt()


@refused("thread", "returns, but no subroutine was called")
def returns_too_often(s: Small) -> None:
    s.p.ret()


@refused("thread", "calls itself: recursion has no end")
def recursion(s: Small) -> None:
    s.p.label("fact")
    s.p.call("fact")
    s.p.ret()


@refused("thread", "calls go deeper than 8")
def too_deep(s: Small) -> None:
    for k in range(9):
        s.p.call(f"level{k}")
        s.p.halt()
        s.p.label(f"level{k}")
    s.p.ret()


# -- locks --------------------------------------------------------------------------------------------------


@refused("thread", "halts with lock 0 (slock) (taken at 2) held")
def halts_with_a_lock(s: Small) -> None:
    a_row(s)
    s.p.lock(s.lock, R1)


@refused("thread", "sleeps with lock 0 (slock) (taken at 1) held")
def sleeps_with_a_lock(s: Small) -> None:
    s.p.lock(s.lock)
    s.p.sleep()


@refused("thread", "yields with lock 0 (slock) (taken at 1) held")
def yields_with_a_lock(s: Small) -> None:
    s.p.lock(s.lock)
    s.p.yield_()


@refused("softirq", "ends with lock 0 (slock) (taken at 0) held")
def ends_with_a_lock(s: Small) -> None:
    s.p.lock(s.lock)


@refused("thread", "releases a lock that is not held")
def released_twice(s: Small) -> None:
    s.p.lock(s.lock)
    s.p.unlock(s.lock)
    s.p.unlock(s.lock)


@refused("thread", "releases a lock that is not held")
def another_lock_released(s: Small) -> None:
    s.p.lock(s.lock)
    s.p.unlock(s.other)


@refused("thread", "releases a lock of this set, but not surely on the row that was taken")
def another_row_released(s: Small) -> None:
    a_row(s)
    s.p.lock(s.lock, R1)
    a_row(s)
    s.p.unlock(s.lock, R1)


@refused("thread", "releases a lock of this set, but not surely on the row that was taken")
def row_changed_in_a_loop(s: Small) -> None:
    s.p.uniform(R2, 3)
    s.p.label("again")
    s.p.set(R1, R2)
    s.p.uniform(R2, 3)
    s.p.lock(s.lock, R1)
    s.p.unlock(s.lock, R2)
    s.p.jump("again")


@refused("thread", "is reached with no lock held on one way and lock 0 (slock) on another")
def locked_on_one_way(s: Small) -> None:
    a_row(s)
    s.p.branch(R1, "==", 1, "join")
    s.p.lock(s.lock)
    s.p.label("join")
    s.p.unlock(s.lock)


@refused("thread", "is reached with no lock held on one way and lock 0 (slock) on another")
def locked_in_a_loop(s: Small) -> None:
    s.p.set(R0, 3)
    s.p.label("again")
    s.p.lock(s.lock)
    s.p.loop(R0, "again")


@refused("thread", "halts with lock 0 (slock) (taken at 4) held")
def subroutine_keeps_a_lock(s: Small) -> None:
    s.p.call("take")
    s.p.jump("thread.halt")
    s.p.label("take")
    s.p.set(R0, 1)
    s.p.lock(s.lock)
    s.p.ret()
    s.p.label("thread.halt")


@CASES.each()
def test_it_is_refused_with_the_instruction_and_the_reason(kind: str, body: Body, reason: str) -> None:
    check_refusal(kind, body, reason)
