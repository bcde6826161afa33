"""The reference's objects, one at a time: a test is a sentence about one of them."""

from __future__ import annotations

import math
from random import Random

import pytest

from sim.engine import tables as T
from sim.engine.opcodes import ATOMIC, READ, WRITE
from sim.reference import Machine, ReferenceEngine
from sim.reference.actor import Actor
from sim.reference.calendar import Calendar, Turn
from sim.reference.dice import Dice, logarithm
from sim.reference.line import Line
from sim.reference.lock import Lock
from sim.reference.queue import Queue
from tests.sim.engine import corpus
from tests.sim.engine.small import spec


def machine(**costs: int) -> Machine:
    """Four cores on two sockets, nothing to do."""
    costs = {"sockets": 2, "cores_per_socket": 2, **costs}
    return ReferenceEngine().build(spec(lambda s, p: None, **costs).image())


def test_a_turn_happens_at_its_time_and_is_sent_it() -> None:
    empty = machine()
    seen = []

    class Watcher(Actor):
        def live(self):  # type: ignore[no-untyped-def]
            while True:
                seen.append((yield self.calendar.appoint(self, self.calendar.now + 5)))

    empty.calendar.process(Watcher(empty, 0).live())
    while empty.calendar.peek() <= 15:
        empty.calendar.step()
    assert seen == [5, 10, 15]


def test_an_overtaken_turn_happens_to_nobody() -> None:
    calendar = machine().calendar
    assert isinstance(calendar, Calendar)
    actor = Actor(machine(), 3)
    calls: list[int] = []
    late = calendar.appoint(actor, 100)
    assert isinstance(late, Turn)
    late.callbacks.append(lambda event: calls.append(event.value))
    calendar.bring_forward(actor, 40)
    assert actor.time == 40
    while calendar.peek() < T.INF:
        calendar.step()
    assert calls == [40]


def test_turns_at_one_time_go_to_the_lower_actor() -> None:
    empty = machine()
    order: list[int] = []
    for number in (5, 2, 9):
        turn = empty.calendar.appoint(Actor(empty, number), 7)
        turn.callbacks.append(lambda event, number=number: order.append(number))
    while empty.calendar.peek() <= 7:
        empty.calendar.step()
    assert order == [2, 5, 9]


def test_a_line_that_nobody_touched_comes_from_memory_and_is_owned_by_its_reader() -> None:
    m = machine()
    line = Line(m.memory, 0)
    assert line.access(m.cpus[0], READ, now=0) == m.costs.memory_ps
    assert line.owner is m.cores[0]
    assert m.memory.reads == 1


def test_readers_share_a_line_and_a_writer_takes_it_from_all() -> None:
    m = machine()
    line = Line(m.memory, 0)
    line.access(m.cpus[0], WRITE, now=0)
    assert line.access(m.cpus[1], READ, now=1_000_000) == m.costs.same_socket_ps
    assert line.access(m.cpus[2], READ, now=2_000_000) == m.costs.other_socket_ps
    assert line.access(m.cpus[3], READ, now=3_000_000) == m.costs.shared_read_ps
    assert line.sharers == set(m.cores)
    assert line.access(m.cpus[3], READ, now=4_000_000) == m.costs.hit_ps
    assert line.access(m.cpus[3], ATOMIC, now=5_000_000) == m.costs.other_socket_ps + m.costs.atomic_ps
    assert (line.owner, line.sharers) == (m.cores[3], set())
    assert m.memory.transfers == line.transfers == 4


def test_requests_for_a_line_are_served_one_after_the_other() -> None:
    m = machine()
    line = Line(m.memory, 0)
    line.access(m.cpus[0], WRITE, now=0)
    first = line.access(m.cpus[1], WRITE, now=1_000_000)
    second = line.access(m.cpus[0], WRITE, now=1_000_000)
    assert (first, second) == (m.costs.same_socket_ps, 2 * m.costs.same_socket_ps)


def test_a_line_leaves_a_small_cache_when_others_come() -> None:
    m = machine(l2_lines=2, llc_lines=100)
    lines = [Line(m.memory, i) for i in range(4)]
    for line in lines:
        line.access(m.cpus[0], WRITE, now=0)
    later = 10_000_000
    assert lines[3].access(m.cpus[0], READ, later) == m.costs.hit_ps
    assert lines[0].access(m.cpus[0], READ, later) == m.costs.shared_read_ps
    assert m.memory.llc_reads == 1


def test_siblings_ask_for_a_line_once() -> None:
    m = machine(sockets=1, threads_per_core=2)
    line = Line(m.memory, 0)
    line.access(m.cpus[1], WRITE, now=0)
    took = line.access(m.cpus[0], WRITE, now=1_000_000)
    line.access(m.cpus[1], WRITE, now=1_000_001)  # the line is promised on before it has come
    assert line.access(m.cpus[2], WRITE, now=1_000_002) == took - 2 + m.costs.hit_ps


def test_a_lock_goes_to_the_first_who_waits() -> None:
    m = machine()
    lock = Lock(0, Line(m.memory, 0), T.QUEUED)
    for cpu in m.cpus:
        cpu.current = m.cpus[0].softirq  # a CPU spins for a context
    assert lock.take(m.cpus[0], now=0) is not None
    assert lock.take(m.cpus[2], now=10) is None
    assert lock.take(m.cpus[1], now=20) is None
    assert (lock.holder, list(lock.waiters)) == (m.cpus[0], [m.cpus[2], m.cpus[1]])
    assert m.cpus[2].follower is m.cpus[1]


def test_a_queue_is_first_in_first_out_unless_put_in_front() -> None:
    queue = Queue(0, 0, capacity=3)
    assert [queue.push(item, front, now=0) for item, front in ((1, False), (2, False), (3, True), (4, False))] == [
        True, True, True, False,
    ]
    assert [queue.pop(now) for now in (10, 20, 30)] == [3, 1, 2]
    assert (queue.area, queue.longest) == (3 * 10 + 2 * 10 + 1 * 10, 3)


def test_a_splice_asks_for_no_room() -> None:
    source, to = Queue(0, 0, 9), Queue(1, 0, 1)
    for item in range(3):
        source.push(item, False, 0)
    source.splice(to, 5)
    assert (list(source.items), list(to.items), to.longest) == ([], [0, 1, 2], 3)
    to.splice(to, 6)
    assert list(to.items) == [0, 1, 2]


def test_dice_are_uniform_and_exponential() -> None:
    dice = Dice(seed=1, stream=1)
    draws = [dice.uniform(10) for _ in range(20_000)]
    assert set(draws) == set(range(10))
    assert sum(draws) / len(draws) == pytest.approx(4.5, abs=0.1)
    waits = [dice.exponential(1_000) for _ in range(20_000)]
    mean = sum(waits) / len(waits)
    assert mean == pytest.approx(1_000, rel=0.03)
    assert sum(wait > 1_000 for wait in waits) / len(waits) == pytest.approx(math.exp(-1), abs=0.02)


def test_streams_of_dice_differ_and_a_seed_gives_them_again() -> None:
    first, again, other = (Dice(*pair) for pair in ((3, 1), (3, 1), (3, 2)))
    rolls = [[dice.roll() for _ in range(5)] for dice in (first, again, other)]
    assert rolls[0] == rolls[1] != rolls[2]


def test_the_logarithm_is_that_of_the_library_to_nearly_the_last_bit() -> None:
    random = Random(1)
    for x in (1.0, 0.5, 1e-9, *(random.random() for _ in range(1_000))):
        assert logarithm(x) == pytest.approx(math.log(x), rel=1e-13, abs=1e-15)


def test_an_image_that_is_no_spec_is_refused() -> None:
    image = corpus.draw(Random(0)).image
    image[0] += 1
    with pytest.raises(ValueError, match="no spec image"):
        ReferenceEngine().build(image)


def test_the_reference_shares_declarations_with_the_engine_but_no_code() -> None:
    import ast

    import sim

    declared = {"opcodes", "tables"}
    for path in sorted((sim.ROOT / "reference").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 2 and (node.module or "").startswith("engine"):
                parts = (node.module or "").split(".")
                names = {parts[1]} if len(parts) > 1 else {name.name for name in node.names}
                assert names <= declared, f"{path.name} imports {names - declared} of the engine"
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1 or (node.module or "").split(".")[0] != "sim"
