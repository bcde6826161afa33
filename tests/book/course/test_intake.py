"""From what was handed in to a notebook that can be graded, without running anything."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book.course import sources
from book.course.grading import feedback, intake, restore


def marked(name: str, source: str, **marks: object) -> NotebookNode:
    """A cell of an assignment."""
    usual = {"grade": False, "locked": True, "solution": False, "task": False, "schema_version": 3, "grade_id": name}
    if marks.get("grade"):
        usual["points"] = 2
    return new_code_cell(source, metadata={"nbgrader": {**usual, **marks}})


@pytest.fixture
def released() -> NotebookNode:
    """An assignment of two questions."""
    return new_notebook(cells=[
        new_markdown_cell("# Title"), marked("set-up", "import sim"),
        marked("solve-a", "a = None", solution=True, locked=False), marked("a", "hand_in('a', a)", grade=True),
        marked("solve-b", "b = None", solution=True, locked=False), marked("b", "hand_in('b', b)", grade=True),
    ])


def handed_in(notebook: object, folder: Path) -> intake.HandIn:
    """As if it had been collected."""
    (folder / "toy.ipynb").write_text(json.dumps(notebook))
    return intake.take(folder, "toy")


def names(notebook: NotebookNode) -> list[str]:
    """Cells of the assignment, in order."""
    return [sources.grade_id(cell) for cell in notebook.cells if sources.grade_id(cell)]


def test_an_unchanged_notebook_stays_and_nothing_is_said(released: NotebookNode, tmp_path: Path) -> None:
    made = restore.restore(released, handed_in(released, tmp_path))
    assert [cell.source for cell in made.cells] == [cell.source for cell in released.cells]
    assert made.metadata[restore.KEPT].notes == []


@pytest.mark.parametrize("gone", ["set-up", "a", "b"])
def test_a_locked_cell_that_was_deleted_comes_back_in_its_place(
    released: NotebookNode, tmp_path: Path, gone: str
) -> None:
    mine = copy.deepcopy(released)
    mine.cells = [cell for cell in mine.cells if sources.grade_id(cell) != gone]
    made = restore.restore(released, handed_in(mine, tmp_path))
    assert names(made) == names(released)


def test_a_graded_cell_comes_back_after_all_cells_that_may_hold_its_answer(
    released: NotebookNode, tmp_path: Path
) -> None:
    mine = copy.deepcopy(released)
    mine.cells[2:4] = [new_code_cell("a = 5  # my own cell")]
    made = restore.restore(released, handed_in(mine, tmp_path))
    order = [cell.source for cell in made.cells]
    assert order.index("a = 5  # my own cell") < order.index("hand_in('a', a)") < order.index("b = None")
    assert "The cell solve-a is missing." in made.metadata[restore.KEPT].notes


def test_points_and_marks_are_those_of_the_course(released: NotebookNode, tmp_path: Path) -> None:
    mine = copy.deepcopy(released)
    for cell in mine.cells[1:]:
        cell.metadata.nbgrader.update(points=500, locked=False, solution=True)
    made = restore.restore(released, handed_in(mine, tmp_path))
    assert [sources.marks(cell) for cell in made.cells] == [sources.marks(cell) for cell in released.cells]


def test_a_cell_that_claims_another_assignment_is_an_own_cell(released: NotebookNode, tmp_path: Path) -> None:
    mine = copy.deepcopy(released)
    mine.cells.append(marked("elsewhere", "25", grade=True, points=500))
    made = restore.restore(released, handed_in(mine, tmp_path))
    assert made.cells[-1].source == "25"
    assert sources.marks(made.cells[-1]) == {}


def test_a_students_markdown_has_no_tag_and_no_script_left() -> None:
    text = feedback.harmless("a < b <script>x</script> [me](JavaScript:x) &#106;avascript: <!-- --> `if a<b`")
    assert "<s" not in text
    assert "</" not in text
    assert "<!" not in text
    assert "javascript:" not in text.lower()
    assert "&#" not in text
    assert "a < b" in text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "worksheets", "kernelspec",
                         "attachments", "language"]), inner, max_size=4),
    max_leaves=25,
)


@settings(max_examples=150)
@given(cells=st.lists(JSON, max_size=5), rest=st.dictionaries(st.sampled_from(["metadata", "nbformat"]), JSON))
def test_whatever_json_was_handed_in_becomes_a_valid_notebook_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, cells: list[object], rest: dict[str, object]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    model = new_notebook(cells=[marked("a", "hand_in('a', a)", grade=True)])
    try:
        made = restore.restore(model, handed_in({"cells": cells, **rest}, folder))
    except intake.Unreadable as why:
        made = restore.unreadable(model, str(why))
    nbformat.validate(made)
    assert names(made) == ["a"]
