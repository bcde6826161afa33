"""What the chapter on the prequeue computes: its quoted words, its faulty program, its pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.figures import prequeue
from sim import reported, scenarios
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


ROW = {"simulated": 67.1, "range_low": 43.6, "range_high": 117.4, "error_points": 17.1}
ROWS = [
    {**ROW, "figure": "packets before the patch", "range_low": 5.286, "range_high": 5.532},
    {**ROW, "figure": "receiver's CPUs before the patch", "range_low": 99.65, "error_points": 4.994},
    {**ROW, "figure": "packets, the patch gains"},
    {**ROW, "figure": "receiver's CPUs, the patch saves", "range_low": -66.2, "range_high": -53.2},
]


def test_every_number_that_the_page_quotes_is_computed(arms):
    quoted = set(re.findall(r"\{glue:text\}`([^`]+)`", PAGE.read_text(encoding="utf-8")))
    assert quoted
    assert quoted <= set(prequeue.words(arms)) | set(prequeue.bounds(ROWS))


def test_the_bounds_are_those_of_the_threads_rows_and_a_saving_is_written_without_its_sign():
    said = prequeue.bounds(ROWS)
    assert (said["before-fast"], said["before-slow"]) == ("5.53 Mpps", "5.29 Mpps")
    assert (said["saves-least"], said["saves-most"]) == ("53 %", "66 %")
    assert said["load-before-error"] == "4.99 points"


def test_the_rows_that_the_bounds_are_read_from_are_the_threads_own():
    assert {row["figure"] for row in ROWS} <= {figure.figure for figure in reported.figures("tcp-prequeue")}


def test_every_figure_that_contains_one_from_after_the_patch_is_dependent_since_the_drivers_time_was_chosen_for_it():
    after = [figure for figure in reported.figures("tcp-prequeue") if figure.knobs.get("drop_dst_early")]
    assert len(after) == 4
    assert {figure.role for figure in after} == {"dependent"}


def test_the_line_of_the_count_holds_what_every_packet_reads():
    said = {row[1]: row[3] for row in prequeue.neighbours().rows}
    assert said["__refcnt"] == "changed, twice"
    assert said["rt_genid"].startswith("read")
    assert said["rt_type"].startswith("read")
    assert None in said.values()


def test_the_times_for_a_packet_make_up_the_busy_cpus(arms):
    said, run = prequeue.words(arms), arms[1]
    us = float(said["eight-us"].split()[0]) + float(said["reader-us"].split()[0])
    assert us == pytest.approx(prequeue.packet_us(run), abs=0.01)


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
