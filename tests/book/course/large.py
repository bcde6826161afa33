"""A large class, simulated and graded by the real commands: what make test-class runs."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from book.course import simulate, sources
from book.course.grade import command as grade_command

from . import classroom


def main() -> int:
    """Grade a class and look at every student's points; the exit status is 1 if one of them is wrong."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--assignment", default=classroom.ASSIGNMENT, choices=sources.names())
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="receive-path-class-") as folder:
        course = classroom.course(Path(folder) / "course", options.assignment)
        kinds = [simulate.CLASS[number % len(simulate.CLASS)] for number in range(options.students)]
        for number, kind in enumerate(kinds):
            simulate.hand_in(course, options.assignment, simulate.name(number), kind)
        began = time.monotonic()
        grader = argparse.ArgumentParser()
        grade_command(grader)
        asked = grader.parse_args([str(course.root), options.assignment, "--jobs", str(options.jobs)])
        status = asked.run(asked)
        seconds = time.monotonic() - began
        got = classroom.points(course, options.assignment)
        full = sum(sources.points(sources.notebook(options.assignment)).values())
        wrong = [
            f"{simulate.name(number)} ({kind}): {got.get(simulate.name(number))} points of {full:g}"
            for number, kind in enumerate(kinds)
            if not as_expected(kind, got.get(simulate.name(number)), full)
            or not classroom.feedback(course, simulate.name(number), options.assignment)
        ]
    counted = ", ".join(f"{many} {kind}" for kind, many in sorted(Counter(kinds).items()))
    print(f"{options.students} students ({counted}): {seconds:.0f} s, {seconds / options.students:.1f} s each with "
          f"{options.jobs} sandboxes at a time; 300 take {seconds / options.students * 5:.0f} min", flush=True)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong or status else 0


def as_expected(kind: str, points: float | None, full: float) -> bool:
    """Whether a kind of hand-in got what it must."""
    if points is None:
        return False
    if kind in ("perfect", "renamed", "copied", "deleted", "talks"):
        return points == full
    if kind in ("blank", "not a notebook"):
        return points == 0
    return points < full and (points > 0 or kind == "wrong")


if __name__ == "__main__":
    sys.exit(main())
