"""Hand-ins that go wrong, by accident or by design: how each is made, what it must get, what its feedback must say.

They are made of an assignment's own solutions, so that a full score shows that nothing else was disturbed.
"""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from book.course.simulate import solved

from .mischief import (
    ASSIGNMENT,
    LOOK,
    MONKEY,
    Change,
    answer,
    code,
    delete_graded,
    delete_set_up,
    delete_solution,
    duplicate,
    edit_tests,
    file,
    foreign,
    forged_answers,
    link,
    many_cells,
    old_format,
    raw_answer,
    rename,
    retype,
    saved_flood,
    scripts,
)

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
        What the feedback must hold; ``|`` stands between what may happen.
    solved
        Whether the solutions are in at first.
    """

    make: Change
    lost: str = ""
    says: tuple[str, ...] = ()
    solved: bool = True


def write(case: Case, released: NotebookNode, folder: Path) -> None:
    """Hand in."""
    folder.mkdir(parents=True)
    notebook = solved(released, ASSIGNMENT) if case.solved else copy.deepcopy(released)
    if not case.make(notebook, folder):
        (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


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
            code("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"),
            says=("it did not stop when its time was over", "A new kernel ran the other cells"),
        ),
        "fork-bomb": Case(
            code("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", at_end=True),
            says=("This cell was stopped|The kernel was ended in this cell",),
        ),
        "memory-hog": Case(
            code("kept = []\nwhile True: kept.append(bytearray(10 ** 7))", at_end=True), says=("MemoryError",)
        ),
        "memory-herd": Case(
            # It waits for the first that is ended, not for a time: a busy machine fills memory slowly.
            code("import subprocess, sys, time\nwaste = 'x = bytearray(b\"1\") * (600 << 20); input()'\n"
                 "herd = [subprocess.Popen([sys.executable, '-c', waste], stdin=subprocess.PIPE) for _ in range(4)]\n"
                 "while all(one.poll() is None for one in herd): time.sleep(0.05)\n"
                 "print('ended by signals:', any((one.poll() or 0) < 0 for one in herd))\n"
                 "for one in herd: one.kill()"),
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
        "deleted": Case(delete_graded, says=("The cell fragment-cost was missing; it was put back",)),
        "deleted-answer": Case(delete_solution, "gro-fill", ("The cell solve-gro-fill is missing",)),
        "deleted-set-up": Case(delete_set_up, says=("The cell set-up was missing",)),
        "duplicated": Case(duplicate, says=("The cell solve-gro-fill is there more than once",)),
        "retyped": Case(retype, says=("had been made a markdown cell", "had been made a raw cell")),
        "edited-tests": Case(edit_tests, "all", ("is locked and had been changed", "Not answered"), solved=False),
        "flood": Case(code("for _ in range(100): print('flood ' * 170_000)"), says=("put out more than is kept",)),
        "saved-flood": Case(saved_flood),
        "renamed": Case(rename, says=("The file is named my work .final.(2).ipynb",)),
        "foreign-kernel": Case(foreign, says=("asks for a kernel of R; it was run with Python 3",)),
        "no-notebook": Case(file(f"{ASSIGNMENT}.ipynb", b"%PDF \xff\xfe"), "all", ("The file is not a notebook",)),
        "wrong-file": Case(file("essay.docx", b"PK"), "all", ("There is no notebook named", "essay.docx")),
        "empty-file": Case(file(f"{ASSIGNMENT}.ipynb", b""), "all", ("The file is empty",)),
        "deep-json": Case(file(f"{ASSIGNMENT}.ipynb", b"[" * 1_000_000), "all", ("The file is not a notebook",)),
        "symlink": Case(file(f"{ASSIGNMENT}.ipynb", link), "all", ("The file is a link to another place",)),
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
        "forged": Case(forged_answers, "all", ("Not answered",), solved=False),
        "huge-answer": Case(raw_answer("'x' * 5_000_000"), "gro-fill", ("This cell put out more than is kept",)),
        "nan-answer": Case(raw_answer("float('nan')"), "gro-fill", ("This cannot be the answer",)),
        "infinite-answer": Case(raw_answer("10 ** 400"), "gro-fill", ("0 of 1 points.",)),
        "nested-answer": Case(
            raw_answer("__import__('json').loads('[' * 200 + ']' * 200)"), "gro-fill", ("put out no answer",)
        ),
        "odd-answer": Case(raw_answer("{'a': [None, True, '\\ud800']}"), "gro-fill", ("Nothing was handed in",)),
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
        "many-cells": Case(many_cells, says=("the first 300 were run",)),
        "old-format": Case(old_format),
        "scripts": Case(scripts, says=("shown",)),
        "asks": Case(code("name = input('who?')"), says=("StdinNotImplementedError",)),
        "missing-module": Case(
            code("import a_library_of_mine"), says=("A cell ended with ModuleNotFoundError: No module named",)
        ),
        "prints-for-ever": Case(
            code("import threading, time\ndef talk():\n    while True:\n        print('so')\n        time.sleep(.001)\n"
                 "threading.Thread(target=talk, daemon=True).start()")
        ),
    }
