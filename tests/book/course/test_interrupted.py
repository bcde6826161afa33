"""Grading that is interrupted, by a hand or by a power cut, and run again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from book.course import simulate
from book.course.grading.place import Course
from book.course.sandbox.jail import ROOT

from . import classroom
from .classroom import ASSIGNMENT, needs_sandbox

pytestmark = [needs_sandbox, pytest.mark.slow]
STUDENTS = {"ada": "perfect", "blaise": "half", "carl": "wrong", "emmy": "killed"}


def begin(course: Course) -> subprocess.Popen[str]:
    """Start grading as a teacher does, in a group of its own, as a terminal would.

    Tests that a shell runs in the background inherit a Ctrl-C that does nothing; a terminal's program does not.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "book.course", "grade", str(course.root), ASSIGNMENT], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(process: subprocess.Popen[str], there: Callable[[], bool]) -> None:
    """Until something is there; fails if the process ends before."""
    end = time.monotonic() + 120
    while not there():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, "nothing came of it within two minutes"
        time.sleep(0.02)


def kept(course: Course, *kind: str) -> int:
    """How many results are kept."""
    return len(list((course.root / "grading").joinpath(*kind).rglob("*.json*")))


def test_a_grading_that_was_interrupted_and_killed_ends_as_one_that_was_left_alone(tmp_path: Path) -> None:
    course = classroom.course(tmp_path / "course")
    for student, kind in STUDENTS.items():
        simulate.hand_in(course, ASSIGNMENT, student, kind)
    calm = Course(tmp_path / "calm")
    shutil.copytree(course.root, calm.root)
    written = calm.root / "nbgrader_config.py"
    written.write_text(written.read_text().replace(str(course.root), str(calm.root)))

    first = begin(course)  # Ctrl-C while students' code runs
    wait_for(first, lambda: kept(course, "store", "runs") >= 1)
    os.killpg(first.pid, signal.SIGINT)
    said, _ = first.communicate(timeout=60)
    assert first.returncode != 0
    assert "the same command goes on from there" in said
    runs = kept(course, "store", "runs")
    assert 1 <= runs < len(STUDENTS)

    second = begin(course)  # as if the power went while nbgrader writes grades
    wait_for(second, lambda: kept(course, "receipts", "autograded") >= 1)
    second.kill()
    second.communicate()
    assert kept(course, "receipts", "feedback") == 0
    time.sleep(1)  # what it had started dies with it, a moment later

    third = begin(course)
    said, _ = third.communicate(timeout=300)
    assert third.returncode == 0, said
    assert "4 hand-ins, 0 run now" in said

    undisturbed = begin(calm)
    said, _ = undisturbed.communicate(timeout=300)
    assert undisturbed.returncode == 0, said
    assert classroom.scores(course) == classroom.scores(calm)
    assert (course.root / "grades" / f"{ASSIGNMENT}.csv").read_bytes() == (
        calm.root / "grades" / f"{ASSIGNMENT}.csv"
    ).read_bytes()
    for student in STUDENTS:
        assert classroom.feedback(course, student) == classroom.feedback(calm, student)
