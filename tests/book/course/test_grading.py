"""A small class through the whole of it, with nbgrader's real commands."""

from __future__ import annotations

import csv
import fcntl
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from book.build.report import Refusal
from book.course import simulate, sources
from book.course.grading import batch, lms, receipts
from book.course.grading.place import Course
from book.course.nbgrader_tool import nbgrader
from book.course.sandbox import Limits

from . import classroom
from .classroom import ASSIGNMENT, needs_sandbox

SMALL = {"ada": "perfect", "blaise": "blank", "carl": "wrong", "Đorđe": "killed", "emmy": "not a notebook"}
LIMITS = Limits(cell_seconds=8)
pytestmark = needs_sandbox


@pytest.fixture
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """Graded once for all workers of the test run, and used by one test at a time."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    with (shared / "small.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "small.done").exists():
            shutil.rmtree(shared / "small", ignore_errors=True)
            course = classroom.course(shared / "small")
            for student, kind in SMALL.items():
                simulate.hand_in(course, ASSIGNMENT, student, kind)
            result = batch.grade(course, ASSIGNMENT, jobs=2, limits=LIMITS)
            assert result.problems == []
            assert sorted(result.fresh) == sorted(SMALL.keys() - {"emmy"})
            (shared / "small.done").touch()
        yield Course.at(shared / "small")


@pytest.mark.slow
def test_every_student_gets_the_points_that_the_hand_in_is_worth(graded: Course) -> None:
    made = sources.notebook(ASSIGNMENT)
    each = sources.points(made)
    last = [sources.grade_id(cell) for cell in simulate.solutions(made)][-1].removeprefix("solve-")
    assert classroom.points(graded) == {
        "ada": sum(each.values()), "blaise": 0, "carl": 0, "Đorđe": sum(each.values()) - each[last], "emmy": 0,
    }


@pytest.mark.slow
@pytest.mark.parametrize(("student", "words"), [
    ("ada", "points. Right."), ("blaise", "Not answered. Hint:"), ("carl", "Hint:"),
    ("Đorđe", "The kernel was killed here (signal SIGKILL); the usual reason is memory"),
    ("emmy", "The file is not a notebook: it cannot be read as one."),
])
def test_everybody_gets_feedback_that_says_what_was_wrong(graded: Course, student: str, words: str) -> None:
    assert words in classroom.feedback(graded, student)


@pytest.mark.slow
def test_an_essay_waits_for_a_person_and_a_check_waits_for_nobody(graded: Course) -> None:
    by_hand = sources.points_by_hand(sources.notebook(ASSIGNMENT))
    for student, grades in classroom.scores(graded).items():
        waiting = {cell for cell, (_, _, needs) in grades.items() if needs}
        assert waiting == set(by_hand), student


@pytest.mark.slow
def test_grading_again_changes_nothing_and_runs_nothing(graded: Course) -> None:
    before = classroom.scores(graded)
    made = [path for stage in receipts.STAGES for path in (graded.root / stage).rglob("*.*")]
    times = {path: path.stat().st_mtime_ns for path in made}
    result = batch.grade(graded, ASSIGNMENT, limits=LIMITS)
    assert result.fresh == []
    assert len(times) >= 2 * len(SMALL)
    assert classroom.scores(graded) == before
    assert {path: path.stat().st_mtime_ns for path in times} == times


@pytest.mark.slow
def test_a_copy_that_was_torn_is_written_again_and_a_grade_by_hand_stays(graded: Course) -> None:
    essay = next(iter(sources.points_by_hand(sources.notebook(ASSIGNMENT))))
    with Gradebook(f"sqlite:///{graded.root / 'gradebook.db'}") as book:
        book.find_grade(essay, ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 3
        book.db.commit()
    before = classroom.scores(graded)
    (graded.root / "feedback" / "ada" / ASSIGNMENT / f"{ASSIGNMENT}.html").unlink()
    receipts.clear(graded, "autograded", ASSIGNMENT, "ada")
    result = batch.grade(graded, ASSIGNMENT, students=["ada"], limits=LIMITS)
    assert result.problems == []
    assert result.fresh == []
    assert classroom.scores(graded)["ada"] == {**before["ada"], essay: (*before["ada"][essay][:2], True)}
    assert "Right." in classroom.feedback(graded, "ada")


@pytest.mark.slow
def test_what_the_grader_cannot_run_is_told_and_nobody_gets_a_zero_for_it(
    graded: Course,
) -> None:
    before = classroom.scores(graded)
    simulate.hand_in(graded, ASSIGNMENT, "zoe", "perfect")
    try:
        # a limit that no kernel starts with stands for a computer on which none does
        result = batch.grade(graded, ASSIGNMENT, students=["zoe"], limits=Limits(memory_mb=20))
        assert [student for student, _ in result.problems] == ["zoe"]
        assert "not graded: the sandbox did not start" in result.problems[0][1]
        assert classroom.scores(graded) == before
        assert not (graded.root / "feedback" / "zoe").exists()
    finally:
        shutil.rmtree(graded.submitted / "zoe")


@pytest.mark.slow
def test_nbgraders_own_command_takes_the_same_runs(graded: Course) -> None:
    before = classroom.points(graded)
    nbgrader(graded.root, "autograde", ASSIGNMENT, "--student=ada", "--force",
             "--CourseDirectory.submitted_directory=grading/prepared")
    assert classroom.points(graded) == before


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted(lms.FORMS))
def test_a_table_for_an_lms_has_a_row_for_everybody_and_only_known_columns(graded: Course, form: str) -> None:
    rows = list(csv.DictReader(io.StringIO(lms.table(graded, ASSIGNMENT, form))))
    column = next(heading for heading, what in lms.FORMS[form] if what == "student")
    assert [row[column] for row in rows] == sorted(SMALL)
    score = next(heading.format(assignment=ASSIGNMENT) for heading, what in lms.FORMS[form] if what == "score")
    book = classroom.points(graded)
    by_hand = {s: sum(m or 0 for _, m, _ in g.values()) for s, g in classroom.scores(graded).items()}
    assert {row[column]: float(row[score]) for row in rows} == {s: book[s] + by_hand[s] for s in SMALL}


def test_a_spreadsheet_runs_nothing_of_a_students_name() -> None:
    assert [lms._safe(text) for text in ("=1+1", "@x", "-2", "ada")] == ["'=1+1", "'@x", "'-2", "ada"]


@pytest.mark.slow
def test_two_gradings_at_once_are_refused(graded: Course) -> None:
    with batch._alone(graded), pytest.raises(Refusal, match="another grading is at work"):
        batch.grade(graded, ASSIGNMENT, limits=LIMITS)


@pytest.mark.slow
@pytest.mark.parametrize(("assignment", "words"), [("tcp-5.18", "has not been released; released: tcp-5.17")])
def test_an_unknown_assignment_is_refused_with_those_there_are(graded: Course, assignment: str, words: str) -> None:
    with pytest.raises(Refusal, match=words):
        batch.grade(graded, assignment, limits=LIMITS)


def test_a_folder_that_is_no_course_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="is no course"):
        Course.at(tmp_path)


@pytest.mark.parametrize("name", [".hidden", "a,b", "*", "line\nbreak", "x" * 200])
def test_a_folder_that_no_student_can_have_is_told_and_left_out(tmp_path: Path, name: str) -> None:
    course = Course(tmp_path)
    (course.submitted / name / "toy").mkdir(parents=True)
    (course.submitted / "ada" / "toy").mkdir(parents=True)
    (course.submitted / "linked").symlink_to(course.submitted / "ada")
    assert course.students("toy") == ["ada"]
    assert course.strangers("toy") == [name, "linked"]
