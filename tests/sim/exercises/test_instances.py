"""Instances of questions: everybody's own, and what students get holds no answers."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import sim.exercises
from sim.exercises import assignments
from sim.exercises.instance import Assignment

CLASS = [f"student{k:03}" for k in range(300)]
ALL = [assignments.load(name) for name in assignments.names()]


@pytest.fixture(params=ALL, ids=lambda a: a.name)
def assignment(request: pytest.FixtureRequest) -> Assignment:
    return request.param  # type: ignore[no-any-return]


def test_no_two_students_of_a_class_of_300_get_the_same_numbers(assignment: Assignment) -> None:
    drawn = Counter(
        tuple(tuple(instance.items()) for instance in assignment.instances(who).values()) for who in CLASS
    )
    assert len(drawn) == len(CLASS)


def test_numbers_stay_what_they_are_when_they_are_drawn_again(assignment: Assignment) -> None:
    assert assignment.instances("ada") == assignment.instances("ada")


def test_every_question_can_be_asked_of_everybody(assignment: Assignment) -> None:
    for who in CLASS[:50]:
        for instance in assignment.instances(who).values():
            assert "{" not in instance.text.split("```")[0]
            assert instance.question.tolerance
            assert instance.question.form.expected in instance._repr_markdown_()


def test_a_question_is_asked_once_in_the_course() -> None:
    asked = Counter(name for one in ALL for name in one.names)
    assert [name for name, count in asked.items() if count > 1] == []
    assert assignments.holder("gro-fill").name == "tcp-5.17"


def test_a_given_that_is_not_there_is_named() -> None:
    instance = assignments.load("tcp-5.17").instance("gro-fill", "ada")
    with pytest.raises(KeyError, match="payload_bytes"):
        instance["mtu"]


def test_an_unknown_assignment_or_question_names_those_that_there_are() -> None:
    with pytest.raises(KeyError, match=r"tcp-5\.17"):
        assignments.load("tcp-5.18")
    with pytest.raises(KeyError, match="gro-fill"):
        assignments.load("tcp-5.17").instance("fill", "ada")


def test_graded_questions_have_no_answer_in_what_students_install() -> None:
    folder = Path(sim.exercises.__file__).parent
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            name
            for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
        }
        assert not [name for name in imported if name.split(".")[0] == "book"], path
    for one in ALL:
        for instance in one.instances("ada").values():
            assert not hasattr(instance, "answer")
