"""Says of each student that nbgrader has finished: its own folders do not tell a whole result from a torn one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from . import store
from .place import Course

STAGES: Final = ("autograded", "feedback")
#: What nbgrader makes at each stage.
FILES: Final = {"autograded": "{}.ipynb", "feedback": "{}.html"}


def autograded(assignment: str, student: str, notebooks: Sequence[str]) -> None:
    """nbgrader calls this when it has written one student's grades and copy."""
    _write("autograded", notebooks)


def fed_back(assignment: str, student: str, notebooks: Sequence[str]) -> None:
    """nbgrader calls this when it has written one student's feedback."""
    _write("feedback", notebooks)


def _write(stage: str, notebooks: Sequence[str]) -> None:
    # nbgrader passes the pattern that it was called with for the student; the folder is in the path
    for notebook in notebooks:
        folder = Path(notebook).resolve().parent
        assignment, student = folder.name, folder.parent.name
        course = Course(next(parent for parent in folder.parents if (parent / "nbgrader_config.py").exists()))
        order = course.receipts / "ordered" / assignment / f"{student}.json"
        if order.exists():
            store.write(course.receipts / stage / assignment / f"{student}.json", order.read_bytes())


def order(course: Course, assignment: str, student: str, key: str, extra: dict[str, Any]) -> None:
    """Say which result nbgrader is to write next for a student."""
    data = json.dumps({"key": key, **extra}, ensure_ascii=False).encode()
    store.write(course.receipts / "ordered" / assignment / f"{student}.json", data)


def done(course: Course, stage: str, assignment: str, student: str, key: str) -> bool:
    """Whether a stage holds a student's present result, all of it."""
    made = course.root / stage / student / assignment / FILES[stage].format(assignment)
    receipt = read(course, stage, assignment, student)
    return made.exists() and receipt is not None and receipt.get("key") == key


def read(course: Course, stage: str, assignment: str, student: str) -> dict[str, Any] | None:
    """A receipt; None if there is none."""
    try:
        found = json.loads((course.receipts / stage / assignment / f"{student}.json").read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def clear(course: Course, stage: str, assignment: str, student: str) -> None:
    """Take away what a stage holds for a student, so that nbgrader writes it anew; the gradebook keeps what it has."""
    (course.receipts / stage / assignment / f"{student}.json").unlink(missing_ok=True)
    shutil.rmtree(course.root / stage / student / assignment, ignore_errors=True)
