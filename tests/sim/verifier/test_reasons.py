"""Every kind of unsound program is refused, with the instruction and the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim.spec import Integer
from sim.verifier import Unsound, verify
from tests.sim.verifier.small import CPU, INDEX, R0, R1, R2, R3, Body, Small

Case = tuple[str, str, Body, str]
CASES: list[Case] = []


def refused(kind: str, reason: str) -> Callable[[Body], Body]:
    """The body below, executed by a context of this kind, is refused for this reason."""

    def keep(body: Body) -> Body:
        CASES.append((body.__name__, kind, body, reason))
        return body

    return keep


def a_row(s: Small) -> None:
    """R1 = a socket."""
    s.p.uniform(R1, 3)


# -- registers --------------------------------------------------------------------------------------------


@refused("thread", "r0 is read but not set on every way here")
def unset(s: Small) -> None:
    s.p.alu(R1, R0, "+", 1)


@refused("thread", "r1 is read but not set on every way here")
def copy_of_unset(s: Small) -> None:
    s.p.set(R1, R0)
    s.p.count("n", R1)


@refused("thread", "r0 is read but not set on every way here")
def unset_on_one_way(s: Small) -> None:
    a_row(s)
    s.p.branch(R1, "==", 0, "join")
    s.p.set(R0, 1)
    s.p.label("join")
    s.p.count("n", R0)


@refused("thread", "r0 is read but not set on every way here")
def unset_when_empty(s: Small) -> None:
    s.p.pop(s.free, R0, empty="join")
    s.p.label("join")
    s.p.read(s.lines, "lock", R0)


@refused("softirq", "r15 is preset for all softirqs of a CPU: it may not be written")
def preset_written(s: Small) -> None:
    s.p.set(CPU, 0)


# -- rows and items -----------------------------------------------------------------------------------------


@refused("thread", "r1 is 0 to 3; rows of lines 0 (sock) go from 0 to 2")
def row_too_large(s: Small) -> None:
    s.p.uniform(R1, 4)
    s.p.read(s.lines, "lock", R1)


@refused("thread", "r1 is -1 to 1; rows of table 0 (sock) go from 0 to 2")
def row_below_zero(s: Small) -> None:
    s.p.uniform(R1, 3)
    s.p.alu(R1, R1, "-", 1)
    s.p.load(R0, s.table, "state", R1)


@refused("thread", "r0 may be none; items of queue 1 (backlog) go from 0 to 7")
def item_none(s: Small) -> None:
    a_row(s)
    s.p.load(R0, s.table, "head", R1)
    s.p.push(s.backlog, R0, R1)


@refused("thread", "r0 refers to domain 3 (skb); rows of queue 1 (backlog) are domain 2 (sock)")
def row_of_another_domain(s: Small) -> None:
    s.p.pop(s.free, R0)
    s.p.qlen(s.backlog, R1, R0)


@refused("thread", "r0 refers to domain 4 (page); items of queue 0 (free) are domain 3 (skb)")
def item_of_another_domain(s: Small) -> None:
    s.p.pop(s.pages, R0)
    s.p.push(s.free, R0)


@refused("thread", "moves items of domain 4 (page) to a queue of domain 3 (skb)")
def splice_of_another_domain(s: Small) -> None:
    s.p.splice(s.pages, s.free)


@refused("thread", "r2 is 1 to 3; rows of queue 1 (backlog) go from 0 to 2")
def row_counted_too_far(s: Small) -> None:
    s.p.set(R2, 0)
    s.p.label("again")
    s.p.alu(R2, R2, "+", 1)
    s.p.qlen(s.backlog, R0, R2)
    s.p.branch(R2, "<", 3, "again")


@refused("thread", "line 2 of a row; lines 0 (sock) has 2")
def line_outside(s: Small) -> None:
    s.lines.fields["queue"] = 2  # type: ignore[index]
    s.p.read(s.lines, "queue", INDEX)
    s.lines.fields["queue"] = 1  # type: ignore[index]


@refused("thread", "the item in r0 is on a queue already")
def pushed_twice(s: Small) -> None:
    s.p.pop(s.free, R0)
    s.p.push(s.free, R0)
    s.p.push(s.backlog, R0)


@refused("thread", "the item in r3 is on a queue already")
def copy_pushed(s: Small) -> None:
    s.p.pop(s.free, R0)
    s.p.set(R3, R0)
    s.p.push(s.free, R0)
    s.p.push(s.backlog, R3)


@refused("thread", "the item in r0 was seen, not taken off its queue")
def peeked_and_pushed(s: Small) -> None:
    s.p.peek(s.free, R0)
    s.p.push(s.backlog, R0)


@refused("thread", "r0 is a number, not an item off a queue or out of a cell")
def number_pushed(s: Small) -> None:
    s.p.uniform(R0, 8)
    s.p.push(s.backlog, R0)


# -- types of cells -----------------------------------------------------------------------------------------


@refused("thread", "stores 8 in sock.state, whose type has 0 to 7")
def store_too_large(s: Small) -> None:
    s.p.store(s.table, "state", 8)


@refused("thread", "stores -1 to 7 in sock.peer, whose type has 0 to 2")
def store_none(s: Small) -> None:
    s.p.load(R0, s.table, "head")
    s.p.alu(R0, R0, "+", 0)
    s.p.store(s.table, "peer", R0)


@refused(
    "thread",
    "stores a reference to domain 3 (skb) in sock.peer, which holds references to domain 2 (sock)",
)
def store_of_another_domain(s: Small) -> None:
    s.p.pop(s.free, R0)
    s.p.store(s.table, "peer", R0)


@refused("thread", "adds to sock.head, which holds references to domain 3 (skb)")
def add_to_a_reference(s: Small) -> None:
    s.p.add(s.table, "head", 1)


@refused("thread", "r0 is any number; rows of lines 0 (sock) go from 0 to 2")
def added_to_is_any_number(s: Small) -> None:
    s.p.add(s.table, "state", 1)
    s.p.load(R0, s.table, "state")
    s.p.read(s.lines, "lock", R0)


@refused("thread", "r0 is any number: work may not be negative")
def stored_without_bounds_is_any_number(s: Small) -> None:
    s.p.now(R1)
    s.p.store(s.table, "bytes", R1)
    s.p.load(R0, s.table, "bytes")
    s.p.work(0, by=R0, fs=1)


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


# -- who may do what ----------------------------------------------------------------------------------------


@refused("agent", "an agent may not do this")
def agent_touches_a_line(s: Small) -> None:
    s.p.read(s.lines, "lock")


@refused("agent", "an agent may not do this")
def agent_locks(s: Small) -> None:
    s.p.lock(s.lock)


@refused("agent", "an agent may not do this")
def agent_yields(s: Small) -> None:
    s.p.yield_()


@refused("agent", "an agent has no caches to copy through")
def agent_copies(s: Small) -> None:
    s.p.set(R0, 64)
    s.p.work(0, by=R0, fs=1, copy=True)


@refused("agent", "an agent has no CPU of its own to interrupt")
def agent_raises_here(s: Small) -> None:
    s.p.raise_(0)


@refused("agent", "an agent may not do this")
def agent_ends(s: Small) -> None:
    s.p.end()


@refused("thread", "a thread may not do this")
def thread_ends(s: Small) -> None:
    s.p.end()


@refused("softirq", "a softirq may not do this")
def softirq_sleeps(s: Small) -> None:
    s.p.sleep()


@refused("softirq", "a softirq may not do this")
def softirq_yields(s: Small) -> None:
    s.p.yield_()


@refused("softirq", "a softirq may not do this")
def softirq_halts(s: Small) -> None:
    s.p.halt()


@refused("thread", "r0 is 0 to 2; CPUs go from 0 to 1")
def interrupts_no_cpu(s: Small) -> None:
    s.p.uniform(R0, 3)
    s.p.raise_(0, 0, R0)


@refused("thread", "r0 is 1; threads go from 0 to 0")
def wakes_no_thread(s: Small) -> None:
    s.p.set(R0, 1)
    s.p.wake_thread(R0)


@refused("thread", "r0 is -1; agents go from 0 to 0")
def wakes_no_agent(s: Small) -> None:
    s.p.set(R0, -1)
    s.p.wake_agent(R0)


@refused("thread", "vector is 1: there is no vector of that number")
def no_vector(s: Small) -> None:
    s.p.raise_(1)


# -- numbers ------------------------------------------------------------------------------------------------


@refused("thread", "divides by the number, which may be 0 (0)")
def divides_by_zero(s: Small) -> None:
    s.p.alu(R0, CPU, "//", 0)


@refused("thread", "divides by r0, which may be 0 (0 to 4)")
def may_divide_by_zero(s: Small) -> None:
    s.p.uniform(R0, 5)
    s.p.alu(R0, CPU, "%", R0)


@refused("thread", "r0 (0 to 4503599627370496) * r0 (0 to 4503599627370496) could overflow")
def product_overflows(s: Small) -> None:
    s.p.now(R0)
    s.p.alu(R0, R0, "*", R0)


@refused("thread", "r0 (0 to 4503599627370496) << the number (20) could overflow")
def shift_overflows(s: Small) -> None:
    s.p.now(R0)
    s.p.alu(R0, R0, "<<", 20)


@refused("thread", "shifts by the number (-1); 0 to 62 are possible")
def shift_backwards(s: Small) -> None:
    s.p.alu(R0, CPU, ">>", -1)


@refused("thread", "the work is -5 ps: it may not be negative")
def negative_work(s: Small) -> None:
    s.p.work(-5)


@refused("thread", "the work is 140737488355328 ps: times could overflow from 140737488355328 on")
def endless_work(s: Small) -> None:
    s.p.work(1 << 47)


@refused("thread", "r0 is -1 to 2: work may not be negative")
def negative_units(s: Small) -> None:
    s.p.uniform(R0, 4)
    s.p.alu(R0, R0, "-", 1)
    s.p.work(0, by=R0, fs=1)


@refused("thread", "the work for one is -1 fs: it may not be negative")
def negative_unit(s: Small) -> None:
    s.p.work(0, by=CPU, fs=-1)


@refused("thread", "r0 is 0 to 4503599627370496: 1000000 fs for each could overflow")
def units_overflow(s: Small) -> None:
    s.p.now(R0)
    s.p.work(0, by=R0, fs=1_000_000)


@refused("thread", "copy is 2; 0 and 1 are possible")
def copy_flag(s: Small) -> None:
    s.p.work(0, by=CPU, fs=1, copy=2)  # type: ignore[arg-type]


@refused("thread", "the delay is -1 ps: it may not be negative")
def negative_delay(s: Small) -> None:
    s.p.raise_(0, -1)


@refused("thread", "the delay is 4503599627370496 ps: times could overflow from 4503599627370496 on")
def endless_delay(s: Small) -> None:
    s.p.set(R0, 0)
    s.p.wake_thread(R0, 1 << 52)


@refused("thread", "draws with 2147483648; 0 to 2147483647 are possible")
def draw_overflows(s: Small) -> None:
    s.p.uniform(R0, 1 << 31)


@refused("thread", "draws with -1; 0 to 1099511627775 are possible")
def negative_mean(s: Small) -> None:
    s.p.exponential(R0, -1)


@refused("thread", "value is 4611686018427387904, which could overflow")
def number_overflows(s: Small) -> None:
    s.p.set(R0, 1 << 62)


@refused("thread", "dst is 16: there is no register of that number")
def no_register(s: Small) -> None:
    s.p.set(type(R0)(16, "r16"), 0)


@pytest.mark.parametrize(("kind", "body", "reason"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_unsound_program_is_refused(kind: str, body: Body, reason: str) -> None:
    last = {"thread": "halt", "agent": "halt", "softirq": "end"}[kind]

    def whole(s: Small) -> None:
        body(s)
        getattr(s.p, last)()

    small = Small(**{kind: whole})
    small.p.label("end of the program")
    with pytest.raises(Unsound) as caught:
        verify(small.spec)
    assert caught.value.reason == reason
    assert caught.value.address is not None
    assert caught.value.symbol in ("tcp_v4_rcv", "tcp_recvmsg", "sender")
    assert caught.value.line.split()[0].upper() == small.p.code[caught.value.address].op


def test_the_refusal_names_the_instruction() -> None:
    def body(s: Small) -> None:
        s.p.uniform(R1, 4)
        s.p.read(s.lines, "lock", R1)
        s.p.halt()

    small = Small(thread=body)
    with pytest.raises(Unsound) as caught:
        verify(small.spec)
    error = caught.value
    assert (error.address, error.label, error.line, error.symbol) == (
        2, "thread+1", "access read sock r1 lock", "tcp_recvmsg",
    )
    assert str(error) == (
        "instruction 2 (thread+1) `access read sock r1 lock` in tcp_recvmsg: "
        "r1 is 0 to 3; rows of lines 0 (sock) go from 0 to 2"
    )


def test_only_what_the_knobs_leave_in_is_followed() -> None:
    def body(s: Small) -> None:
        with s.p.when("key"):
            s.p.work(s.number)
        s.p.halt()

    spec = Small(thread=body).spec
    verify(spec, {"key": 0, "number": -1})
    verify(spec, {"key": 1, "number": 1})
    with pytest.raises(Unsound, match="the work is -1 ps"):
        verify(spec, {"key": 1, "number": -1})


def test_the_default_integer_takes_any_number() -> None:
    def body(s: Small) -> None:
        s.p.now(R0)
        s.p.store(s.table, "bytes", R0)
        s.p.load(R0, s.table, "bytes")
        s.p.count("n", R0)
        s.p.halt()

    assert Integer() == Small().table.columns["bytes"]
    verify(Small(thread=body).spec)
