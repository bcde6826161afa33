"""``python -m book.course forget DIR ID``: deletes what a course directory knows of a student."""

from __future__ import annotations

import argparse
import csv
import io
import shutil
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from ..build.report import Refusal, say
from .grading import store
from .grading.place import Course


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course directory")
    parser.add_argument("student", metavar="ID")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Delete, and say what is elsewhere."""
    course = Course.at(options.folder)
    gone = forget(course, options.student)
    if not gone:
        raise Refusal(f"{options.folder} knows nothing of {options.student}")
    for what in gone:
        say(f"deleted {what}")
    say("not touched: backups, the hub's exchange and home folders, and what you exported to other systems")
    return 0


def forget(course: Course, student: str) -> list[str]:
    """Delete a student's files, grades and kept runs; returns what there was.

    Kept runs are filed by what they follow from, not by student, so all of them go. They are made again if they are
    needed; grades that were written stay.

    Raises
    ------
    Refusal
        if the id is not one that a folder can have.
    """
    if not student or student in (".", "..") or "/" in student or "\0" in student:
        raise Refusal(f"{student!r} is no student's id")
    places = [course.root / stage / student for stage in ("submitted", "autograded", "feedback")]
    places += [course.prepared / student, *course.receipts.glob(f"*/*/{_literal(student)}.json")]
    gone = []
    for place in places:
        if place.is_symlink() or place.is_file():
            place.unlink()
        elif place.is_dir():
            shutil.rmtree(place)
        else:
            continue
        gone.append(place.relative_to(course.root).as_posix())
    gone += _from_tables(course, student)
    if (course.root / "gradebook.db").exists():
        with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as book:
            try:
                book.remove_student(student)
                gone.append("gradebook.db: the student and all grades")
            except MissingEntry:
                pass
    if gone and course.store.is_dir():
        shutil.rmtree(course.store)
        gone.append("grading/store: everybody's kept runs")
    return gone


def _from_tables(course: Course, student: str) -> list[str]:
    """Take a student's rows out of the exported tables."""
    gone = []
    for table in sorted((course.root / "grades").glob("*.csv")):
        rows = list(csv.reader(io.StringIO(table.read_text(encoding="utf-8-sig"))))
        kept = [row for row in rows if student not in row]
        if len(kept) < len(rows):
            out = io.StringIO()
            csv.writer(out, lineterminator="\r\n").writerows(kept)
            store.write(table, out.getvalue().encode("utf-8-sig"))
            gone.append(f"grades/{table.name}: {len(rows) - len(kept)} row")
    return gone


def _literal(text: str) -> str:
    """A name as a pattern that matches only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)
