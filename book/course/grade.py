"""``python -m book.course grade DIR ASSIGNMENT``: grades, copies and feedback for all that was handed in."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ..build.report import Refusal, say
from .grading import batch, lms
from .grading.place import Course
from .grading.progress import Bars
from .sandbox import JailMissing, Limits, group


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course directory")
    parser.add_argument("assignment", metavar="ASSIGNMENT")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="sandboxes at a time (default: %(default)s)")
    parser.add_argument("--student", action="append", default=[], metavar="ID", help="only this one; can be repeated")
    parser.add_argument("--again", action="store_true", help="run what has been run, too")
    parser.add_argument(
        "--no-sandbox", action="store_true",
        help="run students' code with your own rights, on your own files: only where the whole computer is disposable",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Grade; the exit status is 1 if something needs a person's eye."""
    course = Course.at(options.folder)
    if options.no_sandbox:
        say("warning: no sandbox. Every student's code can read and change all that you can, other hand-ins, the")
        say("warning: gradebook and the checks among it, and can use the network. Limits of time and memory remain.")
    else:
        say(f"sandbox: bubblewrap; {group.available()}")
    began = time.monotonic()
    try:
        with Bars() as bars:
            result = batch.grade(
                course, options.assignment, options.jobs, options.student, options.again,
                Limits(sandbox=not options.no_sandbox), bars.show,
            )
    except JailMissing as missing:
        raise Refusal(
            f"{missing}. Without it a student's code could read other hand-ins and the gradebook, so nothing was run; "
            "--no-sandbox does so all the same"
        ) from None
    except KeyboardInterrupt:
        raise Refusal("interrupted; the same command goes on from there, nothing is lost or counted twice") from None
    written = lms.write(course, options.assignment)
    told = batch.summary(result)
    seconds = time.monotonic() - began
    say(f"{told['students']} hand-ins, {told['fresh']} run now in {seconds:.0f} s; mean of the checks' points: "
        f"{told['mean']:g}")
    if told["fresh"]:
        each, cpu = told["sandbox_s"] / told["fresh"], told["cpu_s"] / told["fresh"]
        say(f"one sandbox took {each:.1f} s on average, {cpu:.1f} s of CPU")
    say(f"grades: {written}; feedback: {course.root / 'feedback'}/STUDENT/{options.assignment}")
    for student, problem in result.problems:
        say(f"look at {student or 'the course'}: {problem}")
    return 1 if result.problems else 0
