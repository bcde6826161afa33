"""Exercises with numbers of one's own.

>>> from sim.exercises import mine, student
>>> student("ada")
'ada'
>>> mine("tcp-5.17")["gro-fill"].name
'gro-fill'

Practice problems, which bring their answers along, come from `practice`. An assignment's answers are not here: whoever
teaches has them in `book.course.checks`.
"""

from __future__ import annotations

from . import assignments
from .forms import NotAccepted
from .handing_in import HandedIn, hand_in
from .identity import NoStudent, student, who
from .instance import Assignment, Instance, Question
from .problem import Problem, Verdict, practice

__all__ = [
    "Assignment", "HandedIn", "Instance", "NoStudent", "NotAccepted", "Problem", "Question", "Verdict", "hand_in",
    "mine", "practice", "student", "who",
]


def mine(assignment: str) -> dict[str, Instance]:
    """The questions of an assignment with the present student's numbers, by name.

    Raises
    ------
    KeyError
        for an unknown assignment, with the names there are.
    NoStudent
        if nobody said whose numbers are meant.
    """
    return assignments.load(assignment).instances(who())
