"""A notebook of the course's own run top to bottom, without a sandbox: authors are trusted, students are not."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nbclient import NotebookClient
from nbformat import NotebookNode

from sim.exercises.handing_in import MIME
from sim.exercises.identity import GRADER

from . import sources
from .checks import Judgement, judge
from .nbgrader_tool import environment

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


class _Timed(NotebookClient):
    """Notes how long each cell takes."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self.seconds: dict[str, float] = {}

    async def async_execute_cell(self, cell: NotebookNode, cell_index: int, *words: Any, **options: Any) -> Any:
        began = time.perf_counter()
        done = await super().async_execute_cell(cell, cell_index, *words, **options)
        self.seconds[sources.grade_id(cell) or cell.get("id", str(cell_index))] = time.perf_counter() - began
        return done


def rehearse(assignment: str, notebook: NotebookNode, who: str, folder: Path) -> Rehearsal:
    """Run a notebook as a student's, in `folder`, and judge what it hands in."""
    client = _Timed(
        notebook, timeout=CELL_S, allow_errors=True, resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=40"],  # errors only: a kernel warns at each start that it speaks over TCP
    )
    client.execute(env={**environment(), "HOME": os.environ.get("HOME", str(folder)), GRADER: who})
    judged, errors = {}, {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        name = sources.grade_id(cell)
        for output in cell.outputs:
            if output.output_type == "error":
                errors[name or cell.get("id", "?")] = f"{output.ename}: {output.evalue}"
        if sources.marks(cell).get("grade"):
            data = answer(cell)
            judged[name] = judge(assignment, who, name, data.get("answer"), data.get("typed"))
    return Rehearsal(judged, client.seconds, errors)


def answer(cell: NotebookNode) -> dict[str, Any]:
    """What a graded cell put out as its answer; empty if nothing."""
    found = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
    return dict(found[-1]) if found and isinstance(found[-1], dict) else {}
