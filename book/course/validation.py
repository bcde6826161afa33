"""Tests of an assignment: its two notebooks, its points, its checks, and that students get no solution."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from nbformat import NotebookNode

from sim.exercises import assignments
from sim.exercises.presubmit import GRADED_S

from . import sources
from .checks import checks
from .rehearsal import rehearse

#: Rehearsed with different numbers, one of them not ASCII.
STUDENTS: Final = ("ada", "grace-h", "émilie")
AT_A_TIME: Final = 2  # kernels; each is busy on one or two CPUs
LEAST_PHRASE: Final = 12


@dataclass(frozen=True)
class Finding:
    """An assignment's row of the table: points by check and by hand, questions, the slowest cell, and the faults."""

    name: str
    points: float
    by_hand: float
    questions: int
    slowest_s: float
    faults: tuple[str, ...]


def faults_of_source(name: str, author: NotebookNode) -> list[str]:
    """What is wrong with an author's notebook."""
    faults = []
    ids = Counter(filter(None, map(sources.grade_id, author.cells)))
    faults += [f"{twice} stands {count} times" for twice, count in ids.items() if count > 1]
    stated = sources.points(author)
    known = {check.name: float(check.points) for check in checks(name).values()}
    for question in sorted({*stated, *known}):
        points, checked = stated.get(question), known.get(question)
        if points != checked:
            faults.append(f"{question}: {points} points in the notebook, {checked} by the check")
    if list(stated) != list(assignments.load(name).names):
        faults.append("the notebook does not ask the questions in the order of the assignment")
    for cell in author.cells:
        mark = sources.marks(cell)
        if cell.cell_type == "code" and mark.get("grade"):
            if not re.fullmatch(rf'hand_in\("{re.escape(sources.grade_id(cell))}", \w+\)', cell.source.strip()):
                faults.append(f"{sources.grade_id(cell)}: a graded cell is one line, hand_in(\"its name\", a_variable)")
            if not mark.get("locked"):
                faults.append(f"{sources.grade_id(cell)}: a graded cell is locked")
        if "BEGIN SOLUTION" in cell.source and not mark.get("solution"):
            faults.append(f"{sources.grade_id(cell) or cell['id']}: a solution in a cell that is not one")
    whole = sum(stated.values()) + sum(sources.points_by_hand(author).values())
    said = re.search(r"gives ([\d.]+) points", author.cells[0].source)
    if not said or float(said[1].rstrip(".")) != whole:
        faults.append(f"the first cell does not say that it gives {whole:g} points")
    if f"about {assignments.load(name).minutes} minutes" not in author.cells[0].source:
        faults.append(f"the first cell does not say that it takes about {assignments.load(name).minutes} minutes")
    return faults


def leaks(author: NotebookNode, released: NotebookNode) -> list[str]:
    """Lines of solutions and mark schemes that students would see."""
    shown = {line.strip() for cell in released.cells for line in cell.source.splitlines()}
    secret = []
    for cell in author.cells:
        inside = False
        for line in cell.source.splitlines():
            if re.search(r"(BEGIN|END) (SOLUTION|MARK SCHEME)", line):
                inside = "BEGIN" in line
            elif inside and len(line.strip()) >= LEAST_PHRASE and line.strip() in shown:
                secret.append(f"{sources.grade_id(cell)}: students see {line.strip()[:50]!r}")
    return secret


def validate(name: str, released: NotebookNode, students: Sequence[str] = STUDENTS) -> Finding:
    """Test one assignment: the author's notebook gets all points for every student, the released one none."""
    author = sources.notebook(name)
    faults = faults_of_source(name, author) + leaks(author, released)
    slowest = 0.0
    of = sum(sources.points(author).values())
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        blank_run = pool.submit(rehearse, name, released, students[0])
        solved = pool.map(lambda who: rehearse(name, sources.notebook(name), who), students)
        runs = dict(zip(students, solved, strict=True))
        blank = blank_run.result()
    for who, run in runs.items():
        slowest = max(slowest, *(run.seconds.get(question, 0.0) for question in run.judged))
        faults += [f"{who}: {cell} raises {what}" for cell, what in run.errors.items()]
        faults += [
            f"{who}: {question}: {one.points:g} of {one.of:g} points for the solution. {one.text}"
            for question, one in run.judged.items() if one.points != one.of
        ]
    faults += [f"blank: {cell} raises {what}" for cell, what in blank.errors.items()]
    faults += [f"blank: {question} gives {one.points:g} points" for question, one in blank.judged.items() if one.points]
    if sorted(blank.judged) != sorted(sources.points(author)):
        faults.append("the released notebook does not ask what the author's asks")
    if slowest > GRADED_S:
        faults.append(f"a graded cell takes {slowest:.1f} s; at most {GRADED_S} s are allowed")
    by_hand = sum(sources.points_by_hand(author).values())
    return Finding(name, of, by_hand, len(checks(name)), slowest, tuple(faults))
