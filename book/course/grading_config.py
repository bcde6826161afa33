"""What makes ``nbgrader autograde`` take runs from the sandbox and verdicts from the checks."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any


def apply(c: Any) -> None:
    """Set the preprocessors on nbgrader's configuration object."""
    found = find_spec("book.course.grading")
    if found is not None and found.origin:
        from book.course.grading import configure

        configure(c)
