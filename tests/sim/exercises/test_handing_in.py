"""Whose numbers, and how an answer leaves the notebook."""

from __future__ import annotations

import json

import pytest

from sim.exercises import NoStudent, NotAccepted, hand_in, mine, student, who
from sim.exercises.handing_in import MIME
from sim.exercises.identity import GRADER, HUB


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GRADER, raising=False)
    monkeypatch.delenv(HUB, raising=False)
    monkeypatch.setattr("sim.exercises.identity._typed", None)


def test_without_a_student_there_are_no_numbers() -> None:
    with pytest.raises(NoStudent, match="student id"):
        mine("tcp-5.17")
    with pytest.raises(NoStudent):
        student("your id")


def test_the_place_counts_more_than_the_hub_and_the_hub_more_than_what_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert student("typed") == "typed"
    monkeypatch.setenv(HUB, "user")
    assert who() == "user"
    monkeypatch.setenv(GRADER, "place")
    assert student("typed") == "place"
    assert student("your id") == "place"


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a\nb", "x" * 129, 7, None])
def test_what_is_no_id_is_refused(name: object) -> None:
    with pytest.raises(NoStudent):
        student(name)  # type: ignore[arg-type]


def test_an_answer_goes_out_as_data_with_the_id_that_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    student("bob")
    monkeypatch.setenv(GRADER, "ada")
    shown = hand_in("gro-fill", 45)._repr_mimebundle_()
    assert shown[MIME] == {"question": "gro-fill", "answer": 45, "typed": "bob"}
    assert shown["text/plain"] == "handed in: gro-fill = 45"
    json.dumps(shown, allow_nan=False)


def test_none_is_no_answer_yet_and_no_error() -> None:
    student("ada")
    assert repr(hand_in("gro-fill", None)) == "gro-fill: not answered yet"


def test_a_question_that_nobody_asks_names_the_nearest() -> None:
    student("ada")
    with pytest.raises(NotAccepted, match="did you mean 'gro-fill'"):
        hand_in("gro-fil", 45)
