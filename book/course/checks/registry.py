"""The checks of an assignment by question, and how an answer that nobody trusts is judged by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from sim.exercises import assignments
from sim.exercises.forms import NotAccepted
from sim.exercises.instance import Instance

from .verdict import Judgement, Verdict

Function = Callable[[Instance, Any], Verdict]


@dataclass(frozen=True)
class Check:
    """A question's check: (instance, answer in its form) to a verdict."""

    name: str
    points: float
    function: Function

    def __call__(self, instance: Instance, answer: Any) -> Verdict:
        return self.function(instance, answer)


def question(name: str, points: float) -> Callable[[Function], Check]:
    """Make a function the check of a question."""
    return lambda function: Check(name, points, function)


@cache
def checks(assignment: str) -> dict[str, Check]:
    """An assignment's checks by question, in the order of its questions.

    Raises
    ------
    KeyError
        for an unknown assignment.
    ValueError
        if a question has no check or two, or a check no question.
    """
    asked = assignments.load(assignment)
    module = import_module("book.course.checks." + asked.name.replace("-", "_").replace(".", "_"))
    found = [value for value in vars(module).values() if isinstance(value, Check)]
    names = sorted(check.name for check in found)
    if names != sorted(asked.names):
        raise ValueError(f"{assignment}: the checks are {names}, the questions {sorted(asked.names)}")
    by_name = {check.name: check for check in found}
    return {name: by_name[name] for name in asked.names}


def judge(assignment: str, student: str, question: str, answer: Any, typed: str | None = None) -> Judgement:
    """Judge what a notebook handed in. Raises nothing for any answer made of JSON data.

    Parameters
    ----------
    student
        The id from the submission's place: its numbers count.
    answer
        What was handed in; None if nothing was.
    typed
        The id that the notebook says, if it says one.
    """
    check = checks(assignment)[question]
    instance = assignments.load(assignment).instance(question, student)
    if answer is None:
        return Judgement(0, check.points, "Not answered.", "give the variable in the cell above a value")
    try:
        accepted = instance.question.form.accept(answer)
    except (NotAccepted, RecursionError, OverflowError) as error:
        return Judgement(0, check.points, f"This cannot be the answer: {error}.", "look at the form that is expected")
    verdict = check(instance, accepted)
    hint = verdict.hint
    if verdict.share < 1 and isinstance(typed, str) and typed and typed != student and len(typed) < 200:
        hint = (f"the notebook says student({typed!r}), but the course has you as {student!r}: if the numbers "
                f"were typed, they were worked out for another student's question. {hint}")
    return Judgement(round(verdict.share * check.points, 2), check.points, verdict.message, hint)
