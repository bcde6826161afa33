"""The page on what to believe: its pictures, its table of standings, and the fault that writes a gain in."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

import pytest

from book.figures import simulation
from sim import reported, scenarios
from sim.result import Result

RATE = "transactions_per_s"


@cache
def noisy() -> Result:
    lab = scenarios.load("lab")
    steered = {"socket": "tcp_rr", "flows": 256, "readers": 8, "reader_cpus": "same", "rx_queues": 1, "rps_cpus": 8}
    return lab.run(replications=20, until_ps=lab.quick_ps, **steered)


def test_twenty_runs_narrow_the_interval_as_the_pencil_says() -> None:
    few, many = (simulation.first(noisy(), RATE, n) for n in (5, 20))
    assert 1.8 < (few.high - few.low) / (many.high - many.low) < 4
    whole = noisy().metrics[RATE]
    assert (many.low, many.mean, many.high) == pytest.approx((whole.low, whole.mean, whole.high))


def test_every_constant_has_a_standing_and_most_are_assumed() -> None:
    rows = simulation.standings().rows
    assert [row[0] for row in rows] == scenarios.names()
    for row in rows:
        counts = [x for x in row[2:] if isinstance(x, int)]
        assert sum(counts) == row[1]
    total = sum(int(str(row[1])) for row in rows)
    assert sum(int(str(row[-1])) for row in rows) > total / 2


def test_the_table_of_constants_set_by_hand_has_them_all_and_counts_what_rests_on_each() -> None:
    rows = simulation.by_hand().rows
    assert [(row[0], row[1]) for row in rows] == [
        (name, one.knob) for name in scenarios.names() if name in reported.threads() for one in reported.by_hand(name)
    ]
    assert rows
    assert all(isinstance(row[-1], int) and row[-1] > 0 for row in rows)


def test_pictures_stay_inside_their_frames_and_name_their_findings() -> None:
    for picture in (simulation.ingredients(), simulation.doctrine(),
                    simulation.seeds(noisy(), RATE, (3, 5, 20), 1e6, "M requests/s")):
        root = ElementTree.fromstring(picture.svg())
        assert len(root.get("aria-label", "").split()) > 12
        for element in root.iter():
            for name in ("x", "cx"):
                assert 0 <= float(element.get(name, 0)) <= 360
            assert 0 <= float(element.get("y", 0)) <= picture.height
            if element.get("class") == "small":
                assert float(element.get("x", 0)) + 5.7 * len(element.text or "") <= 360


@pytest.mark.slow
def test_a_gain_that_is_written_in_leaves_the_rate_before_as_it_was_and_is_in_no_diff() -> None:
    right = scenarios.load("tcp-rx-skb-cache")
    wrong = simulation.written_in(scenarios.load("tcp-rx-skb-cache"), "transaction_ps", "rx_skb_cache", 350_000)
    short = {"replications": 2, "until_ps": 3_600_000_000}
    off, on = ({"rx_skb_cache": key, "tx_skb_cache": key} for key in (0, 1))
    assert wrong.run(**off, **short).mpps == right.run(**off, **short).mpps
    assert wrong.run(**on, **short).mpps > 1.03 * right.run(**on, **short).mpps
    assert wrong.diff("rx_skb_cache") == right.diff("rx_skb_cache")
    assert sum("if rx_skb_cache else" in line for line in wrong.listing(**on).splitlines()) == 1
