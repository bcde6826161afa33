"""A course directory for tests, graded by the real commands."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from book.course import new, sources
from book.course.grading.place import Course
from book.course.nbgrader_tool import nbgrader
from book.course.sandbox import jail

ASSIGNMENT = "tcp-5.17"

#: Where there is no sandbox, what needs one is skipped and says why.
needs_sandbox = pytest.mark.skipif(bool(jail.problem()), reason=jail.problem() or "there is a sandbox")


def course(folder: Path, assignment: str = ASSIGNMENT) -> Course:
    """A course with one released assignment."""
    new.make(folder)
    sources.write(assignment, folder / "source")
    nbgrader(folder, "generate_assignment", assignment)
    return Course.at(folder)


def scores(made: Course, assignment: str = ASSIGNMENT) -> dict[str, dict[str, Any]]:
    """By student and cell: points from the gradebook, and whether a person must look."""
    with Gradebook(f"sqlite:///{made.root / 'gradebook.db'}") as book:
        return {
            each.student.id: {
                grade.name: (grade.auto_score, grade.manual_score, grade.needs_manual_grade)
                for notebook in each.notebooks for grade in notebook.grades
            }
            for each in book.find_assignment(assignment).submissions
        }


def points(made: Course, assignment: str = ASSIGNMENT) -> dict[str, float]:
    """By student: what the checks gave, from the gradebook."""
    return {
        student: sum(auto or 0.0 for auto, _, _ in grades.values())
        for student, grades in scores(made, assignment).items()
    }


def feedback(made: Course, student: str, assignment: str = ASSIGNMENT) -> str:
    """What a student reads, with the marks of HTML taken away."""
    text = (made.root / "feedback" / student / assignment / f"{assignment}.html").read_text(encoding="utf-8")
    body = text.split("<body", 1)[1]
    plain = html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<(style|script)\b.*?</\1>", "", body, flags=re.S)))
    return re.sub(r"\s+", " ", plain)


def graded(made: Course, student: str, assignment: str = ASSIGNMENT) -> nbformat.NotebookNode:
    """The graded copy."""
    return nbformat.read(made.root / "autograded" / student / assignment / f"{assignment}.ipynb", as_version=4)


def printed(made: Course, student: str, assignment: str = ASSIGNMENT) -> str:
    """All that the cells of a graded copy put out, errors apart."""
    outputs = [output for cell in graded(made, student, assignment).cells for output in cell.get("outputs", [])]
    return "\n".join(str(output.get("text", "")) + str(output.get("data", "")) for output in outputs)
