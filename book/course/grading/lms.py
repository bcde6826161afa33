"""Grades of an assignment as a table that a learning management system can read.

A cell that starts like a formula is written with a quote before it, since spreadsheets would run it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from nbgrader.api import Gradebook, MissingEntry

from ...build.report import Refusal
from . import store
from .place import Course

#: Columns by system: heading, and what stands in it.
FORMS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "plain": (
        ("student", "student"), ("assignment", "assignment"), ("score", "score"), ("out of", "of"),
        ("by hand, of", "by_hand"), ("to be graded by hand", "waiting"), ("handed in", "timestamp"),
        ("late penalty", "penalty"),
    ),
    # Moodle matches students by a column of the teacher's choice and takes feedback from another
    "moodle": (("Username", "student"), ("{assignment}", "score"), ("Feedback", "remark")),
    # Canvas wants these five before the scores, in this order, and finds students by any of them
    "canvas": (
        ("Student", "name"), ("ID", "empty"), ("SIS User ID", "student"), ("SIS Login ID", "student"),
        ("Section", "empty"), ("{assignment}", "score"),
    ),
}


def rows(course: Course, assignment: str) -> list[dict[str, Any]]:
    """A row for each student of the gradebook who handed in, sorted by id.

    Raises
    ------
    Refusal
        for an assignment that the gradebook does not have.
    """
    found: list[dict[str, Any]] = []
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as book:
        try:
            handed_in = book.find_assignment(assignment).submissions
        except MissingEntry:
            raise Refusal(f"the gradebook has no assignment {assignment}: generate it first") from None
        for each in handed_in:
            student, penalty = each.student, float(each.late_submission_penalty or 0.0)
            waiting = bool(each.needs_manual_grade)
            name = ", ".join(filter(None, (student.last_name, student.first_name))) or student.id
            found.append({
                "student": student.id, "name": name, "assignment": assignment, "empty": "",
                "score": _number(max(0.0, each.score - penalty)), "of": _number(each.max_score),
                "by_hand": _number(each.max_score - each.max_code_score), "waiting": "yes" if waiting else "no",
                "timestamp": str(each.timestamp or ""), "penalty": _number(penalty),
                "remark": "A part is still to be graded by hand." if waiting else "",
            })
    return sorted(found, key=lambda row: row["student"])


def table(course: Course, assignment: str, form: str = "plain") -> str:
    """The table as CSV."""
    columns = FORMS[form]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([heading.format(assignment=assignment) for heading, _ in columns])
    for row in rows(course, assignment):
        writer.writerow([_safe(row[what]) for _, what in columns])
    return out.getvalue()


def write(course: Course, assignment: str, form: str = "plain", to: Path | None = None) -> Path:
    """Write the table; returns where it is."""
    place = to or course.root / "grades" / f"{assignment}.csv"
    # spreadsheets take a file for UTF-8 by its first three bytes
    store.write(place, table(course, assignment, form).encode("utf-8-sig"))
    return place


def _number(value: float) -> str:
    return f"{round(value, 2):g}"


def _safe(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text
