"""Tables and pictures of the chapter on early demux, and the fault that one of its exercises puts in."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from book.figures import early_demux, name_server
from sim import scenarios

CURVE = [{"uid_rules": 1, "lookup_ns": 1100, "mbps": 870.0}, {"uid_rules": 8, "lookup_ns": 100, "mbps": 870.0}]


@pytest.fixture(scope="module")
def scenario():
    return scenarios.load("udpv6-early-demux")


@pytest.fixture(scope="module")
def runs(scenario):
    return early_demux.trio(scenario, replications=2)


def number(cell: str) -> float:
    return float(cell.split()[0])


def test_pictures_are_sound_and_say_what_they_show(runs):
    for picture in (early_demux.way(), early_demux.bill(runs), early_demux.allowed(CURVE, 4, 250)):
        root = ElementTree.fromstring(picture.svg())
        assert len(root.get("aria-label", "").split()) > 12
        for element in root.iter():
            for name in ("x", "cx"):
                assert 0 <= float(element.get(name, 0)) <= 360
            assert 0 <= float(element.get("y", 0)) <= picture.height


def test_what_a_packet_costs_is_its_kinds_of_work_and_a_rest(runs):
    for run in runs.values():
        parts = early_demux.kinds(run)
        assert all(us > 0 for us in parts.values())
        assert sum(parts.values()) < early_demux.packet_us(run)
    looked_up = [early_demux.kinds(run)["look-ups"] for run in runs.values()]
    assert looked_up[0] > 3 * looked_up[1] > 3 * looked_up[2]


def test_sentences_quote_the_runs_and_the_range_of_the_gain(runs):
    row = {"figure": "one UDPv6 stream, the patch gains", "range_low": 2.2, "range_high": 25.1}
    quoted = early_demux.words(runs, [row])
    assert quoted["demux-off-mbps"] == "800"
    assert quoted["demux-gain-low"] == "2 %"
    assert quoted["demux-gain-high"] == "25 %"
    saved = [float(quoted[name]) for name in ("demux-saved", "demux-saved-lookups", "demux-saved-rules")]
    assert saved[0] == pytest.approx(saved[1] + saved[2], abs=0.03)
    assert saved[1] > 10 * saved[2] > 0
    rules = float(quoted["demux-saved-rule-refs"])
    assert rules == pytest.approx(4 * 0.018, abs=0.005), "the pencil's r for each of four rules"
    assert rules == pytest.approx(saved[2] + 0.009, abs=0.01), "less UDP's drop"


def test_forwarding_loses_with_either_form_and_a_phone_without_rules_with_the_posted_one(scenario):
    places = {"forwarding": {"traffic": "forward"}, "no rule": {"uid_rules": 0, "calibrated": 0}}
    forwarding, no_rule = early_demux.settings(scenario, places, seeds=2).rows
    assert number(forwarding[2]) < number(forwarding[3]) < 0
    assert number(no_rule[2]) < 0 < number(no_rule[3])


def test_only_a_kept_route_with_a_good_check_leads_packets_past_the_rules(scenario):
    forms = {"off": {"udp_early_demux": 0}, "4.12": {}, "by 0": {"rx_dst_set": 1, "rx_dst_cookie": 0},
             "by its number": {"rx_dst_set": 1}}
    table = early_demux.policy(scenario, forms, fib_rules=8)
    wrong = {row[0]: number(row[1]) for row in table.rows}
    assert [wrong[name] for name in ("off", "4.12", "by 0")] == [0.0, 0.0, 0.0]
    assert 40 < wrong["by its number"] < 60


def test_a_kept_route_saves_its_look_up_only_if_it_is_checked_by_its_number(scenario):
    assert [row[2] for row in early_demux.cookies(scenario).rows] == ["1.00", "1.00", "0.00"]


def test_a_reference_for_each_packet_brings_the_line_of_a_shared_socket_twice_more():
    tried = name_server.runs([4], replications=2)
    (row,) = name_server.table(tried).rows
    without, posted, released = (float(lines) for lines in row[4].split(" / "))
    assert posted > without + 1
    assert released == pytest.approx(without, abs=0.3)
    assert number(row[2]) < -5
    assert -3 < number(row[3]) < 0, "the released form's wasted hash is little on a server's core"
    quoted = name_server.words(tried)
    assert set(quoted) == {"demux-server-4-posted", "demux-server-4-released"}
    assert number(quoted["demux-server-4-posted"]) == round(number(row[2]))


def test_a_pencil_s_terms_give_what_the_run_saves(scenario, runs):
    """What the page writes: n (L + c + r) - d, with four rules."""
    saved_ns = 1000 * (early_demux.packet_us(runs["without"]) - early_demux.packet_us(runs["as posted"]))
    assert saved_ns == pytest.approx(4 * (250 + 32 + 18) - 25, abs=10)
    curve = early_demux.curve_words(scenario.allowed_lookups(870, rules=(1, 16)))
    assert int(curve["demux-last-ns"]) == pytest.approx((1172 + 25) / 16 - 50, abs=4)
    assert int(curve["demux-last-ns"]) < int(curve["demux-share-ns"]) / 2


def test_a_forwarded_packet_wastes_half_of_a_look_up_and_is_mostly_its_driver(scenario):
    quoted = {name: float(text) for name, text in early_demux.forwarding_words(scenario).items()}
    assert quoted["demux-forward-waste"] == pytest.approx(0.13, abs=0.01)
    assert quoted["demux-forward-driver"] > quoted["demux-forward-us"] / 2


def test_sources_of_one_socket_make_no_difference_in_the_model(scenario):
    plain = {"uid_rules": 0, "calibrated": 0, "connected": 0, "datagram_bytes": 100}
    one, many = early_demux.settings(scenario, {"1": plain, "64": {**plain, "sources": 64}}, seeds=2).rows
    assert one[1:] == many[1:]


def test_the_colleagues_program_takes_references_and_drops_none(scenario):
    wrong = early_demux.leaky(scenarios.load("udpv6-early-demux"))
    shown, right = early_demux.references(wrong), early_demux.references(scenario)
    assert "socket_holds" in shown
    assert "socket_puts" not in shown
    assert "socket_puts" in right
    assert "WORK    0 0 0" not in shown
    refs = [
        s.run(replications=2, until_ps=s.quick_ps).metrics["socket_refs_per_packet"].mean for s in (scenario, wrong)
    ]
    assert refs == pytest.approx([2, 1], abs=0.01)
    rates = [number(row[1]) for row in early_demux.unnoticed(scenario, wrong).rows]
    assert rates[1] > rates[0]
