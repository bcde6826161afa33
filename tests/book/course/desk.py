"""An author's notebook worked through in the tests' own process: quicker than a kernel, for many students."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cache
from io import StringIO
from typing import Any

from book.course import sources
from book.course.checks import Judgement, judge
from sim.exercises.handing_in import MIME
from sim.exercises.identity import GRADER

read = cache(sources.notebook)
compiled = cache(compile)


@contextmanager
def place_of(who: str) -> Iterator[None]:
    """As if the notebook lay in a student's folder."""
    before = os.environ.get(GRADER)
    os.environ[GRADER] = who
    try:
        yield
    finally:
        if before is None:
            del os.environ[GRADER]
        else:
            os.environ[GRADER] = before


def work_through(name: str, who: str, wanted: Collection[str] = (), blank: bool = False) -> dict[str, Judgement]:
    """Judgements on what the author's notebook hands in, for all questions or those `wanted`.

    A cell of a question that is not wanted is left out; ``blank`` leaves every solution out.
    """
    notebook = read(name)
    names = list(sources.points(notebook))
    wanted = set(wanted or names)
    space: dict[str, Any] = {}
    judged = {}
    with place_of(who), redirect_stdout(StringIO()):
        for cell in notebook.cells:
            which = sources.grade_id(cell)
            question = which.removeprefix("read-").removeprefix("solve-")
            if cell.cell_type != "code" or (question in names and question not in wanted):
                continue
            if which == "machine" and not needs_machine(notebook, wanted):
                continue
            source = cell.source
            if blank and which.startswith("solve-"):
                source = source.split("### BEGIN SOLUTION")[0]
            if sources.marks(cell).get("grade"):
                handed = eval(compiled(source, which, "eval"), space)._repr_mimebundle_()[MIME]
                judged[which] = judge(name, who, which, handed["answer"], handed["typed"])
            else:
                exec(compiled(source, which, "exec"), space)
    return judged


def lost(judgement: Judgement) -> str:
    """What is said of an answer that did not get all points; who loses some gets a hint."""
    assert judgement.points < judgement.of
    assert judgement.hint
    return judgement.text


def needs_machine(notebook: Any, wanted: Collection[str]) -> bool:
    """Whether one of the questions uses the run of the cell ``machine``."""
    cells = {sources.grade_id(cell): cell.source for cell in notebook.cells}
    return any("machine" in cells[f"solve-{name}"] or "before" in cells[f"solve-{name}"] for name in wanted)
