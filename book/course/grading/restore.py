"""Makes of what was handed in a notebook that can be graded: what was locked is as it was released, ids are unique.

The student's own cells keep their text and their order. What had to be put right is said to the student.
"""

from __future__ import annotations

import copy
from typing import Any, Final

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .. import sources
from .intake import Cell, HandIn, shown

#: Cells beyond those of the assignment that are kept; their feedback would be a page that nobody can open.
MOST_OWN_CELLS: Final = 300
MAKE: Final = {
    "code": new_code_cell, "markdown": new_markdown_cell,
    # a raw cell is meant for a page as it is, which a stranger's is not
    "raw": lambda source: new_markdown_cell("~~~~\n" + source.replace("~~~", "~ ~ ~") + "\n~~~~"),
}
#: Where a prepared notebook keeps what is to be said about it.
KEPT: Final = "receive_path"


def restore(released: NotebookNode, hand_in: HandIn) -> NotebookNode:
    """A notebook to be graded."""
    notes = list(hand_in.notes)
    if hand_in.language.lower() not in ("python", "python3", "ipython"):
        notes.append(f"The notebook asks for a kernel of {shown(hand_in.language)}; it was run with Python 3.")
    known = {sources.grade_id(cell): cell for cell in released.cells if sources.grade_id(cell)}
    cells = _thinned(hand_in.cells, set(known), notes)
    last = {cell.grade_id: place for place, cell in enumerate(cells) if cell.grade_id in known}
    built: list[NotebookNode] = []
    twice: set[str] = set()
    for place, cell in enumerate(cells):
        if cell.grade_id in known and last[cell.grade_id] == place:
            built.append(_restored(known[cell.grade_id], cell, notes))
            continue
        if cell.grade_id in known:
            twice.add(cell.grade_id)
        made = MAKE[cell.kind](cell.source)
        if cell.kind == "markdown" and cell.attachments:
            made.attachments = NotebookNode(cell.attachments)
        built.append(made)
    notes += [f"The cell {name} is there more than once; all ran, the last one counts." for name in sorted(twice)]
    _add_missing(built, known, notes)
    return _finished(built, notes)


def unreadable(released: NotebookNode, why: str) -> NotebookNode:
    """What is graded in place of something that cannot be read: the assignment as released, with the reason."""
    notebook = _finished([copy.deepcopy(cell) for cell in released.cells], [])
    notebook.metadata[KEPT] = NotebookNode(notes=[why], unreadable=why)
    return notebook


def _thinned(cells: list[Cell], known: set[str], notes: list[str]) -> list[Cell]:
    own = [place for place, cell in enumerate(cells) if cell.grade_id not in known]
    # copies of the assignment's cells are the student's own but for the last of each
    latest = {cell.grade_id: place for place, cell in enumerate(cells)}
    own += [place for place, cell in enumerate(cells) if cell.grade_id in known and latest[cell.grade_id] != place]
    dropped = set(sorted(own)[MOST_OWN_CELLS:])
    if dropped:
        notes.append(
            f"The notebook has {len(cells):,} cells. Of those that are not the assignment's, the first "
            f"{MOST_OWN_CELLS} were run."
        )
    return [cell for place, cell in enumerate(cells) if place not in dropped]


def _restored(model: NotebookNode, cell: Cell, notes: list[str]) -> NotebookNode:
    """A cell of the assignment with the student's text, where the student may write."""
    marks = sources.marks(model)
    name = sources.grade_id(model)
    if cell.kind != model.cell_type:
        notes.append(f"The cell {name} had been made a {cell.kind} cell; it was made {model.cell_type} again.")
    made = MAKE[model.cell_type](model.source if marks.get("locked") and not marks.get("solution") else cell.source)
    made.metadata = copy.deepcopy(model.metadata)
    if made.source == model.source and cell.source.strip() != model.source.strip():
        notes.append(f"The cell {name} is locked and had been changed; it was put back as the course gave it out.")
    if model.cell_type == "markdown" and cell.attachments and not marks.get("locked"):
        made.attachments = NotebookNode(cell.attachments)
    return made


def _add_missing(built: list[NotebookNode], known: dict[str, NotebookNode], notes: list[str]) -> None:
    """Put back cells that were deleted, each after the one before it in the assignment.

    A cell for a code answer is not put back: the student may have answered in a cell of another origin, and an empty
    answer after it would undo that.
    """
    names = list(known)
    for order, name in enumerate(names):
        there = [sources.grade_id(cell) for cell in built]
        if name in there:
            continue
        marks = sources.marks(known[name])
        if marks.get("solution") and known[name].cell_type == "code":
            notes.append(f"The cell {name} is missing.")
            continue
        notes.append(f"The cell {name} was missing; it was put back as the course gave it out.")
        before = next((there.index(each) for each in reversed(names[:order]) if each in there), -1)
        if marks.get("grade") and not marks.get("solution"):
            # its answer may stand in any cell up to the next one of the assignment
            before = next((there.index(each) for each in names[order + 1 :] if each in there), len(built)) - 1
        built.insert(before + 1, copy.deepcopy(known[name]))


def _finished(cells: list[NotebookNode], notes: list[str]) -> NotebookNode:
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    made: Any = new_notebook(cells=cells)
    made.metadata.kernelspec = NotebookNode(sources.KERNEL)
    made.metadata.language_info = NotebookNode(name="python")
    made.metadata[KEPT] = NotebookNode(notes=notes)
    nbformat.validate(made)
    return made
