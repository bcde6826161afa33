"""The assignments on the 5.17 series and on the prequeue: solvable with everybody's numbers, and strict."""

from __future__ import annotations

import math

import pytest

from book.course.checks import judge, tcp_5_17, tcp_prequeue
from sim import scenarios
from sim.exercises import assignments
from sim.exercises.defer_list import locking
from sim.exercises.faulty import texts
from tests.book.course.desk import lost, work_through
from tests.chosen import chosen

LISTS, PARKINGS = texts("tcp-5.17"), texts("tcp-prequeue")
LIST = """\
routine eat
    load other = sk_buff.alloc_cpu[skb]
    branch other < 0 free
    branch other == cpu free
    lock defer_lock[other]
    qlen n = softnet_data.defer_list[other]
    branch n >= LIMIT full
    push softnet_data.defer_list[other] skb
    unlock defer_lock[other]
    ret
full:
    unlock defer_lock[other]
    jump free
routine flush
    read softnet_data.defer_lock[cpu]
    qlen n = softnet_data.defer_list[cpu]
    branch n == 0 out
next:
    lock defer_lock[cpu]
    pop skb = softnet_data.defer_list[cpu] empty done
    unlock defer_lock[cpu]
    call kfree_skb
    jump next
done:
    unlock defer_lock[cpu]
"""


def student_with(assignment: str, question: str, given: str, value: object) -> str:
    """Somebody whose question has this number."""
    one = assignments.load(assignment)
    return next(
        who for who in (f"student{k}" for k in range(1000)) if one.instance(question, who)[given] == value
    )


def test_the_whole_5_17_notebook_gets_all_points() -> None:
    judged = work_through("tcp-5.17", "zoë")
    assert {q: one.text for q, one in judged.items() if one.points != one.of} == {}
    assert sum(one.of for one in judged.values()) == 25


def test_usual_mistakes_get_the_hint_that_is_meant_for_them() -> None:
    instance = assignments.load("tcp-5.17").instance("fragment-cost", "ada")
    held = tcp_5_17.segments(instance)
    small = tcp_5_17.packet_ns(instance)
    large = tcp_5_17.LARGE_BYTES * 8000 / instance.number("large_mbps")
    careless = judge("tcp-5.17", "ada", "fragment-cost", (small - large) / (held - 15))
    assert careless.points == 1.5
    assert "same bytes" in careless.hint
    assert "other packet has fragments" in lost(judge(
        "tcp-5.17", "ada", "fragment-cost",
        (small - large - (held * instance.number("payload_bytes") - tcp_5_17.LARGE_BYTES)
         * instance.number("copy_fs") / 1e6) / held,
    ))
    rate = tcp_prequeue.between_ns(assignments.load("tcp-prequeue").instance("line-rate", "ada"))
    assert "bits and bytes" in lost(judge("tcp-prequeue", "ada", "line-rate", {"visits": 4, "every_ns": rate * 8}))
    assert "between two packets" in lost(judge("tcp-prequeue", "ada", "line-rate", {"visits": 4, "every_ns": rate * 4}))
    half = judge("tcp-prequeue", "ada", "line-rate", {"visits": 2, "every_ns": rate * 2})
    assert "not only changes" in lost(half)


def test_anothers_numbers_are_noticed_when_the_notebook_says_whose_they_are() -> None:
    mine, other = (
        tcp_prequeue.between_ns(assignments.load("tcp-prequeue").instance("line-rate", who)) for who in ("ada", "bob")
    )
    assert not math.isclose(mine, other, rel_tol=0.01)
    copied = judge("tcp-prequeue", "ada", "line-rate", {"visits": 4, "every_ns": other}, typed="bob")
    assert "the course has you as 'ada'" in lost(copied)
    right_anyway = judge("tcp-prequeue", "ada", "line-rate", {"visits": 4, "every_ns": mine}, typed="bob")
    assert right_anyway.points == right_anyway.of


def test_feedback_does_not_state_the_number() -> None:
    for question, answer, truth in (
        ("gro-fill", 150, tcp_5_17.segments(assignments.load("tcp-5.17").instance("gro-fill", "ada"))),
    ):
        assert str(truth) not in lost(judge("tcp-5.17", "ada", question, answer))


@pytest.mark.parametrize("fault", range(len(LISTS)))
def test_a_faulty_list_is_refused_as_it_came_and_with_another_comment(fault: int) -> None:
    who = student_with("tcp-5.17", "defer-bug", "fault", fault)
    for text in (LISTS[fault], LISTS[fault].replace("routine flush", "# mine\nroutine  flush")):
        judgement = judge("tcp-5.17", who, "defer-bug", text)
        assert judgement.points == 0
        assert "as it came" in judgement.message


@pytest.mark.parametrize("fault", range(len(LISTS)))
def test_a_faulty_list_is_found_by_what_it_does(fault: int) -> None:
    who = student_with("tcp-5.17", "defer-bug", "fault", (fault + 1) % len(LISTS))
    assert judge("tcp-5.17", who, "defer-bug", LISTS[fault]).points <= 1


@pytest.mark.parametrize("fault", range(len(PARKINGS)))
def test_a_faulty_parking_is_found_by_what_it_does(fault: int) -> None:
    unchanged = student_with("tcp-prequeue", "parking-bug", "fault", fault)
    assert judge("tcp-prequeue", unchanged, "parking-bug", PARKINGS[fault]).points == 0
    other = student_with("tcp-prequeue", "parking-bug", "fault", (fault + 1) % len(PARKINGS))
    assert judge("tcp-prequeue", other, "parking-bug", PARKINGS[fault]).points <= 1


@pytest.mark.parametrize(
    ("change", "points", "said"),
    [
        (("", ""), 5, "Right."),
        (("    branch n >= LIMIT full\n", ""), 3.75, "A list grew to"),
        (("n >= LIMIT", "n > LIMIT"), 3.75, "A list grew to"),
        (("    branch other == cpu free\n", ""), 4.38, "detour"),
        (("    unlock defer_lock[cpu]\n    call kfree_skb\n", "    call kfree_skb\n    unlock defer_lock[cpu]\n"), 3.75,
         "freed while the lock is held"),
        (("    ret\nfull", "    jump free\nfull"), 0, "The run ended early"),
        (("    branch other < 0 free\n", ""), 0, "other may be none"),
        ((LIST[LIST.index("    load other"):LIST.index("routine flush")], "    jump free\n"), 0, "still frees"),
        ((LIST[LIST.index("    read softnet"):], ""), 0, "still frees"),
    ],
)
def test_each_property_of_a_cpus_list_counts(change: tuple[str, str], points: float, said: str) -> None:
    who = "ada"
    limit = assignments.load("tcp-5.17").instance("cpu-list", who).number("limit")
    text = LIST.replace(*change, 1).replace("LIMIT", str(limit))
    judgement = judge("tcp-5.17", who, "cpu-list", text)
    assert said in judgement.text
    assert judgement.points == points


def test_a_list_touched_without_its_lock_is_named_by_line() -> None:
    bare = LIST.replace("LIMIT", "4").replace("    lock defer_lock[other]\n", "").replace(
        "    unlock defer_lock[other]\n", ""
    )
    assert locking(bare) == [(7, "push without the lock of that list")]
    assert locking(LIST.replace("LIMIT", "4")) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", chosen(range(8), [0, 3, 7]))
def test_tolerances_of_the_5_17_runs_are_wider_than_what_seeds_change(number: int) -> None:
    one, s = assignments.load("tcp-5.17"), scenarios.load("tcp-5.17")
    instance = one.instance("measurement", f"student{number}")
    for key in (0, 1):
        runs = [tcp_5_17.run(*tcp_5_17.own(instance), key, seed) for seed in (1, 900)]
        assert max(r.metrics["gbps"].high - r.metrics["gbps"].low for r in runs) / 2 < 0.02 * runs[0].gbps
        assert abs(runs[0].gbps - runs[1].gbps) < 0.02 * runs[0].gbps
        assert abs(runs[0].cpu["softirq"] - runs[1].cpu["softirq"]) < 2
        assert abs(runs[0].freed_by_softirq - runs[1].freed_by_softirq) < 6
    assert s.replications == 5


@pytest.mark.slow
@pytest.mark.parametrize("number", chosen(range(3), [0]))
def test_tolerances_of_the_prequeue_runs_are_wider_than_what_seeds_change(number: int) -> None:
    instance = assignments.load("tcp-prequeue").instance("padding-measurement", f"student{number}")
    rates = {}
    for knobs in ({"drop_dst_early": 0}, {"drop_dst_early": 0, "dst_padding": 1}, {"drop_dst_early": 1}):
        runs = [tcp_prequeue.run(*tcp_prequeue.own(instance), seed, **knobs).mpps for seed in (1, 900)]
        assert abs(runs[0] - runs[1]) < 0.05 * runs[0]
        rates[tuple(knobs.values())] = runs
    shares = [100 * (rates[0, 1][i] - rates[(0,)][i]) / (rates[(1,)][i] - rates[(0,)][i]) for i in range(2)]
    assert abs(shares[0] - shares[1]) < 12
