"""What becomes of one hand-in: its run in the sandbox, and the verdict on each answer.

Both are kept by what they follow from. A run follows from the cells, the student, `sim` and the limits; verdicts follow
from the run's answers and the checks, so a change of a check judges again and runs nothing again.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from nbformat import NotebookNode

from .. import checks, sources
from ..sandbox import CellRun, Code, Limits, Run, run_cells
from ..sandbox.jail import ROOT
from . import store
from .intake import shown
from .place import Course, identity
from .restore import KEPT

CHECKS: Final = Path(checks.__file__).parent
#: A check runs the simulation a few times at most; one that takes longer is a fault of the course.
CHECK_SECONDS: Final = 60
FAULT: Final = (
    "The check of this question failed on what was handed in. This is a fault of the course, and your teacher was told."
)


@dataclass
class Verdict:
    """Points of a graded cell, and what the student reads."""

    points: float
    of: float
    text: str
    fault: str = ""


@dataclass
class Outcome:
    """A run and its verdicts.

    Attributes
    ----------
    verdicts
        By the name of the graded cell.
    fresh
        Whether it was run now.
    """

    run: Run
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    fresh: bool = False

    @property
    def points(self) -> float:
        """What the checks gave."""
        return round(sum(verdict.points for verdict in self.verdicts.values()), 2)

    @property
    def faults(self) -> list[str]:
        """What the teacher must look at."""
        found = [f"{name}: {verdict.fault}" for name, verdict in self.verdicts.items() if verdict.fault]
        return found + ([self.run.failed] if self.run.failed else [])


def outcome(
    course: Course, assignment: str, student: str, notebook: NotebookNode, limits: Limits | None = None,
    again: bool = False,
) -> Outcome:
    """Fetch what is known of a prepared notebook, or run and judge it.

    Parameters
    ----------
    student
        The name of the student's folder.
    again
        Run even if a run is kept.
    """
    limits = limits or Limits()
    who = identity(student)
    kept = notebook.metadata.get(KEPT, {})
    notes = [str(note) for note in kept.get("notes", [])]
    why = str(kept.get("unreadable", ""))
    if why:
        return Outcome(Run(), {name: Verdict(0, of, why) for name, _, of in _graded(notebook)}, notes)
    codes = [Code(k, cell.source) for k, cell in enumerate(notebook.cells) if _runs(cell)]
    run_key = store.key(assignment, who, [[c.index, c.source] for c in codes], student_side(), limits.to_json())
    run = None if again else _known(course, run_key)
    fresh = run is None
    if run is None:
        run = run_cells(codes, who, limits, compiled())
        if not run.failed:
            store.put(course.store, "runs", run_key, run.to_json())
    graded = _graded(notebook)
    points_key = store.key(run_key, graded, store.tree(CHECKS), run.to_json()["cells"])
    notes += [*run.notes, *_absent(run)]
    found = store.get(course.store, "verdicts", points_key)
    if found is not None:
        return Outcome(run, {name: Verdict(**verdict) for name, verdict in found.items()}, notes, fresh)
    by_place = {cell.index: cell for cell in run.cells}
    verdicts = {
        name: _verdict(assignment, who, name, of, by_place.get(k, CellRun(k)), run) for name, k, of in graded
    }
    if not run.failed and not any(verdict.fault for verdict in verdicts.values()):
        store.put(course.store, "verdicts", points_key, {name: asdict(each) for name, each in verdicts.items()})
    return Outcome(run, verdicts, notes, fresh)


def _runs(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


def _graded(notebook: NotebookNode) -> list[tuple[str, int, float]]:
    """Cells that a check grades: name, place, points."""
    return [
        (sources.grade_id(cell), k, float(sources.marks(cell)["points"]))
        for k, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and sources.marks(cell).get("grade") and sources.grade_id(cell)
    ]


def _known(course: Course, key: str) -> Run | None:
    found = store.get(course.store, "runs", key)
    return Run.from_json(found) if found is not None else None


def _verdict(assignment: str, student: str, name: str, of: float, cell: CellRun, run: Run) -> Verdict:
    if run.failed:
        return Verdict(0, of, "Your notebook was not run: the grader itself failed. Your teacher was told.", run.failed)
    handed_in = [a for a in cell.answers if isinstance(a, Mapping) and a.get("question") == name]
    if not handed_in:
        return Verdict(0, of, _nothing(cell, run))
    typed = handed_in[-1].get("typed")
    try:
        with _at_most(CHECK_SECONDS):
            judged = checks.judge(
                assignment, student, name, handed_in[-1].get("answer"), typed if isinstance(typed, str) else None
            )
    except Exception as error:  # whatever a check does with a stranger's data, the class goes on
        return Verdict(0, of, FAULT, f"{type(error).__name__}: {error}"[:500])
    share = judged.points / judged.of if judged.of else 0.0
    return Verdict(round(min(max(share, 0.0), 1.0) * of, 2), of, judged.text)


def _absent(run: Run) -> list[str]:
    """Modules that a notebook wants and the course does not have: a silent zero elsewhere."""
    wanted = (each for cell in run.cells for each in cell.outputs if each["output_type"] == "error")
    return [
        f"A cell ended with {shown(error['ename'])}: {shown(error['evalue'])}. Only what the course installs is there."
        for error in wanted if error["ename"] in ("ModuleNotFoundError", "ImportError")
    ][:5]


def _nothing(cell: CellRun, run: Run) -> str:
    """Why a graded cell handed nothing in."""
    if cell.status == "not run":
        return "Nothing was handed in: this cell was not run. " + " ".join(run.notes)
    if cell.note:
        return f"Nothing was handed in. {cell.note}"
    error = next((each for each in reversed(cell.outputs) if each["output_type"] == "error"), None)
    if error is None:
        return "Nothing was handed in: this cell put out no answer."
    said = f"{error['ename']}: {error['evalue']}".strip(": ")[:400]
    hint = ""
    if error["ename"] == "NameError":
        hint = " Hint: the cell that computes it is missing, was stopped, or ended with an error before."
    return f"Nothing was handed in: this cell ended with {said}.{hint}"


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in a block that takes longer; only the main thread of a process can be interrupted so."""

    def over(number: int, frame: object) -> None:
        raise TimeoutError(f"the check took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@cache
def student_side() -> str:
    """Hash of what a student's cells can import from the project."""
    return store.tree(ROOT / "sim", ROOT / "widgets")


@cache
def compiled() -> Path | None:
    """The folder of the compiled engine, compiled now if it was not."""
    from sim.compiled import announce, compile_ahead

    if announce():
        compile_ahead()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    return folder if folder.is_dir() else None
