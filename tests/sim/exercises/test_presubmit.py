"""What a student is told before a notebook is handed in."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from book.course import sources
from book.course.sandbox import Limits
from sim.exercises import presubmit
from sim.exercises.identity import GRADER, HUB
from sim.exercises.presubmit import FINE, PROBLEMS, UNREADABLE, look

NAME = "tcp-5.17"


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GRADER, raising=False)
    monkeypatch.delenv(HUB, raising=False)


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A notebook as it is released, but for the solutions, which are left out here."""
    made = sources.notebook(NAME)
    for cell in made.cells:
        if sources.grade_id(cell).startswith("solve-"):
            cell.source = cell.source.split("### BEGIN SOLUTION")[0] + "# Write your code here."
        cell.source = cell.source.replace('student("your id")', 'student("ada")')
    path = tmp_path / f"{NAME}.ipynb"
    nbformat.write(made, path)
    return path


def changed(path: Path, change: Callable[[NotebookNode, dict[str, NotebookNode]], object]) -> Path:
    """The notebook with a change, in its place."""
    made = nbformat.read(path, 4)
    change(made, {cell.id: cell for cell in made.cells})
    nbformat.write(made, path)
    return path


def copied(made: NotebookNode, by: dict[str, NotebookNode]) -> None:
    twin = copy.deepcopy(by["gro-fill"])
    twin.id = "another"
    made.cells.append(twin)


def retyped(made: NotebookNode, by: dict[str, NotebookNode]) -> None:
    by["gro-fill"].metadata = NotebookNode()


def turned(made: NotebookNode, by: dict[str, NotebookNode]) -> None:
    made.cells[made.cells.index(by["solve-gro-fill"])] = nbformat.v4.new_raw_cell(
        "segments = 45", metadata=by["solve-gro-fill"].metadata, id="solve-gro-fill"
    )


def test_an_untouched_notebook_with_an_id_is_fine(released: Path) -> None:
    report = look(released, run=False)
    assert (report.problems, report.status) == ([], FINE)
    assert "'ada'" in report.notes[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda made, by: made.cells.remove(by["gro-fill"]), "cell gro-fill is missing"),
        (lambda made, by: made.cells.remove(by["set-up"]), "cell set-up is missing"),
        (copied, "cell gro-fill stands 2 times"),
        (retyped, "cell gro-fill was copied or typed again"),
        (turned, "solve-gro-fill was changed from code to raw"),
        (lambda made, by: by["gro-fill"].update(source="1 + 1"), "cell gro-fill was edited"),
        (lambda made, by: made.cells.append(made.cells.pop(made.cells.index(by["gro-fill"]))), "not in the order"),
        (lambda made, by: made.metadata.pop("receive_path"), "does not say which assignment"),
        (lambda made, by: made.metadata.kernelspec.update(language="julia", display_name="Julia"), "kernel is Julia"),
        (lambda made, by: made.cells[2].update(source="student('your id')"), "nobody's numbers"),
        (lambda made, by: by["set-up"].update(outputs=[nbformat.v4.new_output("stream", text="x" * 6_000_000)]),
         "the outputs have 6 MB"),
    ],
)
def test_what_would_cost_points_is_told(
    released: Path, change: Callable[[NotebookNode, dict[str, NotebookNode]], object], said: str
) -> None:
    report = look(changed(released, change), run=False)
    assert [line for line in report.problems if said in line], report.problems
    assert report.status == PROBLEMS


def test_anothers_id_is_a_problem_where_the_own_one_is_known(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "you are 'bob'" in look(released, "bob", run=False).problems[0]
    monkeypatch.setenv(HUB, "carol")
    assert "you are 'carol'" in look(released, run=False).problems[0]


def test_another_name_of_the_file_is_a_problem(released: Path) -> None:
    other = released.rename(released.with_name("final-version.ipynb"))
    assert "hand it in as tcp-5.17.ipynb" in look(other, run=False).problems[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"), (b"%PDF-1.7 \xff", "is it a PDF"), (b"[1]", "no notebook of format 4"),
        (b'{"nbformat": 3, "cells": []}', "no notebook of format 4"), (b"[" * 100_000, "is no notebook"),
    ],
)
def test_what_is_no_notebook_is_told_with_its_own_status(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / f"{NAME}.ipynb"
    path.write_bytes(content)
    report = look(path)
    assert said in report.problems[0]
    assert report.status == UNREADABLE
    assert look(tmp_path / "none.ipynb").status == UNREADABLE


def test_cells_of_any_shape_are_looked_at(released: Path) -> None:
    text = released.read_text(encoding="utf-8")
    released.write_text(text.replace('"cells": [', '"cells": [3, {}, {"cell_type": "code", "source": 5},', 1))
    assert isinstance(look(released, run=False).problems, list)


def test_running_tells_errors_refused_answers_and_what_is_not_answered(
    released: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(made: NotebookNode, by: dict[str, NotebookNode]) -> None:
        by["solve-gro-fill"].source = "segments = 4500"
        by["solve-fragment-cost"].source = "fragment_ns = 1 / 0"
        by["solve-ceilings"].source = "ceilings = None"
        made.cells = made.cells[: made.cells.index(by["ceilings"]) + 1]

    status = presubmit.main([str(changed(released, work)), "--student", "ada"])
    said = capsys.readouterr().out
    assert "cell gro-fill ends with NotAccepted: 4,500 cannot be" in said
    assert "cell solve-fragment-cost ends with ZeroDivisionError" in said
    assert "note: question ceilings is not answered" in said
    assert status == PROBLEMS


@pytest.mark.slow
def test_a_loop_and_a_dead_kernel_end_the_run_in_words(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presubmit, "CELL_S", 4)
    endless = changed(released, lambda made, by: by["solve-gro-fill"].update(source="while True: pass"))
    assert any("does a loop never end" in line for line in look(endless).problems)
    dead = changed(
        released, lambda made, by: by["solve-gro-fill"].update(source="import os; os.kill(os.getpid(), 9)")
    )
    assert any("the kernel died in cell solve-gro-fill" in line for line in look(dead).problems)


def test_it_is_no_more_patient_than_the_grader() -> None:
    assert Limits().cell_seconds >= presubmit.CELL_S
    assert presubmit.GRADED_S < presubmit.CELL_S
