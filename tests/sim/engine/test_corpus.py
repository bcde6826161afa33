"""The corpus is sharp: a reference with one wrong rule is told from the engine within a few cases."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from sim.engine import tables as T
from sim.engine.native import NativeEngine
from sim.reference import actor, control, sharing
from sim.reference.calendar import priority_of
from sim.reference.context import Context
from sim.reference.cpu import Cpu
from sim.reference.dice import Dice
from sim.reference.line import Core, Line
from sim.reference.lock import Lock
from sim.reference.queue import Queue

from . import corpus
from .agreement import Disagreement, check

WITHIN = 60  # cases


def reversed_ties(number: int) -> Any:
    return priority_of(T.ID_MASK - number)


def last_in_first_out(lock: Lock, cpu: Cpu, now: int) -> int | None:
    took = take(lock, cpu, now)
    lock.waiters.rotate(1)
    return took


def one_waiter_more(lock: Lock) -> int:
    costs = lock.line.memory.costs
    one_more = costs.ticket_permille + costs.ticket_waiter_permille * (len(lock.waiters) + 1)
    return one_more if lock.kind == T.TICKET else costs.queued_permille


def leaves_early(line: Line, core: Core) -> bool:
    capacity = line.memory.costs.l2_lines
    return capacity > 0 and core.clock - line.stamp >= capacity


def no_wait_for_the_line(line: Line, by: Core, to: Core, begin: int, permille: int) -> int:
    at = hand_over(line, by, to, begin, permille)
    line.free = begin
    return at


def never_throttled(cpu: Cpu, now: int) -> None:
    cpu.softirq_runs = False


def work_in_one_piece(cpu: Cpu, context: Context, ps: int) -> int:
    sibling = cpu.sibling
    return ps * cpu.costs.smt_permille // 1000 if sibling and sibling.state == T.RUNNING else ps


def no_longest(queue: Queue, to: Queue, now: int) -> None:
    longest = to.longest
    splice(queue, to, now)
    to.longest = longest


def lost_wake_up(wake: control.Wake, who: Any, context: Context, now: int) -> int:
    took = execute_wake(wake, who, context, now)
    for thread in wake.machine.threads:
        thread.token = 0
    return took


take, hand_over, splice, execute_wake = Lock.take, Line.hand_over, Queue.splice, control.Wake.execute

WRONG: list[tuple[Any, str, Callable[..., Any]]] = [
    (actor, "priority_of", reversed_ties),
    (Lock, "take", last_in_first_out),
    (Lock, "_permille", one_waiter_more),
    (Line, "_has_left", leaves_early),
    (Line, "hand_over", no_wait_for_the_line),
    (Cpu, "fetches", lambda cpu, line, kind, now: False),
    (Cpu, "leave_softirq", never_throttled),
    (Cpu, "compute", work_in_one_piece),
    (Cpu, "_slice_is_over", lambda cpu, now: False),
    (Cpu, "give_way", lambda cpu: None),
    (Cpu, "stream", lambda cpu, amount: None),
    (Queue, "splice", no_longest),
    (Dice, "exponential", lambda dice, mean: dice.uniform(2 * mean)),
    (control.Wake, "execute", lost_wake_up),
    (sharing.Unlock, "ends_turn", False),
    (control.Raise, "ends_turn", False),
]


@pytest.mark.parametrize(("owner", "name", "wrong"), WRONG, ids=lambda x: getattr(x, "__name__", str(x)))
def test_a_wrong_rule_is_found(
    owner: Any, name: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(Disagreement):
        check_some()


def check_some() -> None:
    engine = NativeEngine()
    for seed in range(WITHIN):
        check(corpus.draw(Random(seed)), [engine])
