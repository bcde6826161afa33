"""A notebook of the course's own run top to bottom, where students' are run: in the sandbox, if there is one here."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from nbclient import NotebookClient
from nbformat import NotebookNode

from sim.exercises.handing_in import MIME
from sim.exercises.identity import GRADER

from . import sources
from .checks import Judgement, judge
from .grading.outcome import compiled
from .nbgrader_tool import environment
from .sandbox import Code, run_cells
from .sandbox.jail import problem

CELL_S: Final = 120


@dataclass(frozen=True)
class Rehearsal:
    """What a run gave: judgements by question, seconds by cell, and what cells raised, by cell."""

    judged: Mapping[str, Judgement]
    seconds: Mapping[str, float]
    errors: Mapping[str, str]

    @property
    def points(self) -> float:
        """Points of all checks."""
        return sum(one.points for one in self.judged.values())

    @property
    def of(self) -> float:
        """Points that could be had."""
        return sum(one.of for one in self.judged.values())


@dataclass(frozen=True)
class _Ran:
    """One cell that has run: its outputs, the answers among them, and how long it took."""

    outputs: Sequence[Mapping[str, Any]]
    answers: Sequence[Any]
    seconds: float
    note: str = ""


def rehearse(assignment: str, notebook: NotebookNode, who: str) -> Rehearsal:
    """Run a notebook as a student's, and judge what it hands in."""
    ran = _trusted(notebook, who) if problem() else _apart(notebook, who)
    judged, seconds, errors = {}, {}, {}
    for k, one in ran.items():
        cell = notebook.cells[k]
        name = sources.grade_id(cell) or f"number {k + 1}"
        seconds[name] = one.seconds
        raised = [output for output in one.outputs if output["output_type"] == "error"]
        said = [f"{output['ename']}: {output['evalue']}" for output in raised[-1:]]
        if said or one.note:
            errors[name] = " ".join([*said, one.note]).strip()
        if sources.marks(cell).get("grade"):
            found = [answer for answer in one.answers if isinstance(answer, dict)]
            data = found[-1] if found else {}
            judged[name] = judge(assignment, who, name, data.get("answer"), data.get("typed"))
    return Rehearsal(judged, seconds, errors)


def _apart(notebook: NotebookNode, who: str) -> dict[int, _Ran]:
    """In the sandbox."""
    codes = [Code(k, cell.source) for k, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    run = run_cells(codes, who, compiled=compiled())
    if run.failed:
        raise RuntimeError(run.failed)
    return {cell.index: _Ran(cell.outputs, cell.answers, cell.seconds, cell.note) for cell in run.cells}


def _trusted(notebook: NotebookNode, who: str) -> dict[int, _Ran]:
    """In a kernel without walls: what runs is the author's."""
    ran = {}
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=CELL_S, allow_errors=True, resources={"metadata": {"path": folder}},
            extra_arguments=["--log-level=40"],  # errors only: a kernel warns at each start that it speaks over TCP
        )
        home = os.environ.get("HOME", str(Path.home()))
        with client.setup_kernel(env={**environment(), "HOME": home, GRADER: who}):
            for k, cell in enumerate(notebook.cells):
                if cell.cell_type != "code":
                    continue
                began = time.perf_counter()
                client.execute_cell(cell, k)
                answers = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
                ran[k] = _Ran(cell.outputs, answers, time.perf_counter() - began)
    return ran
