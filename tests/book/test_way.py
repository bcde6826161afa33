"""The page on a packet's way: what its picture shows is what a run did."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

import pytest

from book.figures import faults, way
from sim import scenarios
from sim.result import Result

STREAM = {"flows": 1, "rx_queues": 1, "readers": 1}


@cache
def lone(**knobs: int | str) -> way.Way:
    return way.follow(scenarios.load("lab"), message_bytes=512, **knobs)


@cache
def stream(segments: int) -> Result:
    lab = scenarios.load("lab")
    return lab.run(replications=2, gro_max_segs=segments, **STREAM)


def station(found: way.Way, title: str) -> way.Station:
    return next(s for s in found.stations if s.title == title)


def test_a_way_has_every_station_once_in_order_and_its_times_add_up() -> None:
    found = lone(rfs=1)
    assert [s.title for s in found.stations] == [title for title, _ in way.STATIONS]
    assert found.work_ns + found.wait_ns == pytest.approx(found.total_ns, abs=1)


def test_without_steering_the_hop_is_missing_and_the_protocol_runs_on_the_nics_cpu() -> None:
    found = lone(rfs=0)
    assert "the other CPU's softirq" not in [s.title for s in found.stations]
    assert station(found, "TCP").cpu == 0
    assert station(lone(rfs=1), "TCP").cpu == 1 == station(found, "copy").cpu


def test_what_the_page_says_of_the_lone_packet_is_so() -> None:
    found = lone(rfs=1)
    assert found.wait_ns > 0.6 * found.total_ns
    meaning = station(found, "IPv6, early demux").work_ns + station(found, "TCP").work_ns
    assert station(found, "free").work_ns == pytest.approx(meaning, rel=0.2)
    assert lone(rfs=1, coalesce_us=0).total_ns < 0.7 * found.total_ns
    fetched = {s.title: s.fetched for s in found.stations if s.fetched}
    assert fetched == {
        "make an sk_buff": 3, "GRO": 1, "steer": 1, "the other CPU's softirq": 3, "copy": 1, "free": 3
    }
    assert sum(s.fetched for s in lone(reader_cpus="same").stations) == 0
    assert station(lone(), "recvmsg()").fetched == 4
    softirq = [s.work_ns for s in found.stations if s.kind == "softirq"]
    assert station(found, "wake the reader").work_ns == max(softirq)


def test_the_packet_that_is_followed_meets_no_line_that_nobody_has_used() -> None:
    costs = {name: scenarios.load("lab").machine.cost(name) / 1000 for name in ("hit_ps", "memory_ps")}
    dearest = max(s.fetch_ns / s.fetched for s in lone(rfs=1).stations if s.fetched)
    assert dearest < costs["memory_ps"] - costs["hit_ps"]
    early = way.follow(scenarios.load("lab"), until_ps=600_000_000, message_bytes=512, rfs=1)
    assert station(early, "make an sk_buff").fetch_ns == 3 * (costs["memory_ps"] - costs["hit_ps"])


def test_what_is_told_before_the_prediction_gives_its_answer() -> None:
    lab = scenarios.load("lab")
    found, told = way.words(lone(rfs=1)), way.waits(lab.machine)
    us = {name: float(text.split()[0]) for name, text in (told | found).items() if text.endswith("µs")}
    waiting = int(lab.settings()["coalesce_us"]) + 2 * us["idle"] + us["ipi"] + us["switch"]
    work = us["entry"] + us["ipi-entry"] + us["waking"] + us["cheap-work"]
    assert waiting == pytest.approx(us["wait"], abs=0.1)
    assert 100 * waiting / (waiting + work) == pytest.approx(float(found["waiting-share"].split()[0]), abs=1)
    assert float(found["switch-share"].split()[0]) < float(found["waiting-share"].split()[0])


def test_a_packet_in_a_crowd_costs_a_tenth_of_a_lone_one_and_without_gro_a_quarter_or_so() -> None:
    merged, single = (sum(way.busy_ns(stream(n)).values()) for n in (129, 1))
    assert merged == pytest.approx(lone().work_ns / 10, rel=0.1)
    assert merged * 2 < single < lone().work_ns / 3


def test_the_tables_caption_says_how_much_was_simulated() -> None:
    assert way.in_company(lone(), {"a stream": stream(129)}).caption.endswith("2 runs of 1.4 ms each")


def test_the_picture_stays_inside_its_frame_and_names_its_finding() -> None:
    picture = way.picture(lone(rfs=1))
    root = ElementTree.fromstring(picture.svg())
    assert "in waiting" in root.get("aria-label", "")
    for element in root.iter():
        for name in ("x", "cx"):
            assert 0 <= float(element.get(name, 0)) <= 360
        for name in ("y", "cy"):
            assert 0 <= float(element.get(name, 0)) <= picture.height
    assert len(way.table(lone(rfs=1)).rows) == len(way.STATIONS)


def test_a_trace_that_holds_no_whole_way_is_refused() -> None:
    with pytest.raises(ValueError, match="whole way"):
        way.follow(scenarios.load("lab"), until_ps=way.WINDOW_PS + 5_000_000, coalesce_us=100, round_trip_us=1000)


def test_a_device_that_is_never_idle_again_loses_its_wake_up() -> None:
    steered = {"socket": "tcp_rr", "flows": 64, "rx_queues": 1, "readers": 4, "rps_cpus": 4}
    wrong = faults.without(scenarios.load("lab"), "process_backlog", "process_backlog.some", "PUSH", "backlog idle")
    assert faults.ending(wrong, "transactions_per_s", **steered).startswith("deadlock")
    assert int(faults.ending(scenarios.load("lab"), "transactions_per_s", **steered).replace(",", "")) > 900_000
    shown = faults.listing(wrong, "process_backlog.more", "process_backlog.next", **steered)
    assert "backlog idle" not in shown
    assert "backlog scheduled" in shown
    with pytest.raises(ValueError, match="no PUSH"):
        faults.without(wrong, "process_backlog", "process_backlog.some", "PUSH", "backlog idle")
