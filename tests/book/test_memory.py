"""The page on memory: prices of a page come out of runs as the page says."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

import pytest

from book.figures import faults, memory
from sim import scenarios
from sim.result import Result


@cache
def run(**knobs: int | str) -> Result:
    lab = scenarios.load("lab")
    stream = {"flows": 1, "rx_queues": 1, "readers": 1, **knobs}
    return lab.run(replications=2, **stream)


def price(**knobs: int | str) -> float:
    return sum(memory.price_ns(run(**knobs), one_cpu=knobs.get("reader_cpus") == "same"))


def test_a_page_costs_twice_as_much_if_it_is_given_back_elsewhere_and_the_pencil_says_so_too() -> None:
    assert price() == pytest.approx(2 * price(reader_cpus="same"), rel=0.15)
    assert price() == pytest.approx(55.5 + 2 * 47, rel=0.1)
    assert price(reader_cpus="other_socket") > 2 * price()


def test_a_pool_gains_little_until_packets_come_home_and_then_more_than_both_added() -> None:
    before, pool, home, both = (
        run(page_recycling=p, defer_per_cpu=h).gbps for p, h in ((0, 0), (1, 0), (0, 1), (1, 1))
    )
    assert 1.02 * before < pool < 1.12 * before
    assert both - before > 1.5 * (pool - before + home - before)
    assert price(page_recycling=1) > 0.75 * price()


def test_what_is_told_before_the_predictions_bounds_their_answers() -> None:
    told = {name: float(text.split()[0]) for name, text in memory.told(run()).items()}
    pencil = memory.pencil(run(), scenarios.load("lab").machine)
    gain = 100 * (run(page_recycling=1).gbps / run().gbps - 1)
    assert gain == pytest.approx(float(pencil["pool-gain"].split()[0]), abs=2)
    assert gain == pytest.approx(float(pencil["net-gain"].split()[0]), abs=1)
    assert run(page_recycling=1, defer_per_cpu=1).gbps == pytest.approx(float(pencil["bound"]), rel=0.02)
    assert float(pencil["bound"]) < told["bound"]
    both = run(page_recycling=1, defer_per_cpu=1)
    assert told["gbps"] < both.gbps < told["bound"]
    assert both.cpu["softirq"] > 99 > both.cpu["reader"]
    assert told["reader"] == pytest.approx(told["giving"] + told["reader-rest"], abs=1)


def test_softirq_has_lines_at_hand_when_packets_come_home_and_wakes_a_reader_that_is_not_full() -> None:
    pencil = memory.pencil(run(), scenarios.load("lab").machine)
    both, home = run(page_recycling=1, defer_per_cpu=1), run(defer_per_cpu=1)
    assert memory.price_ns(both) == pytest.approx([float(pencil[name]) for name in ("taking", "giving")], abs=0.5)
    waking = [memory.spent_ns(found, "softirq", memory.WAKING) for found in (run(), home, both)]
    assert waking[1] > 2 * waking[2] > waking[0]
    rest = [float(memory.told(found)["softirq-rest"].split()[0]) for found in (run(), home)]
    assert rest[1] - rest[0] == pytest.approx(waking[1], abs=4)


def test_a_page_of_the_other_package_costs_a_hand_over_each_way_and_one_of_the_own_less_when_it_is_taken() -> None:
    here = memory.price_ns(run(reader_cpus="same"), one_cpu=True)
    near, far = memory.price_ns(run()), memory.price_ns(run(reader_cpus="other_socket"))
    assert [a - b for a, b in zip(near, here, strict=True)] == pytest.approx([24, 45], abs=4)
    assert [a - b for a, b in zip(far, here, strict=True)] == pytest.approx([132, 132], abs=6)


def test_the_ring_s_end_stays_with_the_reader_and_the_page_s_line_does_not() -> None:
    assert memory.price_ns(run(page_recycling=1))[1] == pytest.approx(47 + 5 + 2 + 15.1, abs=1)


def test_freed_by_the_rule_of_5_17_a_stream_is_faster_than_freed_where_it_was_allocated() -> None:
    lab = scenarios.load("lab")
    rates = [
        lab.run(replications=8, flows=1, rx_queues=1, readers=1, **{key: 1}).metrics["gbps"]
        for key in ("defer_free", "defer_per_cpu")
    ]
    assert rates[0].low > rates[1].high


def test_on_the_other_package_the_pools_gain_stays_small_and_sending_home_gains_several_times_as_much() -> None:
    def gain(place: str, **knobs: int) -> float:
        return run(reader_cpus=place, **knobs).gbps / run(reader_cpus=place).gbps - 1

    assert gain("other_socket", page_recycling=1) < 0.12
    assert gain("other_socket", defer_per_cpu=1) > 3 * gain("behind", defer_per_cpu=1)


def test_a_packet_that_is_dropped_and_not_freed_ends_the_run_only_when_packets_are_dropped() -> None:
    wrong = faults.without(
        scenarios.load("lab"), "enqueue_to_backlog.drop", "net_rps_action_and_irq_enable", "CALL", "kfree_skb"
    )
    flood = {"socket": "udp", "flows": 64, "offered_kpps": 8000, "rps_cpus": 1, "netdev_max_backlog": 64}
    assert faults.ending(wrong, "read_mpps", **flood).startswith("exhausted")
    assert faults.ending(scenarios.load("lab"), "read_mpps", **flood).endswith("Mpps")
    calm = {"socket": "udp", "flows": 64, "offered_kpps": 1000, "rps_cpus": 4}
    assert faults.ending(wrong, "read_mpps", **calm) == faults.ending(scenarios.load("lab"), "read_mpps", **calm)


def test_the_picture_stays_inside_its_frame() -> None:
    picture = memory.anatomy()
    for element in ElementTree.fromstring(picture.svg()).iter():
        assert 0 <= float(element.get("x", 0)) <= 360
        assert 0 <= float(element.get("y", 0)) <= picture.height


def test_a_setting_on_one_cpu_is_not_counted_twice() -> None:
    apart = memory.price_ns(run(reader_cpus="same"))
    once = memory.price_ns(run(reader_cpus="same"), one_cpu=True)
    assert apart[0] == pytest.approx(2 * once[0])
