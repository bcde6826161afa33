"""Has nbgrader write grades, copies and feedback down, and sees to it that each of them is whole."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Final

from ...build.report import Refusal
from ..nbgrader_tool import environment
from . import receipts
from .place import Course

COMMANDS: Final = {"autograded": "autograde", "feedback": "generate_feedback"}
STAGES: Final = {"autograded": "writing grades", "feedback": "writing feedback"}
PDEATHSIG: Final = 1


def die_with_parent() -> None:
    """Have this process ended when its parent ends, however that comes about."""
    ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)


def write(
    course: Course, assignment: str, students: Sequence[tuple[str, str]], problems: list[tuple[str, str]],
    progress: Callable[[str, int, int], None],
) -> None:
    """Bring gradebook, copies and feedback to the present results; what is there and whole stays.

    Parameters
    ----------
    students
        Names of folders, each with the key of the present result.
    problems
        Takes what nbgrader could not do.
    """
    changed: set[str] = set()
    for stage, command in COMMANDS.items():
        todo = []
        for student, key in students:
            if student in changed or not receipts.done(course, stage, assignment, student, key):
                receipts.clear(course, stage, assignment, student)
                todo.append((student, key))
        if not todo:
            continue
        said = _nbgrader(course, command, assignment, STAGES[stage], len(todo), progress)
        changed |= {student for student, _ in todo}
        left = [student for student, key in todo if not receipts.done(course, stage, assignment, student, key)]
        log = course.root / "grading" / f"{command}.log"
        if left:
            log.write_text(said, encoding="utf-8")
        problems += [(student, f"nbgrader {command} failed: see {log}") for student in left]


def _nbgrader(
    course: Course, command: str, assignment: str, stage: str, many: int, progress: Callable[[str, int, int], None]
) -> str:
    """Run one nbgrader command over all students that lack its result."""
    words = [sys.executable, "-m", "nbgrader", command, assignment]
    if command == "autograde":
        words += [f"--CourseDirectory.submitted_directory={course.prepared.relative_to(course.root)}"]
    done, lines = 0, []
    progress(stage, 0, many)
    with subprocess.Popen(
        words, cwd=course.root, env=environment(), text=True, errors="replace", stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, preexec_fn=die_with_parent,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if "Setting destination file permissions" in line:
                done += 1
                progress(stage, min(done, many), many)
        if process.wait() and not done:
            end = "".join(lines[-8:]).strip()
            raise Refusal(f"nbgrader {command} failed in {course.root}:\n{end}")
    return "".join(lines)
