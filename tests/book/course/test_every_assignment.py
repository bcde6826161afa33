"""What holds for all assignments: solvable by everybody, nothing for nothing, and no answer stops a check."""

from __future__ import annotations

from typing import Any, Final

import pytest

from book.course import sources
from book.course.checks import checks, judge
from sim.exercises import assignments
from tests.book.course.desk import work_through

#: Questions that a class of 300 is quickly worked through: pencil, profiles and faults.
ARITHMETIC: Final = {
    "tcp-5.17": ("gro-fill", "fragment-cost", "ceilings", "neighbours"),
    "tcp-prequeue": ("line-rate", "waiting", "hand-over", "route-layout"),
    "packet-rollover": ("rollover-locks", "rollover-budget", "rollover-profile", "rollover-bug"),
    "udpv6-early-demux": ("demux-two-rates", "demux-forward", "demux-ceiling", "demux-profile", "demux-bug"),
    "tcp-rx-skb-cache": ("skb-nodes", "skb-batch", "skb-knee", "skb-memory", "skb-profile", "skb-bug"),
    "receiver-design": ("design-pencil",),
}
CLASS: Final = tuple(f"student{k:03}" for k in range(300))


def test_all_assignments_are_here() -> None:
    assert sorted(ARITHMETIC) == sorted(sources.names())


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_and_faults_are_solvable_for_a_class_of_300(name: str) -> None:
    for who in CLASS:
        judged = work_through(name, who, ARITHMETIC[name])
        assert {q: one.text for q, one in judged.items() if one.points != one.of} == {}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_no_two_of_300_students_have_the_same_numbers(name: str) -> None:
    assignment = assignments.load(name)
    for question in ARITHMETIC[name]:
        if not question.endswith("-bug"):  # of faults there are as many as colleagues
            assert len({tuple(assignment.instance(question, who).values()) for who in CLASS}) == len(CLASS), question


@pytest.mark.parametrize("name", ARITHMETIC)
def test_a_blank_notebook_gets_nothing(name: str) -> None:
    judged = work_through(name, "ada", checks(name), blank=True)
    found = {question: (one.points, one.message) for question, one in judged.items()}
    assert found == dict.fromkeys(checks(name), (0, "Not answered."))


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize(
    "answer",
    [
        0, -1, 1e300, float("nan"), "x", "routine has_room\n" * 90, "jump x\n" * 150, [], {}, {"line": 1},
        {"reader": None}, {"visits": 4}, [[[[]]]], True, "\0" * 50_000,
    ],
)
def test_no_answer_of_any_form_stops_a_check_or_earns_points(name: str, answer: Any) -> None:
    for question in checks(name):
        judgement = judge(name, "ada", question, answer)
        assert judgement.points == 0
        assert judgement.hint
