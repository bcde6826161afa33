"""The page on reading: shares and times of one profile, and what inlining does to it."""

from __future__ import annotations

from functools import cache
from xml.etree import ElementTree

import pytest

from book.figures import notation, reading
from sim import scenarios
from sim.result import Result
from sim.timing import timing

COPY = "copy_user_enhanced_fast_string"
NINE = (17.82, 5.20, 5.15, 5.14, 5.12, 5.12, 5.10, 4.66, 4.45)


@cache
def run(key: int) -> Result:
    return scenarios.load("tcp-5.17").run(defer_free=key, mtu=1500, replications=2)


def test_the_share_of_work_that_stays_grows_with_the_rate_and_its_time_does_not() -> None:
    before, after = (reading.bill(run(key), "reader")[COPY] for key in (0, 1))
    assert after[0] == pytest.approx(before[0] * run(1).gbps / run(0).gbps, rel=0.02)
    assert after[0] > before[0] + 5
    assert after[1] == pytest.approx(before[1], rel=0.02)


def test_a_bill_adds_up_to_all_shares_and_to_the_time_that_the_cpu_has_for_a_packet() -> None:
    table = reading.both_ways("t", {"before": run(0), "after": run(1)}, "reader", (COPY, "put_page"))
    assert [row[0] for row in table.rows] == [COPY, "put_page", "all others", "together"]
    for column, key in ((3, 0), (4, 1)):
        times = [row[column] for row in table.rows]
        assert sum(x for x in times[:-1] if isinstance(x, float)) == pytest.approx(times[-1])
        assert times[-1] == pytest.approx(10 * run(key).cpu["reader"] / run(key).mpps)


def test_inlining_moves_a_name_and_nothing_else() -> None:
    wrong = reading.inlined(scenarios.load("tcp-5.17"), "put_page", "skb_release_data")
    presented = wrong.run(defer_free=0, mtu=1500, replications=2)
    before, after = run(0).profile("reader"), presented.profile("reader")
    assert presented.gbps == run(0).gbps
    assert "put_page" not in after
    assert after["skb_release_data"] == pytest.approx(before["put_page"] + before.get("skb_release_data", 0))


def test_what_the_page_computes_from_the_messages_is_right() -> None:
    assert sum(NINE) == pytest.approx(57.8, abs=0.05)
    nested = 17.82 * 0.99 * 0.8177
    assert nested == pytest.approx(14.4, abs=0.05)
    packets = 96e9 / 8 / 4096
    assert packets == pytest.approx(2.93e6, rel=0.002)
    assert 0.8106 / packets * 1e9 == pytest.approx(277, abs=0.5)
    rate = 4096 / 277
    assert rate == pytest.approx(14.8, abs=0.05)


def test_the_picture_stays_inside_its_frame() -> None:
    picture = reading.line_of_a_profile()
    for element in ElementTree.fromstring(picture.svg()).iter():
        assert 0 <= float(element.get("x", 0)) <= 360
        words = element.text or ""
        if element.get("class") == "small":
            assert float(element.get("x", 0)) + 5.7 * len(words) <= 360  # under 6 units a letter at this size


def test_a_full_link_carries_what_the_pencil_says() -> None:
    rows = {row[0]: row for row in notation.frames((1500, 4168), 100).rows}
    assert rows[1500][1:3] == [1428, 1538]
    assert rows[1500][3] == pytest.approx(123, abs=0.1)
    assert rows[1500][5] == pytest.approx(92.8, abs=0.1)
    assert rows[4168][5] == pytest.approx(97.4, abs=0.1)


def test_the_hunk_of_the_page_is_the_one_that_skips_marked_rings() -> None:
    diff = scenarios.load("packet-rollover").diff("pressure")
    lines = reading.hunk(diff, "rollover.next").splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("+")] == [
        ["+", "ACCESS"], ["+", "LOAD"], ["+", "BRANCH"],
    ]
    assert "packet_rcv_has_room" in lines[lines.index(next(x for x in lines if "BRANCH  != n 0" in x)) + 1]
    with pytest.raises(ValueError, match="no hunk"):
        reading.hunk(diff, "softirq")


def test_time_for_a_packet_times_the_rate_of_the_same_stretch_is_busy_cpus() -> None:
    s = scenarios.load("tcp-5.17")
    times = [timing(s, defer_free=key, mtu=1500) for key in (0, 1)]
    words = reading.busy_cpus(times, [run(0), run(1)])
    for arm in ("before", "after"):
        ns, mpps = (float(words[f"diff-{name}-{arm}"].replace(",", "")) for name in ("ns", "mpps"))
        assert float(words[f"diff-cpus-{arm}"]) == pytest.approx(ns * mpps / 1000, abs=0.06)
        assert 1.5 < ns * mpps / 1000 < 2.05  # softirq's CPU and the reader's


def test_what_grew_beside_the_frees_is_what_the_page_names() -> None:
    before, after = (reading.bill(run(key), "reader") for key in (0, 1))
    grown = sorted(after, key=lambda name: before.get(name, (0, 0))[1] - after[name][1])
    assert grown[0] == "__tcp_transmit_skb"
    assert after["sock_rfree"][1] > 1.2 * before["sock_rfree"][1]
    assert all(after[name][1] < 0.6 * before[name][1] for name in ("put_page", "free_unref_page", "__kfree_skb"))
    assert after["__skb_datagram_iter"][1] == pytest.approx(before["__skb_datagram_iter"][1], rel=0.02)
