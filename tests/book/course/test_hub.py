"""A hub on the loopback device: a teacher, three students, and everything that changes hands between them.

What these tests do not see: accounts of the operating system (all servers run as one user, so no wall stands between
them), limits of memory and CPU, and a login page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
import requests

from book.course import checks, simulate
from book.course.grading.place import Course

from . import loopback
from .classroom import ASSIGNMENT, needs_sandbox, points

COURSE = "receive-path"
STUDENTS = ("ada", "barbara", "grace")
INSTALLED = (loopback.INSTALLED / "venv" / "installed").exists()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not INSTALLED, reason="no hub is installed: make hub"),
    needs_sandbox,
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[loopback.Hub]:
    with loopback.hub(tmp_path_factory.mktemp("hub"), list(STUDENTS)) as started:
        yield started


@pytest.fixture(scope="module")
def teacher(hub: loopback.Hub) -> loopback.Server:
    return hub.server("teacher")


@pytest.fixture(scope="module")
def students(hub: loopback.Hub) -> dict[str, loopback.Server]:
    return {name: hub.server(name) for name in STUDENTS}


def shell(server: loopback.Server, command: str) -> str:
    """What a command says in a user's server."""
    return server.run(
        "import subprocess, sys\n"
        f"done = subprocess.run({command!r}.replace('python', sys.executable, 1), shell=True, text=True, "
        "stdout=subprocess.PIPE, stderr=subprocess.STDOUT)\nprint(done.stdout, done.returncode)"
    )


def listed(server: loopback.Server, status: str) -> list[dict[str, Any]]:
    """Assignments of a student's list that are released, fetched or submitted."""
    found = server.ask("GET", f"assignments?course_id={COURSE}")
    assert found["success"], found
    return [each for each in found["value"] if each["status"] == status]


def change_hands(server: loopback.Server, action: str) -> None:
    """Press a button of a student's list."""
    told = server.ask("POST", f"assignments/{action}", json={"course_id": COURSE, "assignment_id": ASSIGNMENT})
    assert told["success"], told


def formgrader(server: loopback.Server, words: str) -> None:
    """Press a button of the formgrader."""
    told = server.ask("POST", f"formgrader/api/{words}")
    assert told["success"], told.get("error") or told.get("log")


def test_a_class_goes_through_the_whole_cycle(
    hub: loopback.Hub, teacher: loopback.Server, students: dict[str, loopback.Server]
) -> None:
    made = shell(teacher, f"python -m book.course generate course {ASSIGNMENT} --no-test")
    assert made.split()[-1] == "0", made
    (hub.folder / "exchange").mkdir(mode=0o777, exist_ok=True)
    formgrader(teacher, f"assignment/{ASSIGNMENT}/release")

    for name, server in students.items():
        assert [each["assignment_id"] for each in listed(server, "released")] == [ASSIGNMENT]
        change_hands(server, "fetch")
        path = f"api/contents/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
        fetched = nbformat.from_dict(server.ask("GET", path)["content"])
        # ada solves everything and says to be barbara; barbara solves half; grace hands the blank notebook in
        solved = fetched if name == "grace" else simulate.solved(fetched, ASSIGNMENT, 1 if name == "ada" else 2)
        for cell in solved.cells:
            cell.source = cell.source.replace("your id", "barbara")
        server.ask("PUT", path, json={"type": "notebook", "format": "json", "content": json.loads(json.dumps(solved))})
        change_hands(server, "submit")
        assert len(listed(server, "submitted")) == 1

    formgrader(teacher, f"assignment/{ASSIGNMENT}/collect")
    collected = {path.name for path in (hub.homes / "teacher/course/submitted").iterdir()}
    assert collected == set(STUDENTS)

    # one by the formgrader's button, the rest by the command, which goes on from there
    formgrader(teacher, f"submission/{ASSIGNMENT}/ada/autograde")
    runs = list((hub.homes / "teacher/course/grading/store/runs").rglob("*.json.gz"))
    assert len(runs) == 1, "the button, too, ran nothing in the teacher's server: the sandbox's run is in the store"
    graded = shell(teacher, f"python -m book.course grade course {ASSIGNMENT}")
    assert graded.split()[-1] == "0", graded
    formgrader(teacher, f"assignment/{ASSIGNMENT}/release_feedback")

    of = sum(check.points for check in checks.checks(ASSIGNMENT).values())
    given = points(Course.at(hub.homes / "teacher/course"))
    assert given["ada"] == of, "the numbers are ada's by her login, whatever her notebook says"
    assert 0 < given["barbara"] < of
    assert given["grace"] == 0

    for name, server in students.items():
        change_hands(server, "fetch_feedback")
        place = next(iter(listed(server, "submitted")))["submissions"][0]["local_feedback_path"]
        page = server.ask("GET", f"api/contents/{place}/{ASSIGNMENT}.html")["content"]
        scores = re.findall(r"\(Score: ([\d.]+) / ([\d.]+)\)", page)
        assert sum(float(score) for score, _ in scores if score) >= given[name]
        assert "cdn" not in page.split("<body", 1)[1]


def test_a_student_gets_sim_compiled_and_no_checks(students: dict[str, loopback.Server]) -> None:
    told = students["grace"].run(
        "from sim.exercises.identity import who\nfrom sim.compiled import ready\nprint(who(), ready())\n"
        "import book.course.checks"
    )
    assert told.splitlines()[0] == "grace True"
    assert "No module named 'book'" in told


def test_only_a_teacher_has_the_formgrader(
    teacher: loopback.Server, students: dict[str, loopback.Server]
) -> None:
    assert teacher.status("formgrader/api/status") == 200
    assert students["ada"].status("formgrader/api/status") == 404


def test_the_exchange_keeps_hand_ins_from_being_listed(hub: loopback.Hub) -> None:
    inbound = hub.folder / "exchange" / COURSE / "inbound"
    assert inbound.stat().st_mode & 0o777 == 0o733, "write and enter, not list, for all but the teacher"
    assert all(path.name.count("+") == 3 for path in inbound.iterdir()), "a hand-in's folder ends in a random word"


def test_nobody_comes_in_who_is_not_named(hub: loopback.Hub) -> None:
    session = requests.Session()
    session.get(f"{hub.address}/hub/login", timeout=30)
    for name, status in (("mallory", 403), ("grace", 200)):
        done = session.post(
            f"{hub.address}/hub/login", params={"_xsrf": session.cookies.get("_xsrf", path="/hub/")},
            data={"username": name, "password": ""}, timeout=60,
        )
        assert done.status_code == status, f"{name}: {done.status_code}"
