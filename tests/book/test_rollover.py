"""What the chapter on rollover computes: its quoted words, its faulty program, its pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.figures import rollover, stale_mark
from sim import line_samples, reported, scenarios
from tests.book.test_figures import (
    test_a_picture_is_sound_xml_names_its_finding_and_stays_inside_its_frame as sound,
)

DRAWN = {"empty": [(6.0, 6.0)], "full": [(1.5, 1.5), (2.0, 0.6), (6.0, 0.3)]}
KNOWN = {"empty": 3.5, "full": 0.5}
ROWS = [
    {"figure": "_raw_spin_lock before the patch, nine entries added up", "simulated": 74.98},
    {"figure": "_raw_spin_lock after the patch", "simulated": 1.09},
    {"figure": "spinning changes by the patch", "simulated": -81.98, "low": -100.0, "high": -35.99},
]
SEEDS = [{"seed": seed, "spinning": percent, "mpps": 3.5} for seed, percent in ((1, 1.1), (2, 1.1), (3, 62.7))]
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
    named = rollover.words({**runs, "empty": runs["after"]})
    assert quoted <= {*named, *rollover.fall(ROWS, SEEDS), *stale_mark.words(), "trap-opens", "trap-lasts"}


def test_the_fall_is_told_with_the_threads_rows_and_the_seeds_that_still_spin():
    said = rollover.fall(ROWS, SEEDS)
    assert (said["fall-before"], said["fall-after"]) == ("75.0 %", "1.1 %")
    assert (said["fall-change"], said["fall-low"], said["fall-high"]) == ("-82 %", "-100 %", "-36 %")
    assert (said["fall-stuck"], said["fall-seeds"]) == ("1", "3")
    assert {row["figure"] for row in ROWS} <= {figure.figure for figure in reported.figures("packet-rollover")}


@pytest.mark.slow
def test_with_the_patch_most_full_rings_have_drained_when_counting_begins_and_the_others_do_so_later(scenario):
    run = scenario.run(pressure=1, start="full")
    spinning = {r.seed: rollover._share(r, rollover.SPINNING) for r in run.replications}
    stuck = [seed for seed, percent in spinning.items() if percent > 10]
    assert 0 < len(stuck) < len(spinning) / 2
    for seed in stuck:
        longer = scenario.run(pressure=1, start="full", seed=seed, replications=1, until_ps=3 * scenario.until_ps)
        assert rollover.share(longer, rollover.SPINNING).mean < spinning[seed] / 1.5


def test_the_two_lines_to_watch_show_what_the_page_says_of_them():
    """Without the mark most accesses move the line; with it a hit each, but for one clearing and one setting."""
    lock = line_samples.take(line_samples.load("rollover-lock")).steps
    stay = [step.kind for step in lock if step.source != 1 and step.to < 0]
    assert len(stay) < len(lock) / 2
    assert set(stay) == {"unlock"}
    mark = line_samples.take(line_samples.load("pressure")).steps
    cleared, set_again = (n for n, step in enumerate(mark) if step.kind != "read")
    assert mark[cleared].core == 0, "the ring's own"
    assert mark[set_again].core != 0
    assert {step.states for step in mark[:cleared]} == {"S" * 8}
    assert len({step.core for step in mark[:cleared]} - {0}) > 2, "others look and pass by"
    assert len({step.core for step in mark[cleared + 1 : set_again]}) > 6, "all fetch the line"


def test_the_table_of_the_fault_shows_a_copy_beside_an_owner_for_the_first_time_at_the_step_that_the_answer_names():
    rows = stale_mark.accesses().rows
    broken = [row[0] for row in rows if "M" in row[2:] and "S" in row[2:]]
    assert broken[0] == stale_mark.words()["stale-step"]
    assert f"step {stale_mark.met() + 1}" in stale_mark.words()["stale-why"]
    assert int(rows[-1][0]) > stale_mark.met() + 1


def test_the_pictures_are_sound(runs):
    for picture in (rollover.probing(), rollover.packet_time(runs), rollover.hysteresis(DRAWN, 3.5, KNOWN)):
        sound(picture)


def test_the_page_and_the_picture_of_both_states_say_where_the_trap_opens():
    assert rollover.edge(DRAWN["full"]) == (1.5, 2.0)
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
