"""Which answers are right. Students do not install this package.

A module for each assignment, named like its questions in `sim.exercises.assignments`, declares checks:

    @question("gro-fill", points=2)
    def gro_fill(instance, answer):
        return near(answer, 45)

A check never sees a student's code, only an instance and an answer whose form has been accepted.
"""

from __future__ import annotations

from .near import near
from .registry import Check, checks, judge, question
from .verdict import Judgement, Verdict, fault_found, partly, right, together, wrong

__all__ = [
    "Check", "Judgement", "Verdict", "checks", "fault_found", "judge", "near", "partly", "question", "right",
    "together", "wrong",
]
