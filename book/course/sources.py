"""The assignments' one source: text notebooks with nbgrader's metadata, solutions between marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import jupytext
import nbformat
from nbformat import NotebookNode

from sim.exercises import inventory

FOLDER: Final = Path(__file__).resolve().parent / "source"
KERNEL: Final = {"display_name": "Python 3", "language": "python", "name": "python3"}


def names() -> tuple[str, ...]:
    """Names of the assignments that have a source, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*/*.md") if path.stem == path.parent.name))


def notebook(name: str) -> NotebookNode:
    """An assignment as its author's notebook, solutions in it; the same cell ids each time.

    Raises
    ------
    KeyError
        for an unknown assignment, with the names there are.
    """
    if name not in names():
        raise KeyError(f"there is no assignment {name!r}; there are {', '.join(names())}")
    made = jupytext.read(FOLDER / name / f"{name}.md")
    made.metadata = NotebookNode({"kernelspec": NotebookNode(KERNEL), "language_info": NotebookNode(name="python")})
    for k, cell in enumerate(made.cells):
        cell["id"] = grade_id(cell) or f"text-{k}"
    made.metadata[inventory.KEY] = inventory.inventory(name, made.cells)
    nbformat.validate(made)
    return made


def write(name: str, folder: Path) -> Path:
    """Write an assignment's notebook below a course's ``source`` folder."""
    target = folder / name / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook(name), target)
    return target


def grade_id(cell: NotebookNode) -> str:
    """A cell's name in nbgrader; empty for a cell that nbgrader does not know."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def marks(cell: NotebookNode) -> dict[str, Any]:
    """What nbgrader knows of a cell."""
    return dict(cell.metadata.get("nbgrader", {}))


def points(made: NotebookNode) -> dict[str, float]:
    """Points of the cells that are graded by a check, by name."""
    return {
        grade_id(c): float(marks(c)["points"])
        for c in made.cells if c.cell_type == "code" and marks(c).get("grade")
    }


def points_by_hand(made: NotebookNode) -> dict[str, float]:
    """Points of what a person grades, by name."""
    return {
        grade_id(c): float(marks(c)["points"])
        for c in made.cells
        if marks(c).get("task") or (c.cell_type == "markdown" and marks(c).get("grade"))
    }
