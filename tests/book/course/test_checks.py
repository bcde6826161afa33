"""What all checks are made of."""

from __future__ import annotations

import pytest

from book.course import sources
from book.course.checks import Verdict, checks, near, partly, right, together, wrong
from book.course.checks.routines import same
from sim.exercises import assignments


def test_a_number_is_right_within_its_tolerance_and_not_beyond() -> None:
    assert near(101, 100, relative=0.01).share == 1
    assert near(101.1, 100, relative=0.01).share == 0
    assert near(102, 100, absolute=2).share == 1
    assert near(45, 45).share == 1


def test_a_usual_mistake_gets_its_hint_and_may_get_a_share() -> None:
    assert near(50, 100, relative=0.01, traps=[(50, "half of it")]).hint == "half of it"
    assert near(50, 100, relative=0.01, traps=[(50, 0.5, "half of it")]).share == 0.5
    assert near(100, 100, relative=0.01, traps=[(100.5, "no trap")]).share == 1


def test_mistaken_units_are_guessed() -> None:
    assert "bits and bytes" in near(800, 100, relative=0.01).hint
    assert "thousand" in near(0.1, 100, relative=0.01).hint
    assert "million" in near(1e8, 100, relative=0.01).hint


def test_who_loses_points_gets_a_hint() -> None:
    with pytest.raises(ValueError, match="gets a hint"):
        Verdict(0.5, "Half.")
    with pytest.raises(ValueError, match="share"):
        Verdict(1.5, "More.")


def test_parts_count_alike_and_the_wrong_ones_are_named() -> None:
    verdict = together({"a": right(), "b": wrong("No.", "look"), "c": partly(0.5, "Half.", "why?")})
    assert verdict.share == 0.5
    assert verdict.message == "`b`: No. `c`: Half. Right: `a`."
    assert verdict.hint == "`b`: look. `c`: why?"
    assert together({"a": right()}) == right()


def test_routines_are_compared_without_comments_and_space() -> None:
    assert same("read a[b]  # x\n\n", "  read  a[b]")
    assert not same("read a[b]", "write a[b]")


@pytest.mark.parametrize("name", assignments.names())
def test_an_assignment_has_a_check_for_each_question_and_gives_20_to_30_points(name: str) -> None:
    assert list(checks(name)) == list(assignments.load(name).names)
    author = sources.notebook(name)
    by_hand = sources.points_by_hand(author)
    assert 20 <= sum(sources.points(author).values()) + sum(by_hand.values()) <= 30
    assert by_hand, "an essay belongs to it"
    assert 60 <= assignments.load(name).minutes <= 90
