"""Hand-ins by accident and by design: each gets a copy, a score and feedback, and the class goes on."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import shutil
from pathlib import Path

import pytest

from book.course.grading import batch, store
from book.course.grading.outcome import compiled
from book.course.grading.place import Course
from book.course.sandbox import Limits

from . import classroom, hostile
from .classroom import needs_sandbox

LIMITS = Limits(cell_seconds=5, total_seconds=90, grace_seconds=2)
NAMES = sorted(hostile.cases(Path("/nowhere")))
pytestmark = [pytest.mark.slow, needs_sandbox]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, batch.Graded]:
    """The whole class, graded once for all workers of the test run."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    root, kept = shared / "hostile", shared / "hostile.result"
    with (shared / "hostile.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            shutil.rmtree(root, ignore_errors=True)
            course = classroom.course(root)
            for name, case in hostile.cases(root).items():
                hostile.write(case, course.released(hostile.ASSIGNMENT), course.submitted / name / hostile.ASSIGNMENT)
            before = store.tree(compiled())
            result = batch.grade(course, hostile.ASSIGNMENT, jobs=2, limits=LIMITS)
            assert store.tree(compiled()) == before, "somebody wrote into the compiled engine"
            kept.write_bytes(pickle.dumps(result))
        return Course.at(root), pickle.loads(kept.read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_a_hand_in_gets_its_score_its_copy_and_feedback_that_says_what_happened(
    graded: tuple[Course, batch.Graded], name: str
) -> None:
    course, result = graded
    case = hostile.cases(course.root)[name]
    by_question = {
        question: auto for question, (auto, _, _) in classroom.scores(course)[name].items() if auto is not None
    }
    full = {each.metadata.nbgrader.grade_id: each.metadata.nbgrader.points
            for each in course.released(hostile.ASSIGNMENT).cells
            if each.cell_type == "code" and each.metadata.get("nbgrader", {}).get("grade")}
    lost = set(full) if case.lost == "all" else set(filter(None, [case.lost]))
    assert {q: by_question[q] for q in full} == {q: 0 if q in lost else of for q, of in full.items()}
    assert result.points[name] == sum(by_question[q] for q in full)
    text = classroom.feedback(course, name)
    for words in case.says:
        assert any(each in text for each in words.split("|")), words
    assert "STOLEN" not in classroom.printed(course, name)
    assert len(classroom.graded(course, name).cells) >= len(full)


def test_nobody_is_left_out_and_no_fault_of_the_grader_is_reported(graded: tuple[Course, batch.Graded]) -> None:
    course, result = graded
    assert sorted(result.points) == NAMES
    assert sorted(classroom.points(course)) == NAMES
    assert result.problems == []


def test_nothing_of_a_sandbox_lives_on_after_it(graded: tuple[Course, batch.Graded]) -> None:
    running = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it may end while we look
            running.append(each.read_bytes().split(b"\0"))
    assert [b"python" in words[0] for words in running].count(True) >= 1, "nothing was looked at"
    assert not [words for words in running if hostile.OUTLIVES.encode() in words]


def test_no_script_of_a_student_gets_into_feedback_or_into_the_graded_copy(
    graded: tuple[Course, batch.Graded],
) -> None:
    course, _ = graded
    page = (course.root / "feedback" / "scripts" / hostile.ASSIGNMENT / f"{hostile.ASSIGNMENT}.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert "javascript:" not in page.split("<body", 1)[1].lower()
    for cell in classroom.graded(course, "scripts").cells:
        for output in cell.get("outputs", []):
            assert set(output.get("data", {})) <= {"text/plain", "text/markdown", "image/png", "image/jpeg"}


def test_feedback_names_no_other_host(graded: tuple[Course, batch.Graded]) -> None:
    course, _ = graded
    page = (course.root / "feedback" / "perfect" / hostile.ASSIGNMENT / f"{hostile.ASSIGNMENT}.html").read_text()
    loaded = [part.split('"')[0] for mark in ('src="', "@import url(", '<link href="') for part in page.split(mark)[1:]]
    assert not [each for each in loaded if each.startswith(("http:", "https:", "//"))]


def test_feedback_holds_neither_an_answer_nor_a_check(graded: tuple[Course, batch.Graded]) -> None:
    course, _ = graded
    right = next(
        output["data"]["text/plain"]
        for cell in classroom.graded(course, "perfect").cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "gro-fill"
        for output in cell.outputs if output.output_type == "display_data"
    )
    assert right.startswith("handed in: gro-fill = ")
    text = classroom.feedback(course, "wrong")
    assert "near(" not in text
    assert "book.course.checks" not in text
    assert "MARK SCHEME" not in text
