"""``python -m sim.exercises.presubmit FILE.ipynb``: looks at a notebook before it is handed in.

It says in plain words what would cost points for no good reason: cells that are missing, copied, retyped or
deleted, errors, cells that take too long, and another student's id. It knows no answers.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from . import assignments, inventory
from .handing_in import MIME
from .identity import GRADER, HUB, UNCHANGED

FINE, PROBLEMS, UNREADABLE = 0, 1, 2
MOST_BYTES: Final = 20_000_000
MOST_OUTPUT_BYTES: Final = 5_000_000
CELL_S: Final = 15  # as the grader's, which counts seconds of CPU: by the clock this is the stricter one
GRADED_S: Final = 5


@dataclass
class Report:
    """What was found: problems cost points, notes need not."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unreadable: bool = False

    @property
    def status(self) -> int:
        """Exit status of the command."""
        return UNREADABLE if self.unreadable else PROBLEMS if self.problems else FINE


def look(path: Path, who: str = "", run: bool = True) -> Report:
    """Look at a notebook file, and run it unless told not to.

    Parameters
    ----------
    who
        The id that the course has, if it is known.
    """
    report = Report()
    notebook = _read(path, report)
    if notebook is None:
        return report
    name, listed = inventory.read(notebook.get("metadata"))
    if name not in assignments.names():
        known = ", ".join(assignments.names())
        report.problems.append(
            "the notebook does not say which assignment it is: its metadata were lost, or it was made anew. Take the "
            f"released file again and move your answers into it (assignments: {known})"
        )
        return report
    if path.name != f"{name}.ipynb":
        report.problems.append(f"the file is named {path.name}; hand it in as {name}.ipynb")
    kernel = notebook.get("metadata", {}).get("kernelspec", {})
    if str(kernel.get("language", "python")).lower() != "python":
        report.problems.append(f"the kernel is {kernel.get('display_name', '?')}: choose Python 3 (menu Kernel)")
    cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    _cells(cells, listed, report)
    known = who or os.environ.get(HUB, "")
    _identity(_said(cells), known, report)
    if run and (known or _said(cells) not in ("", UNCHANGED)):
        _run(notebook, listed, path.parent, known, report)
    elif run:
        report.notes.append("not run: without a student there are no numbers")
    return report


def _read(path: Path, report: Report) -> dict[str, Any] | None:
    """The notebook, or None with the reason in the report."""
    report.unreadable = True
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            report.problems.append(
                f"the file has {size / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}: clear the outputs and save"
            )
            return None
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        report.problems.append(f"{path} cannot be read: {error.strerror or error}")
        return None
    except (ValueError, RecursionError):
        report.problems.append(
            f"{path.name} is no notebook" + (": it is empty" if size == 0 else ": is it a PDF, a script or a picture?")
        )
        return None
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list) or found.get("nbformat") != 4:
        report.problems.append(f"{path.name} is no notebook of format 4: open it in Jupyter and save it again")
        return None
    report.unreadable = False
    return found


def _text(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _cells(cells: Sequence[dict[str, Any]], listed: dict[str, dict[str, Any]], report: Report) -> None:
    """Missing, copied, retyped, moved and edited cells."""
    there = Counter(filter(None, map(inventory.grade_id, cells)))
    loose = [cell for cell in cells if not inventory.grade_id(cell) and cell.get("cell_type") == "code"]
    for name, entry in listed.items():
        if not there[name]:
            pattern = rf"^\s*hand_in\(\s*['\"]{re.escape(name)}['\"]"
            copied = entry.get("graded") and any(re.search(pattern, _text(cell), re.MULTILINE) for cell in loose)
            report.problems.append(
                f"cell {name} was copied or typed again, and the copy is not marked as the one that is graded: take "
                "that cell from the released file" if copied else
                f"cell {name} is missing: take it from the released file"
            )
    for name, count in there.items():
        if count > 1:
            report.problems.append(f"cell {name} stands {count} times: only one can count, delete the others")
        if name not in listed:
            report.notes.append(f"cell {name} is not part of this assignment")
    for cell in cells:
        name = inventory.grade_id(cell)
        if name not in listed:
            continue
        entry = listed[name]
        if cell.get("cell_type") != entry.get("type"):
            report.problems.append(
                f"cell {name} was changed from {entry.get('type')} to {cell.get('cell_type')}: change its type back"
            )
        elif entry.get("hash") and inventory.fingerprint(_text(cell)) != entry["hash"]:
            report.problems.append(
                f"cell {name} was edited. Its text is put back before grading and work in it is lost: use the cell "
                "before it"
            )
    order = [name for name in map(inventory.grade_id, cells) if name in listed]
    if sorted(set(order), key=order.index) != [name for name in listed if name in there]:
        report.problems.append("cells are not in the order of the released file: put them back, or later ones may fail")
    size = sum(len(json.dumps(cell.get("outputs", []))) for cell in cells)
    if size > MOST_OUTPUT_BYTES:
        report.problems.append(f"the outputs have {size / 1e6:.0f} MB: print less, or clear them before you hand in")


def _identity(said: str, known: str, report: Report) -> None:
    """Whose numbers the notebook shows: what it says, and what is known."""
    if known and said not in ("", UNCHANGED, known):
        report.problems.append(
            f"the notebook says student({said!r}), but you are {known!r}: numbers that you typed are somebody else's"
        )
    elif not known and said in ("", UNCHANGED):
        report.problems.append("nobody's numbers: write your student id into the cell student(...)")
    elif not known:
        report.notes.append(f"the notebook says that you are {said!r}: is that the id that your course gave you?")


def _said(cells: Sequence[dict[str, Any]]) -> str:
    """The id of the last ``student("...")`` in the cells; empty if there is none."""
    said = ""
    for cell in cells:
        if cell.get("cell_type") != "code":
            continue
        try:
            tree = ast.parse(_text(cell))
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "student"
                and len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
            ):
                said = str(node.args[0].value)
    return said


def _run(
    notebook: dict[str, Any], listed: dict[str, dict[str, Any]], folder: Path, known: str, report: Report
) -> None:
    """Run the cells top to bottom in a fresh kernel, as a grader does, and report on what they do."""
    try:
        import nbformat
        from nbclient import NotebookClient
        from nbclient.exceptions import CellTimeoutError, DeadKernelError
    except ImportError:
        report.notes.append("not run: install nbclient to have the cells run")
        return
    v4: Any = nbformat.v4
    made = v4.new_notebook(cells=[])
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            named = {"nbgrader": {"grade_id": inventory.grade_id(cell)}}
            made.cells.append(v4.new_code_cell(_text(cell), metadata=named))
    client = NotebookClient(
        made, kernel_name="python3", timeout=CELL_S, allow_errors=True, resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=40"],
    )
    ended = ""
    environment = {name: value for name, value in os.environ.items() if name != GRADER}
    with client.setup_kernel(env=environment | ({GRADER: known} if known else {})):
        for index, cell in enumerate(made.cells):
            if not cell.source.strip():
                continue
            name = inventory.grade_id(cell) or f"number {index + 1}"
            began = time.perf_counter()
            try:
                client.execute_cell(cell, index)
            except CellTimeoutError:
                ended = f"cell {name} runs longer than {CELL_S} s: does a loop never end? What follows was not run"
            except DeadKernelError:
                ended = f"the kernel died in cell {name}, most often for lack of memory. What follows was not run"
            if ended:
                report.problems.append(ended)
                return
            _outcome(cell, name, time.perf_counter() - began, bool(listed.get(name, {}).get("graded")), report)


def _outcome(cell: Any, name: str, seconds: float, graded: bool, report: Report) -> None:
    """What one cell that has run says."""
    raised = [output for output in cell.outputs if output.output_type == "error"]
    if raised:
        problem = str(raised[-1].evalue).splitlines()[:1]
        report.problems.append(f"cell {name} ends with {raised[-1].ename}: {' '.join(problem)}")
    if not graded:
        return
    answers = [output.data[MIME] for output in cell.outputs if MIME in output.get("data", {})]
    if not answers and not raised:
        report.problems.append(f"cell {name} hands nothing in: is hand_in still its last line?")
    elif answers and answers[-1].get("answer") is None:
        report.notes.append(f"question {name} is not answered")
    if seconds > GRADED_S:
        report.problems.append(f"cell {name} takes {seconds:.0f} s; a graded cell should take less than {GRADED_S}")


def options(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", type=Path, metavar="FILE.ipynb", help="the notebook that you want to hand in")
    parser.add_argument("--student", default="", metavar="ID", help="the id that your course gave you")
    parser.add_argument("--no-run", action="store_true", help="look at the cells only, do not run them")


def show(chosen: argparse.Namespace) -> int:
    """Look, print, and return the exit status."""
    report = look(chosen.file, chosen.student, not chosen.no_run)
    for line in report.problems:
        print(f"problem: {line}")
    for line in report.notes:
        print(f"note: {line}")
    if not report.problems:
        print(f"{chosen.file.name}: nothing found that would cost points by accident. Answers are not checked here.")
    return report.status


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m sim.exercises.presubmit", description=_DESCRIPTION)
    options(parser)
    return show(parser.parse_args(arguments))


_DESCRIPTION: Final = (
    "Look at a notebook before it is handed in. Ends with 0 if all is well, 1 for problems, 2 if it is no notebook."
)


if __name__ == "__main__":
    sys.exit(main())
