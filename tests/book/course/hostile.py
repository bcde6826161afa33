"""Hand-ins that go wrong, by accident or by design: how each is made, what it must get, what its feedback must say.

They are made of an assignment's own solutions, so that a full score shows that nothing else was disturbed.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell

from book.course import sources
from book.course.simulate import solutions, solved

ASSIGNMENT = "tcp-5.17"
MIME = "application/vnd.receive-path.answer+json"
#: A process that outlives its notebook says this on its command line.
OUTLIVES = "987654"


@dataclass(frozen=True)
class Case:
    """One hand-in.

    Attributes
    ----------
    make
        Changes a solved notebook, or writes the folder itself and returns True.
    lost
        Names of questions that get nothing; ``"all"``: every one.
    says
        What the feedback must hold.
    solved
        Whether the solutions are in at first.
    """

    make: Callable[[NotebookNode, Path], bool | None]
    lost: str = ""
    says: tuple[str, ...] = ()
    solved: bool = True


def write(case: Case, released: NotebookNode, folder: Path) -> None:
    """Hand in."""
    folder.mkdir(parents=True)
    notebook = solved(released, ASSIGNMENT) if case.solved else copy.deepcopy(released)
    if not case.make(notebook, folder):
        (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


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


def _delete_graded(made: NotebookNode, folder: Path) -> None:
    made.cells.remove(cell(made, "fragment-cost"))


def _delete_solution(made: NotebookNode, folder: Path) -> None:
    made.cells.remove(cell(made, "solve-gro-fill"))


def _delete_set_up(made: NotebookNode, folder: Path) -> None:
    made.cells.remove(cell(made, "set-up"))


def _duplicate(made: NotebookNode, folder: Path) -> None:
    twin = copy.deepcopy(cell(made, "solve-gro-fill"))
    twin["id"] = "twin"
    made.cells.insert(made.cells.index(cell(made, "gro-fill")), twin)


def _retype(made: NotebookNode, folder: Path) -> None:
    for name, kind in (("solve-gro-fill", "markdown"), ("fragment-cost", "raw")):
        cell(made, name).cell_type = kind


def _edit_tests(made: NotebookNode, folder: Path) -> None:
    for each in made.cells:
        marks = each.metadata.get("nbgrader", {})
        if marks.get("grade"):
            each.source = f"{marks['points']}"
            marks.update(points=1000, locked=False, checksum="0" * 32)


def _saved_flood(made: NotebookNode, folder: Path) -> None:
    made.cells.insert(0, new_code_cell("1", outputs=[new_output("stream", text="flood\n" * 17_000_000)], id="flood"))


def _rename(made: NotebookNode, folder: Path) -> bool:
    (folder / "my work <final>(2).ipynb").write_text(json.dumps(made), encoding="utf-8")
    return True


def _foreign(made: NotebookNode, folder: Path) -> None:
    made.metadata = NotebookNode(kernelspec=NotebookNode(name="ir", display_name="R", language="R"))


def _many_cells(made: NotebookNode, folder: Path) -> None:
    made.cells += [new_code_cell(f"{k}", id=f"k{k}") for k in range(10_000)]


def _old_format(made: NotebookNode, folder: Path) -> bool:
    cells = [
        {"cell_type": "code", "metadata": each.metadata, "input": each.source, "language": "python", "outputs": []}
        if each.cell_type == "code"
        else {"cell_type": "markdown", "metadata": each.metadata, "source": each.source}
        for each in made.cells
    ]
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(old))
    return True


def _scripts(made: NotebookNode, folder: Path) -> None:
    evil = "<script>stolen()</script><img src=x onerror=stolen()>"
    made.cells.append(new_markdown_cell(f"Hello {evil} [me](javascript:stolen())", id="words"))
    made.cells.append(new_raw_cell(evil, id="raw"))
    made.cells.append(new_code_cell(f"from IPython.display import HTML, Javascript, display\ndisplay(HTML({evil!r}), "
                                    "Javascript('stolen()'))\nprint('shown')", id="html"))


def _link(path: Path) -> None:
    path.symlink_to(path.parents[2] / "perfect" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")


def _forged_answers(made: NotebookNode, folder: Path) -> None:
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


def cases(course: Path) -> dict[str, Case]:
    """All of them, by the id of their student."""
    places = repr(str(course))
    return {
        "perfect": Case(lambda made, folder: None, says=("1 of 1 points. Right.",)),
        "blank": Case(lambda made, folder: None, "all", ("0 of 1 points. Not answered.",), solved=False),
        "wrong": Case(answer("segments = 7"), "gro-fill", ("0 of 1 points.", "Hint:")),
        "syntax-error": Case(answer("segments = = 45"), "gro-fill", ("SyntaxError", "this cell ended with NameError")),
        "endless-loop": Case(code("while True: pass"), says=("This cell was stopped: it ran longer than 5 s",)),
        "stubborn-loop": Case(
            code("while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
            says=("it did not stop when its time was over", "A new kernel ran the other cells"),
        ),
        "fork-bomb": Case(
            code("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", at_end=True),
            says=("This cell was stopped",),
        ),
        "memory-hog": Case(
            code("kept = []\nwhile True: kept.append(bytearray(10 ** 7))", at_end=True), says=("MemoryError",)
        ),
        "memory-herd": Case(
            code("import subprocess, sys\nwaste = 'x = bytearray(900 << 20); import time; time.sleep(4)'\n"
                 "herd = [subprocess.Popen([sys.executable, '-c', waste]) for _ in range(6)]\n"
                 "print('ended by signals:', sum(one.wait() < 0 for one in herd) > 0)"),
            says=("ended by signals: True",),
        ),
        "killed": Case(
            answer("import os\nos.kill(os.getpid(), 9)"), "gro-fill",
            ("The kernel was killed here (signal SIGKILL); the usual reason is memory: the limit is 1500 MB",),
        ),
        "segfault": Case(code("import ctypes\nctypes.string_at(0)"), says=("signal SIGSEGV",)),
        "kills-everything": Case(code("import os\nos.kill(-1, 9)"), says=("The kernel was killed here",)),
        "stops-the-driver": Case(code("import os\nos.kill(os.getppid(), 19)"), says=("did not stop when its time",)),
        "leaves": Case(code("import os\nos._exit(0)"), says=("The kernel was killed here",)),
        "deleted": Case(_delete_graded, says=("The cell fragment-cost was missing; it was put back",)),
        "deleted-answer": Case(_delete_solution, "gro-fill", ("The cell solve-gro-fill is missing",)),
        "deleted-set-up": Case(_delete_set_up, says=("The cell set-up was missing",)),
        "duplicated": Case(_duplicate, says=("The cell solve-gro-fill is there more than once",)),
        "retyped": Case(_retype, says=("had been made a markdown cell", "had been made a raw cell")),
        "edited-tests": Case(_edit_tests, "all", ("is locked and had been changed", "Not answered"), solved=False),
        "flood": Case(code("for _ in range(100): print('flood ' * 170_000)"), says=("put out more than is kept",)),
        "saved-flood": Case(_saved_flood),
        "renamed": Case(_rename, says=("The file is named my work .final.(2).ipynb",)),
        "foreign-kernel": Case(_foreign, says=("asks for a kernel of R; it was run with Python 3",)),
        "no-notebook": Case(file(f"{ASSIGNMENT}.ipynb", b"%PDF \xff\xfe"), "all", ("The file is not a notebook",)),
        "wrong-file": Case(file("essay.docx", b"PK"), "all", ("There is no notebook named", "essay.docx")),
        "empty-file": Case(file(f"{ASSIGNMENT}.ipynb", b""), "all", ("The file is empty",)),
        "deep-json": Case(file(f"{ASSIGNMENT}.ipynb", b"[" * 1_000_000), "all", ("The file is not a notebook",)),
        "symlink": Case(file(f"{ASSIGNMENT}.ipynb", _link), "all", ("The file is a link to another place",)),
        "fifo": Case(file(f"{ASSIGNMENT}.ipynb", lambda path: os.mkfifo(path)), "all", ("is no file",)),
        "a-folder": Case(file(f"{ASSIGNMENT}.ipynb", lambda path: path.mkdir()), "all", ("is no file",)),
        "reads-solutions": Case(
            code("import book.course.checks.tcp_5_17 as right\nprint('STOLEN', dir(right))"), "all",
            ("No module named", "book"), solved=False,
        ),
        "reads-others": Case(code(LOOK.replace("{places}", places)), says=("found nothing",)),
        "monkeypatched": Case(answer(MONKEY), "gro-fill", ("0 of 1 points.",)),
        "network": Case(
            code("import socket, urllib.request\ntry:\n    socket.create_connection(('192.0.2.1', 80), 3)\n"
                 "    print('STOLEN')\nexcept OSError as error:\n    print('no way out:', error)"),
            says=("no way out: [Errno 101] Network is unreachable",),
        ),
        "Zoë Łukasiewicz 李": Case(code("print('größer')"), says=("größer",)),
        "forged": Case(_forged_answers, "all", ("Not answered",), solved=False),
        "huge-answer": Case(raw_answer("'x' * 5_000_000"), "gro-fill", ("put out no answer",)),
        "nan-answer": Case(raw_answer("float('nan')"), "gro-fill", ("Nothing was handed in",)),
        "infinite-answer": Case(raw_answer("10 ** 400"), "gro-fill", ("0 of 1 points.",)),
        "nested-answer": Case(
            raw_answer("__import__('json').loads('[' * 200 + ']' * 200)"), "gro-fill", ("put out no answer",)
        ),
        "odd-answer": Case(raw_answer("{'a': [None, True, '\\ud800']}"), "gro-fill", ("put out no answer",)),
        "writes-cache": Case(
            code("import os\nfor place in ('/compiled', os.path.dirname(__import__('sim').__file__), '/', '/etc'):\n"
                 "    try:\n        open(place + '/mine', 'w')\n        print('STOLEN', place)\n"
                 "    except OSError as error:\n        print('refused', error.strerror)"),
            says=("refused Read-only file system",),
        ),
        "fills-the-disk": Case(
            code("for place in ('/tmp', '/home/student', '/dev/shm'):\n    try:\n"
                 "        for k in range(100): open(f'{place}/{k}', 'wb').write(bytes(10 ** 7))\n"
                 "        print('STOLEN')\n    except OSError as error: print('full:', error.strerror)"),
            says=("full: No space left on device",),
        ),
        "sits-after-the-end": Case(
            code(f"import subprocess\nsubprocess.Popen(['setsid', 'sleep', '{OUTLIVES}'])\nprint('sits')"),
            says=("sits",),
        ),
        "many-cells": Case(_many_cells, says=("the first 300 were run",)),
        "old-format": Case(_old_format),
        "scripts": Case(_scripts, says=("shown",)),
        "asks": Case(code("name = input('who?')"), says=("StdinNotImplementedError",)),
        "missing-module": Case(
            code("import a_library_of_mine"), says=("A cell ended with ModuleNotFoundError: No module named",)
        ),
        "prints-for-ever": Case(
            code("import threading, time\ndef talk():\n    while True:\n        print('so')\n        time.sleep(.001)\n"
                 "threading.Thread(target=talk, daemon=True).start()")
        ),
    }
