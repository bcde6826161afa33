"""What the chapter on the prequeue computes: its quoted words, its faulty program, its pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.figures import prequeue
from sim import scenarios
from tests.book.test_figures import (
    test_a_picture_is_sound_xml_names_its_finding_and_stays_inside_its_frame as sound,
)

PAGE = Path(__file__).parents[2] / "chapters" / "tcp-prequeue.md"
SHORT = {"replications": 2, "until_ps": 8_500_000_000}


@pytest.fixture(scope="module")
def scenario():
    return scenarios.load("tcp-prequeue")


@pytest.fixture(scope="module")
def arms(scenario):
    return scenario.run(**prequeue.BEFORE, **SHORT), scenario.run(**prequeue.AFTER, **SHORT)


def test_every_number_that_the_page_quotes_is_computed(arms):
    quoted = set(re.findall(r"\{glue:text\}`([^`]+)`", PAGE.read_text(encoding="utf-8")))
    assert quoted
    assert quoted <= set(prequeue.words(arms))


def test_the_pictures_are_sound(arms):
    for picture in (prequeue.visits(), prequeue.packet_time(arms)):
        sound(picture)


def test_most_cpu_time_before_the_patch_is_spent_at_the_line_and_little_after_it(arms):
    before, after = map(prequeue.at_the_line, arms)
    assert before > 60
    assert after < 20


def test_the_loads_of_both_groups_of_cpus_make_up_that_of_all(arms):
    run = arms[1]
    parts = 8 * prequeue.busy(run, 0, 8).mean + 40 * prequeue.busy(run, 8).mean
    assert parts / 48 == pytest.approx(prequeue.busy(run).mean)


def test_the_faulty_program_parks_without_counting_and_the_right_one_is_left_alone(scenario):
    wrong = prequeue.uncounted(scenarios.load("tcp-prequeue"))
    assert "atomic" in prequeue.parking(scenario)
    assert "atomic" not in prequeue.parking(wrong)
    assert "PUSH    ucopy.prequeue" in prequeue.parking(wrong)


def test_the_faulty_program_is_as_fast_as_the_patch(scenario, arms):
    wrong = prequeue.uncounted(scenarios.load("tcp-prequeue")).run(**prequeue.BEFORE, **SHORT)
    assert wrong.metrics["dst_atomics"].mean < 0.2
    assert wrong.mpps == pytest.approx(arms[1].mpps, rel=0.05)


def test_a_setting_that_names_a_side_of_the_patch_is_run_on_that_side_only(scenario, arms):
    settings = {"one side": {"drop_dst_early": 0, "dst_padding": 1}}
    table = prequeue.compare(scenario, arms, settings, seeds=1)
    assert table.rows[0][1] == pytest.approx(arms[0].mpps)
    assert table.rows[1][1] > arms[0].mpps
    assert table.rows[1][3:] == [None, None, None, None]
