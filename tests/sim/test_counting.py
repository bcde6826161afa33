"""The counting program: what one line allows, and how the plain lock collapses by its mechanism alone."""

from __future__ import annotations

import pytest

from sim import counting, machine
from sim.result import Estimate
from sim.verifier import verify

COSTS = counting.costs(machine.load("cascade-lake"))


@pytest.mark.parametrize("way", counting.WAYS)
def test_the_program_is_sound(way: str) -> None:
    place = list(counting.WAYS).index(way)
    for threads, times in ((1, 0), (counting.CPUS, 5_000_000)):
        knobs = {"threads": threads, "way": place, **COSTS, "inside_ps": times, "outside_ps": times}
        verify(counting.build(), {**knobs, "seed": 1, "trace_rows": 0})


def test_private_counters_grow_with_the_cpus_and_a_shared_one_does_not() -> None:
    one, many = (counting.rate("private", n, COSTS)[0] for n in (1, counting.CPUS))
    assert many == pytest.approx(counting.CPUS * one, rel=0.02)
    line_ps = COSTS["same_socket_ps"] + COSTS["atomic_ps"]
    for n in (2, 8, counting.CPUS):
        assert counting.rate("atomic", n, COSTS)[0] == pytest.approx(1e6 / line_ps, rel=0.01)


def test_a_plain_lock_costs_a_move_of_the_line_for_each_waiter() -> None:
    # A release waits behind the exchanges of all that want the lock, so each operation takes N moves, and some.
    took = {n: 1e6 / counting.rate("plain", n, COSTS)[0] for n in (8, 16, 24)}
    each = (took[24] - took[8]) / 16
    assert each == pytest.approx(COSTS["same_socket_ps"] + COSTS["atomic_ps"], rel=0.05)
    assert took[16] == pytest.approx((took[8] + took[24]) / 2, rel=0.02)


def test_a_plain_lock_lets_one_in_at_a_time() -> None:
    # With long work under the lock the throughput is that of one CPU that never waits for the lock.
    inside = 10_000_000
    for n in (2, 6):
        assert counting.rate("plain", n, COSTS, inside_ps=inside)[0] <= 1e6 / inside


def test_more_work_between_counts_moves_the_collapse_to_more_cpus() -> None:
    peaks = [
        counting.curve("ticket", counting.COUNTS, COSTS, 0, outside_ps, replications=2).peak
        for outside_ps in (0, 500_000, 2_000_000)
    ]
    assert peaks == sorted(set(peaks))


def test_seeds_vary_what_is_drawn_and_nothing_else() -> None:
    assert counting.rate("ticket", 4, COSTS, seed=1) == counting.rate("ticket", 4, COSTS, seed=2)
    apart = {counting.rate("ticket", 4, COSTS, outside_ps=500_000, seed=seed)[0] for seed in (1, 2, 3)}
    assert len(apart) == 3


@pytest.mark.parametrize("way", counting.WAYS)
def test_a_run_counts_as_many_operations_as_it_should(way: str) -> None:
    for n, outside in ((1, 0), (6, 1_000_000), (24, 0)):
        rate, one = counting.rate(way, n, COSTS, outside_ps=outside)
        assert rate / one > 0.7 * counting.OPERATIONS


def test_a_curve_says_where_it_falls_and_whether_it_gains() -> None:
    def made(*rates: float) -> counting.Curve:
        return counting.Curve("ticket", {n: Estimate(r, r, r, "M/s") for n, r in enumerate(rates, 1)})

    falling, level, rising = made(1, 4, 3.9, 2), made(1, 4, 4.01, 4.0), made(1, 2, 3, 4)
    assert (falling.peak, falling.falls_from, falling.lost_pct) == (2, 4, 50)
    assert (level.falls_from, level.gains) == (None, False)
    assert (rising.falls_from, rising.gains) == (None, True)
