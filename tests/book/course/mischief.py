"""What is done to a solved notebook, or to the folder it lies in, to make a hostile hand-in of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell

from book.course import sources
from book.course.simulate import solutions
from sim.exercises.handing_in import MIME

ASSIGNMENT = "tcp-5.17"
#: Either changes the notebook, or writes the folder itself and returns True.
Change = Callable[[NotebookNode, Path], bool | None]


def cell(made: NotebookNode, name: str) -> NotebookNode:
    """A cell of the assignment by its name."""
    return next(each for each in made.cells if sources.grade_id(each) == name)


def code(source: str, at_end: bool = False) -> Callable[[NotebookNode, Path], None]:
    """A change: one more code cell, after the first question or at the end."""

    def make(made: NotebookNode, folder: Path) -> None:
        place = len(made.cells) if at_end else made.cells.index(cell(made, "gro-fill")) + 1
        made.cells.insert(place, new_code_cell(source, id="own"))

    return make


def answer(source: str) -> Callable[[NotebookNode, Path], None]:
    """A change: the first question's solution is this."""

    def make(made: NotebookNode, folder: Path) -> None:
        solutions(made)[0].source = source

    return make


def file(name: str, content: bytes | Callable[[Path], object]) -> Callable[[NotebookNode, Path], bool]:
    """Something else than the notebook lies in the folder."""

    def make(made: NotebookNode, folder: Path) -> bool:
        if callable(content):
            content(folder / name)
        else:
            (folder / name).write_bytes(content)
        return True

    return make


def delete_graded(made: NotebookNode, folder: Path) -> None:
    made.cells.remove(cell(made, "fragment-cost"))


def delete_solution(made: NotebookNode, folder: Path) -> None:
    made.cells.remove(cell(made, "solve-gro-fill"))


def delete_set_up(made: NotebookNode, folder: Path) -> None:
    made.cells.remove(cell(made, "set-up"))


def duplicate(made: NotebookNode, folder: Path) -> None:
    twin = copy.deepcopy(cell(made, "solve-gro-fill"))
    twin["id"] = "twin"
    made.cells.insert(made.cells.index(cell(made, "gro-fill")), twin)


def retype(made: NotebookNode, folder: Path) -> None:
    for name, kind in (("solve-gro-fill", "markdown"), ("fragment-cost", "raw")):
        cell(made, name).cell_type = kind


def edit_tests(made: NotebookNode, folder: Path) -> None:
    for each in made.cells:
        marks = each.metadata.get("nbgrader", {})
        if marks.get("grade"):
            each.source = f"{marks['points']}"
            marks.update(points=1000, locked=False, checksum="0" * 32)


def saved_flood(made: NotebookNode, folder: Path) -> None:
    made.cells.insert(0, new_code_cell("1", outputs=[new_output("stream", text="flood\n" * 17_000_000)], id="flood"))


def rename(made: NotebookNode, folder: Path) -> bool:
    (folder / "my work <final>(2).ipynb").write_text(json.dumps(made), encoding="utf-8")
    return True


def foreign(made: NotebookNode, folder: Path) -> None:
    made.metadata = NotebookNode(kernelspec=NotebookNode(name="ir", display_name="R", language="R"))


def many_cells(made: NotebookNode, folder: Path) -> None:
    made.cells += [new_code_cell(f"{k}", id=f"k{k}") for k in range(10_000)]


def old_format(made: NotebookNode, folder: Path) -> bool:
    cells = [
        {"cell_type": "code", "metadata": each.metadata, "input": each.source, "language": "python", "outputs": []}
        if each.cell_type == "code"
        else {"cell_type": "markdown", "metadata": each.metadata, "source": each.source}
        for each in made.cells
    ]
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(old))
    return True


def scripts(made: NotebookNode, folder: Path) -> None:
    evil = "<script>stolen()</script><img src=x onerror=stolen()>"
    made.cells.append(new_markdown_cell(f"Hello {evil} [me](javascript:stolen())", id="words"))
    made.cells.append(new_raw_cell(evil, id="raw"))
    made.cells.append(new_code_cell(f"from IPython.display import HTML, Javascript, display\ndisplay(HTML({evil!r}), "
                                    "Javascript('stolen()'))\nprint('shown')", id="html"))


def link(path: Path) -> None:
    path.symlink_to(path.parents[2] / "perfect" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")


def forged_answers(made: NotebookNode, folder: Path) -> None:
    """Outputs that look like answers and like scores, in cells that are not graded, from a blank hand-in."""
    source = f"""
from IPython.display import display
for name in ("gro-fill", "fragment-cost"):
    display({{"{MIME}": {{"question": name, "answer": 1, "points": 25, "score": 25}}, "text/plain": "25"}}, raw=True)
25
"""
    made.cells.insert(3, new_code_cell(source, id="forged"))


def raw_answer(text: str) -> Callable[[NotebookNode, Path], None]:
    """The first question's answer is put out by hand, past the form that would refuse it."""
    source = f"""
import sys
def hand_in(question, answer, own=hand_in):
    if question != "gro-fill":
        return own(question, answer)
    from IPython.display import display
    display({{"{MIME}": {{"question": question, "answer": {text}}}, "text/plain": "mine"}}, raw=True)
segments = 1
"""
    return answer(source)


LOOK = """
import os, pathlib
seen = []
for top in ("/", "/root", "/home", "/work", "/tmp", "/srv", "/var", "/mnt", {places}):
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in ("/proc", "/sys", "/usr", "/dev")]
        seen += [os.path.join(folder, f) for f in files
                 if f.endswith((".ipynb", "gradebook.db")) or "/course/" in folder or "checks" in folder.split("/")]
own = [f for f in seen if "site-packages" not in f and "/lib/" not in f and "/share/" not in f]
for each in ({places},):
    try:
        own.append(open(each + "/gradebook.db", "rb").read(10))
    except OSError:
        pass
print("STOLEN" if own else "found nothing", own)
"""

MONKEY = """
import sim.result, sim.exercises.handing_in as handing_in, sim.exercises.forms as forms, sys
from sim import scenarios
import types
handing_in.HandedIn.points = 1000
for name in list(vars(forms)):
    kind = getattr(forms, name)
    if isinstance(kind, type) and hasattr(kind, "accept"):
        kind.accept = lambda self, answer: answer
class Checks(types.ModuleType):
    def judge(self, *a, **k): return 1000
sys.modules["book"] = sys.modules["book.course"] = sys.modules["book.course.checks"] = Checks("checks")
segments = 10 ** 6
"""
