"""The fault of the page on the machine: with one CPU it does not show, with more it does."""

from __future__ import annotations

import pytest

from book.figures import counters
from sim import counting
from sim.machine import load


def test_counters_that_are_not_ones_own_scale_like_one_line() -> None:
    right, wrong = counting.build(), counters.wrong_index()
    assert counters.rate(wrong, 1) == counters.rate(right, 1)
    assert counters.rate(right, 16) == pytest.approx(16 * counters.rate(right, 1))
    handover_ns = load("cascade-lake").cost("same_socket_ps") / 1000
    for threads in (2, 8, 16):
        assert counters.rate(wrong, threads) == pytest.approx(1000 / handover_ns, rel=0.02)


def test_the_fault_is_in_the_listing_and_not_in_the_program_that_others_run() -> None:
    assert "own n value" in counters.shown(counters.wrong_index())
    assert "own cpu value" in counters.shown(counting.build())
    assert [row[0] for row in counters.rates((1, 2)).rows] == ["1", "2"]
