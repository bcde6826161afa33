"""The page on the machine: what its sentences say of one counter and two cores comes out of measurements and runs."""

from __future__ import annotations

import pytest

from book.figures import machine
from sim import counting
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
    first, fourth = (line_program.run("ticket", n, neoverse) / line_program.run("queued", n, neoverse) for n in (2, 4))
    assert first < 1.15
    assert fourth > 1.4
