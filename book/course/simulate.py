"""``python -m book.course simulate DIR ASSIGNMENT``: hand-ins of a class that does not exist, to try a course with.

The class is the same each time: most solve all or some of it, a few have accidents of the kinds that every real class
has. Nothing of it is in the gradebook before it is graded.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Final

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from ..build.report import Refusal, say
from . import sources
from .grading.place import Course

Change = Callable[[NotebookNode], None]


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course directory")
    parser.add_argument("assignment", metavar="ASSIGNMENT")
    parser.add_argument("--students", type=int, default=40, metavar="N", help="default: %(default)s")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the hand-ins."""
    course = Course.at(options.folder)
    if course.students(options.assignment) and not (course.submitted / name(0)).exists():
        raise Refusal(f"{course.submitted} has hand-ins of real students: simulate in a course of its own")
    for number in range(options.students):
        kind = CLASS[number % len(CLASS)]
        hand_in(course, options.assignment, name(number), kind)
    say(f"{options.students} hand-ins in {course.submitted}")
    return 0


def name(number: int) -> str:
    """A simulated student's id."""
    return f"simulated-{number:03d}"


def solved(released: NotebookNode, assignment: str, every: int = 1) -> NotebookNode:
    """The student version with the author's solutions in every first, second, ... of its solution cells."""
    solutions = {sources.grade_id(cell): cell.source for cell in sources.notebook(assignment).cells}
    made = copy.deepcopy(released)
    cells = [cell for cell in made.cells if sources.marks(cell).get("solution") and cell.cell_type == "code"]
    for cell in cells[::every]:
        cell.source = solutions[sources.grade_id(cell)]
    return made


def hand_in(course: Course, assignment: str, student: str, kind: str) -> Path:
    """Write one hand-in of a kind of `KINDS`; returns its notebook."""
    every, change = KINDS[kind]
    made = copy.deepcopy(course.released(assignment)) if not every else solved(
        course.released(assignment), assignment, every
    )
    for cell in made.cells:
        cell.source = cell.source.replace("your id", student)
    change(made)
    folder = course.submitted / student / assignment
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{assignment}.ipynb"
    target.write_text(nbformat.writes(made), encoding="utf-8")
    (folder / "timestamp.txt").write_text("2026-01-15 12:00:00 UTC")
    if kind == "renamed":
        return target.rename(folder / f"{assignment} (1).ipynb")
    if kind == "not a notebook":
        target.write_bytes(b"%PDF-1.4 nothing that is a notebook")
    return target


def solutions(made: NotebookNode) -> list[NotebookNode]:
    """Cells for code answers."""
    return [cell for cell in made.cells if sources.marks(cell).get("solution") and cell.cell_type == "code"]


def _as_it_is(made: NotebookNode) -> None:
    pass


def _wrong(made: NotebookNode) -> None:
    """Answers that have the right form as often as not, and are wrong."""
    for cell in solutions(made):
        cell.source = cell.source.split("=")[0].strip() + " = 1\n"


def _syntax(made: NotebookNode) -> None:
    solutions(made)[0].source += "\nif True print("


def _killed(made: NotebookNode) -> None:
    solutions(made)[-1].source = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"


def _loops(made: NotebookNode) -> None:
    solutions(made)[-1].source = "while True:\n    pass"


def _deleted(made: NotebookNode) -> None:
    graded = [cell for cell in made.cells if sources.marks(cell).get("grade") and cell.cell_type == "code"]
    made.cells.remove(graded[0])


def _copied(made: NotebookNode) -> None:
    cell = copy.deepcopy(solutions(made)[0])
    cell["id"] = "copied"
    made.cells.insert(made.cells.index(solutions(made)[0]), cell)


def _talks(made: NotebookNode) -> None:
    made.cells.insert(1, new_code_cell("for k in range(20_000):\n    print('still here', k)", id="talks"))


#: By name: every how manyth solution is filled in (0: none), and what is then done to the notebook.
KINDS: Final[dict[str, tuple[int, Change]]] = {
    "perfect": (1, _as_it_is), "half": (2, _as_it_is), "third": (3, _as_it_is), "blank": (0, _as_it_is),
    "wrong": (1, _wrong), "syntax": (1, _syntax), "killed": (1, _killed), "loops": (1, _loops),
    "deleted": (1, _deleted), "copied": (1, _copied), "talks": (1, _talks), "renamed": (1, _as_it_is),
    "not a notebook": (0, _as_it_is),
}
#: Twenty students; a larger class has them again.
CLASS: Final = (
    "perfect", "half", "perfect", "third", "perfect", "wrong", "half", "perfect", "deleted", "perfect",
    "half", "perfect", "blank", "perfect", "killed", "half", "copied", "renamed", "loops", "not a notebook",
)
