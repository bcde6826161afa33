"""Tables and pictures of the chapter on the one sk_buff to keep, and the fault that one of its exercises puts in."""

from __future__ import annotations

from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from book.figures import skb_cache
from sim import reported, scenarios


def answer(mpps: float, **others: float) -> SimpleNamespace:
    """A run with this rate, as far as the tables look."""
    metrics = {"mpps": mpps, "alien_frees": 0, "alien_wait": 0, "lock_wait": 0, **others}
    return SimpleNamespace(metrics={name: SimpleNamespace(mean=value) for name, value in metrics.items()})


@pytest.fixture(scope="module")
def scenario():
    return scenarios.load("tcp-rx-skb-cache")


@pytest.fixture(scope="module")
def both(scenario):
    return skb_cache.quick(scenario, **skb_cache.BOTH)


KNEE = [(ns, answer(mpps), answer(9.0)) for ns, mpps in ((0, 8.4), (100, 8.1), (200, 7.5))]


@pytest.mark.parametrize("picture", [skb_cache.journeys(), skb_cache.knee_picture(KNEE)], ids=["journeys", "knee"])
def test_a_picture_is_sound_and_says_what_it_shows(picture):
    root = ElementTree.fromstring(picture.svg())
    assert len(root.get("aria-label", "").split()) > 12
    for element in root.iter():
        for name in ("x", "cx"):
            assert 0 <= float(element.get(name, 0)) <= 360
        assert 0 <= float(element.get("y", 0)) <= picture.height


def test_the_time_that_a_gain_needs_is_read_between_two_points_and_so_is_the_rate_there():
    assert skb_cache.crossing(KNEE, 100 * (9 / 8.1 - 1)) == pytest.approx((100, 8.1))
    words = skb_cache.knee_words(KNEE, 15.5)
    assert (words["skb-knee"], words["skb-knee-mpps"]) == ("150 ns", "7.8")
    assert [words[f"skb-knee-{end}"] for end in ("low", "high", "most")] == ["7.1", "20 %", "200 ns"]
    assert "the reported 15.5 % is had at about 150 ns" in skb_cache.knee_picture(KNEE, 15.5).svg()
    assert skb_cache.knee_words(KNEE, 50)["skb-knee"] == "more than 200 ns"
    assert skb_cache.knee_words(KNEE, 1)["skb-knee"] == "nothing"


def test_the_section_that_a_wait_tells_of_is_the_pencils():
    run = answer(8.0, alien_frees=1.5, alien_wait=100 * 12e6 * 225e-9)  # the pencil's third row: 300 ns, 225 of waiting
    assert skb_cache.visit_wait_ns(run) == pytest.approx(225)
    assert skb_cache.section_ns(run) == pytest.approx(300)


def test_a_visits_wait_is_the_waiting_divided_by_the_visits():
    run = answer(8.0, alien_frees=1.5, alien_wait=120.0)  # 1.2 CPUs wait, 12 M visits a second
    assert skb_cache.visit_wait_ns(run) == pytest.approx(100)
    assert skb_cache.visit_wait_ns(answer(8.0)) == 0


def test_with_rps_the_cache_as_shipped_changes_nothing_and_forced_it_brings_no_object_home(scenario):
    off, shipped, forced = skb_cache.steered(scenario).rows
    assert shipped[1:] == off[1:]
    assert float(forced[2]) > 0.99
    assert float(forced[3]) == pytest.approx(float(off[3]), rel=0.1)


def test_both_caches_leave_no_alien_object_and_neither_leaves_half_of_three(scenario, both):
    neither = skb_cache.quick(scenario, **skb_cache.NEITHER)
    rows = skb_cache.arms({"neither": neither, "both": both}, "c").rows
    assert float(rows[0][3]) == pytest.approx(1.5, abs=0.05)
    assert float(rows[1][3]) == 0
    assert float(rows[1][2]) > 5


def test_the_cache_costs_fresh_pages_on_loopback(scenario):
    (row,) = skb_cache.loopback(scenario, [2]).rows
    without, with_ = (float(share) for share in row[4].split(" / "))
    assert without < 0.1
    assert with_ == pytest.approx(1, abs=0.05)
    assert float(row[3]) < -3


def test_the_colleagues_program_forgets_a_packet_and_the_benchmark_cannot_tell(scenario, both):
    wrong = skb_cache.careless(scenarios.load("tcp-rx-skb-cache"))
    assert "BRANCH" in skb_cache.eating(scenario)
    assert "BRANCH" not in skb_cache.eating(wrong)
    assert "kfree_skb" in skb_cache.taking(wrong)
    right_row, wrong_row = skb_cache.unnoticed(both, wrong).rows
    assert right_row[1:] == wrong_row[1:]


def test_sentences_hold_the_gain_against_both_forms_in_which_the_message_gives_it_and_count_the_loss_as_short():
    run = answer(8.0, transfers_per_packet=28, alien_frees=1.5, list_locks=0.24)
    runs = {"neither": run, "both": answer(8.6, transfers_per_packet=17)}
    rows = [
        {"figure": "loopback, the receive cache changes a pair's rate", "simulated": -15.0, "error_points": 10.7},
        {"figure": "requests after the two patches", "error_pct": -4.3},
        {"figure": "requests, both patches gain", "reported": 10.0, "simulated": 7.59},
    ]
    said = skb_cache.words(runs, rows)
    assert (said["skb-full-gain"], said["skb-gain-part"], said["skb-gain-part-words"]) == ("+7.6 %", "61 %", "76 %")
    assert said["skb-both-gain"] == "+7.5 %", "shorter runs, of the page itself"
    assert said["skb-loopback-short"] == "11 points"
    assert (said["skb-drains"], said["skb-list-locks"], said["skb-rule"]) == ("125", "240", "5 %")
    assert {row["figure"] for row in rows} <= {figure.figure for figure in reported.figures("tcp-rx-skb-cache")}
