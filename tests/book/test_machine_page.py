"""The page on the machine: what its sentences say of one counter and two cores comes out of measurements and runs."""

from __future__ import annotations

import pytest

from book.figures import machine
from sim import contention, counting
from sim.engine import tables
from sim.engine.native import NativeEngine
from sim.machine import load
from widgets import line_program


def ns(way: str, threads: int, **costs: int) -> float:
    return line_program.run(way, threads, counting.costs(load("skylake-client")) | costs)


def test_the_factor_of_the_prediction_is_that_of_one_measurement_and_near_the_pencil() -> None:
    words = machine.words()
    alone, beside = (float(words[name].removesuffix(" ns")) for name in ("alone", "beside"))
    assert float(words["factor"]) == pytest.approx(beside / alone, abs=0.5)
    assert float(words["factor"]) == pytest.approx(2 * (20 + 7) / 7, rel=0.25)
    assert float(words["both"]) > 3 * float(words["factor"])
    assert float(words["model"]) == 25


def test_a_dearer_hand_over_moves_locks_in_proportion_an_atomic_less_and_private_counters_not() -> None:
    grown = {way: ns(way, 2, same_socket_ps=134_000) / ns(way, 2) for way in line_program.WAYS}
    assert grown["private"] == 1
    assert grown["atomic"] < 0.9 * 134 / 20
    assert min(grown["ticket"], grown["queued"]) > 0.95 * 134 / 20
    assert ns("atomic", 1, same_socket_ps=134_000) == ns("atomic", 1)


def test_both_locks_start_alike_and_part() -> None:
    assert ns("ticket", 1) == pytest.approx(ns("queued", 1), rel=1e-3)  # where the window ends within one
    assert ns("queued", 16) == pytest.approx(8 * ns("queued", 2), rel=0.02)
    assert ns("ticket", 16) > 3 * ns("queued", 16)
    neoverse = counting.costs(load("neoverse-n1"))
    two, three = (line_program.run("ticket", n, neoverse) / line_program.run("queued", n, neoverse) for n in (2, 3))
    assert two < 1.15
    assert three > 1.25


def test_a_hand_over_that_stands_in_is_shown_under_the_processor_that_it_was_measured_on() -> None:
    names = ("skylake-client", "neoverse-n1", "cortex-a72")
    told = [str(row[1]) for row in machine.ticket_table(names).rows]
    assert [text.partition(", stand-in: ")[2] for text in told] == [
        "Core i7-6700K", "", "Raspberry Pi 4"
    ]
    shown = str(machine.handovers([load(name) for name in ("skylake-client", "cascade-lake")])._repr_html_())
    assert "i7-6700K " in shown
    assert "6700HQ" not in shown


@pytest.mark.parametrize("name", ["skylake-client", "neoverse-n1", "cortex-a72"])
def test_the_engine_adds_to_the_ticket_locks_formula_one_hit_for_each_thread(name: str) -> None:
    which = load(name)
    for threads in (2, 4, 16):
        told = contention.expected_ns("ticket_lock", which, threads)
        assert told is not None
        added = line_program.run("ticket", threads, counting.costs(which)) - told
        assert added == pytest.approx(threads * which.cost("hit_ps") / 1000, rel=0.05)
    row = next(row for row in machine.ticket_table([name]).rows)
    assert [float(str(cell)) for cell in row[2:4]] == [
        which.cost(factor) / 1000 for factor in ("ticket_permille", "ticket_waiter_permille")
    ]


def test_a_sibling_finds_what_the_other_has_brought_at_the_price_of_a_hit() -> None:
    moved = {}
    for cores, threads_per_core in ((2, 1), (1, 2)):
        spec = counting.build.__wrapped__()  # a fresh one: other tests keep the cores that they have
        spec.cost(cores_per_socket=cores, threads_per_core=threads_per_core)
        knobs = {**counting.costs(load("cascade-lake")), "threads": 2, "way": list(counting.WAYS).index("atomic")}
        engine = NativeEngine()
        arena = engine.build(spec.image({**knobs, "inside_ps": 0, "outside_ps": 0, "seed": 1}))
        engine.run_until(arena, 10_000_000)
        moved[threads_per_core] = int(arena[tables.H_TRANSFERS])
    assert moved[1] > 150
    assert moved[2] == 0


def test_with_the_rule_of_thumb_a_queued_lock_hardly_waits_and_a_ticket_lock_needs_a_third_more() -> None:
    share = {name: int(text.split()[0]) for name, text in machine.words().items() if name.startswith("lab-")}
    assert share["lab-queued-3400"] > 88 > 80 > share["lab-ticket-3400"]
    assert min(share["lab-queued-4500"], share["lab-ticket-4500"]) > 90
