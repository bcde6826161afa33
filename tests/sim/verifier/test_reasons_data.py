"""What a program may not do to registers, rows, items of queues and cells."""

from __future__ import annotations

from tests.sim.verifier.refusals import Refusals, a_row, check_refusal
from tests.sim.verifier.small import CPU, INDEX, R0, R1, R2, R3, Body, Small

CASES = Refusals()
refused = CASES.refused


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


@CASES.each()
def test_it_is_refused_with_the_instruction_and_the_reason(kind: str, body: Body, reason: str) -> None:
    check_refusal(kind, body, reason)
