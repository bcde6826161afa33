"""In the place of nbgrader's execution: puts the outputs of the sandbox's run and the verdicts into the notebook."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, Final

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from .. import sources
from ..sandbox import CellRun, Limits
from . import receipts
from .feedback import harmless
from .outcome import Outcome, Verdict, outcome
from .place import Course

WIDTH: Final = 90


class TakeOutcome(NbGraderPreprocessor):
    """Nothing of a student runs in nbgrader's process; what ran elsewhere is fetched, or made now if need be."""

    root = Unicode("", help="the course directory").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Fill a notebook in."""
        place = resources["nbgrader"]
        course = Course(Path(self.root))
        order = receipts.read(course, "ordered", place["assignment"], place["student"]) or {}
        limits = Limits.from_json(order.get("limits", {}))  # those that it ran with, if it ran
        found = outcome(course, place["assignment"], place["student"], nb, limits)
        fill(nb, found)
        return nb, resources


def fill(nb: NotebookNode, found: Outcome) -> None:
    """Put outputs, verdicts and notes into a notebook."""
    cells = {cell.index: cell for cell in found.run.cells}
    for place, cell in enumerate(nb.cells):
        if cell.cell_type != "code":
            if not sources.marks(cell).get("locked"):
                cell.source = harmless(cell.source)
            continue
        went = cells.get(place, CellRun(place))
        name = sources.grade_id(cell)
        if sources.marks(cell).get("grade") and not sources.marks(cell).get("solution"):
            verdict = found.verdicts.get(name) or Verdict(0, 0, "This cell is not known to the course.")
            cell.outputs = _verdict(went, verdict)
        else:
            cell.outputs = [nbformat.from_dict(output) for output in went.outputs]
            if went.note:
                cell.outputs.append(_note(went.note))
    if found.notes:
        text = "**About this hand-in**\n\n" + "\n".join(f"- {note}" for note in found.notes)
        nb.cells.insert(0, new_markdown_cell(text, id="about-this-hand-in"))


def _verdict(went: CellRun, verdict: Verdict) -> list[NotebookNode]:
    """Outputs of a graded cell: what it handed in, the verdict in words, and the points as nbgrader reads them."""
    shown = [
        new_output("display_data", {"text/plain": output["data"]["text/plain"]})
        for output in went.outputs
        if went.answers and output["output_type"] == "display_data" and "text/plain" in output["data"]
    ]
    text = _folded(f"{verdict.points:g} of {verdict.of:g} points. {verdict.text}") + "\n"
    # the one execute_result of the notebook's graded cells is ours: a run's outputs are never of that kind
    return [
        *shown[-1:], new_output("stream", name="stdout", text=text),
        new_output("execute_result", {"text/plain": f"{verdict.points:g}"}, execution_count=None),
    ]


def _note(text: str) -> NotebookNode:
    return new_output("error", ename="Note", evalue=text, traceback=[_folded(text)])


def _folded(text: str) -> str:
    """Text in lines that need no scrolling."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
