"""Grades a class: hand-ins are made readable, run in sandboxes, judged by the checks, and written down by nbgrader."""

from __future__ import annotations

from typing import Any


def configure(c: Any) -> None:
    """Make nbgrader take runs from the sandbox; `c` is its configuration object, with the course's root set."""
    from nbgrader.preprocessors import AssignLatePenalties, CheckCellMetadata, LimitOutput, SaveAutoGrades

    from .feedback import FeedbackExporter
    from .preprocessor import TakeOutcome

    c.TakeOutcome.root = c.CourseDirectory.root
    c.Autograde.autograde_preprocessors = [
        TakeOutcome, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata,
    ]
    c.Autograde.post_convert_hook = "book.course.grading.receipts.autograded"
    c.GenerateFeedback.post_convert_hook = "book.course.grading.receipts.fed_back"
    c.GenerateFeedback.exporter_class = FeedbackExporter
    c.HTMLExporter.raw_mimetypes = []  # a raw cell would go into the page as it is
