"""A student who asks to be forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from book.build.report import Refusal
from book.course import new
from book.course.forget import forget
from book.course.grading.place import Course
from book.course.nbgrader_tool import environment

PLACES = (
    "submitted/{}/a/a.ipynb", "autograded/{}/a/a.ipynb", "feedback/{}/a/a.html", "grading/prepared/{}/a/a.ipynb",
    "grading/receipts/feedback/a/{}.json",
)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    new.make(tmp_path / "course")
    made = Course.at(tmp_path / "course")
    for student in ("ada", "adam"):
        for place in PLACES:
            path = made.root / place.format(student)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(student)
    (made.root / "grades").mkdir()
    (made.root / "grades/a.csv").write_text("student,score\r\nada,3\r\nadam,4\r\n", encoding="utf-8-sig")
    (made.store / "runs/00").mkdir(parents=True)
    (made.store / "runs/00/00.json.gz").write_bytes(b"ada said")
    return made


def test_nothing_in_the_course_directory_names_a_forgotten_student(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", environment()["PATH"])  # a new gradebook calls alembic by its name
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as book:
        for student in ("ada", "adam"):
            book.add_student(student, email=f"{student}@example.org")
    forget(course, "ada")
    for path in course.root.rglob("*"):
        assert "ada" not in path.relative_to(course.root).parts
        assert path.stem != "ada"
        if path.is_file() and path.name != "gradebook.db":
            assert b"ada" not in path.read_bytes().replace(b"adam", b"")
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}") as book:
        assert [student.id for student in book.students] == ["adam"]


def test_others_keep_what_they_have(course: Course) -> None:
    forget(course, "ada")
    assert all((course.root / place.format("adam")).read_text() == "adam" for place in PLACES)
    assert (course.root / "grades/a.csv").read_text(encoding="utf-8-sig") == "student,score\nadam,4\n"


def test_a_stranger_is_not_forgotten(course: Course) -> None:
    assert forget(course, "grace") == []
    assert (course.store / "runs/00/00.json.gz").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "../course", "a/b"])
def test_no_name_leads_out_of_the_course(course: Course, name: str) -> None:
    with pytest.raises(Refusal, match="no student's id"):
        forget(course, name)


def test_a_name_is_not_a_pattern(course: Course) -> None:
    forget(course, "a*")
    assert (course.root / "grading/receipts/feedback/a/ada.json").exists()
