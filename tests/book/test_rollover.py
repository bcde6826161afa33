"""What the chapter on rollover computes: its quoted words, its faulty program, its pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.figures import rollover
from sim import scenarios
from tests.book.test_figures import (
    test_a_picture_is_sound_xml_names_its_finding_and_stays_inside_its_frame as sound,
)

DRAWN = {"empty": [(6.0, 6.0)], "full": [(1.5, 1.5), (2.0, 0.6), (6.0, 0.3)]}
KNOWN = {"empty": 3.5, "full": 0.5}
PAGE = Path(__file__).parents[2] / "chapters" / "packet-rollover.md"


@pytest.fixture(scope="module")
def scenario():
    return scenarios.load("packet-rollover")


@pytest.fixture(scope="module")
def runs(scenario):
    return {
        "before": rollover.short(scenario, 2, pressure=0, start="full"),
        "after": rollover.short(scenario, 2, pressure=1, start="full"),
    }


def test_every_number_that_the_page_quotes_is_computed(runs):
    quoted = set(re.findall(r"\{glue:text\}`([^`]+)`", PAGE.read_text(encoding="utf-8")))
    assert quoted
    assert quoted <= set(rollover.words({**runs, "empty": runs["after"]}))


def test_the_pictures_are_sound(runs):
    for picture in (rollover.probing(), rollover.packet_time(runs), rollover.hysteresis(DRAWN, 3.5, KNOWN)):
        sound(picture)


def test_the_picture_of_both_states_says_where_the_trap_opens():
    said = rollover.hysteresis(DRAWN, 3.5, KNOWN).alt
    assert "up to 1.5 million packets a second and stay full from 2 on" in said
    assert "keep up to at least 6" in said


def test_the_patch_ends_the_spinning_and_a_packet_costs_less(runs):
    before, after = (rollover.share(run, rollover.SPINNING).mean for run in runs.values())
    assert before > 50 > 5 > after
    assert rollover.packet_us(runs["before"]) > 3 * rollover.packet_us(runs["after"])


def test_the_faulty_search_reads_the_mark_of_the_packets_own_socket(scenario):
    wrong = rollover.own_mark(scenarios.load("packet-rollover"))
    assert "packet_sock slot pressure" in rollover.search(scenario)
    assert "packet_sock slot pressure" not in rollover.search(wrong)
    assert "packet_sock flow pressure" in rollover.search(wrong)


def test_the_faulty_search_rolls_nothing_over_in_tight_rings(scenario, runs):
    wrong = rollover.own_mark(scenarios.load("packet-rollover"))
    good, bad = rollover.unnoticed(runs["after"], (scenario, wrong), seeds=1).rows
    assert good[1] == pytest.approx(bad[1], rel=0.02)
    assert good[3] > 5
    assert bad[3] == 0
