"""``python -m book.course export DIR ASSIGNMENT``: grades as a table for a learning management system."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..build.report import say
from .grading import lms
from .grading.place import Course


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course directory")
    parser.add_argument("assignment", metavar="ASSIGNMENT")
    parser.add_argument("--lms", choices=sorted(lms.FORMS), default="plain", help="whose columns (%(default)s)")
    parser.add_argument("--to", type=Path, metavar="FILE", help="where to (default: grades/ASSIGNMENT.csv in DIR)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the table."""
    say(str(lms.write(Course.at(options.folder), options.assignment, options.lms, options.to)))
    return 0
