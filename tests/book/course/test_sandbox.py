"""The wall around one student's cells: what runs, what ends, and what is said of it."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from book.course.grading.outcome import compiled
from book.course.sandbox import Code, Limits, Run, jail, records, run_cells
from book.course.sandbox.group import Group
from book.course.sandbox.jail import ROOT
from sim.exercises.handing_in import MIME

from .classroom import needs_sandbox

QUICK = Limits(cell_seconds=4, total_seconds=60, grace_seconds=2)


def run(*sources: str, limits: Limits = QUICK) -> Run:
    """Run cells for a student."""
    return run_cells([Code(k, source) for k, source in enumerate(sources)], "ada", limits, compiled())


def text(ran: Run, cell: int) -> str:
    """What a cell printed."""
    return "".join(output.get("text", "") for output in ran.cells[cell].outputs)


@needs_sandbox
def test_cells_share_a_kernel_and_nothing_is_compiled_in_it() -> None:
    before = sorted(path.name for path in compiled().rglob("*"))
    ran = run(
        "import os\nwho = os.environ['RECEIVE_PATH_STUDENT']",
        "from sim import scenarios, compiled\nimport numba.core.event as event\n"
        "class Heard(event.Listener):\n"
        "    def on_start(self, e): print('compiles', e.data)\n"
        "    def on_end(self, e): pass\n"
        "event.register('numba:compile', Heard())\n"
        "print(who, compiled.ready(), scenarios.load('tcp-5.17').run(defer_free=1, mtu=1500).gbps > 1)",
        "import subprocess\nprint(subprocess.run(['id', '-u'], capture_output=True, text=True).stdout)",
    )
    assert text(ran, 1) == "ada True True\n"
    assert [cell.status for cell in ran.cells] == ["ok"] * 3
    if os.getuid() == 0:
        assert int(text(ran, 2)) >= jail.FIRST_UID
    assert sorted(path.name for path in compiled().rglob("*")) == before


@needs_sandbox
def test_a_cell_that_kills_the_kernel_costs_that_cell_alone() -> None:
    ran = run("x = 1", "import os\nos.kill(os.getpid(), 9)", "print(x + 1)")
    assert [cell.status for cell in ran.cells] == ["ok", "killed", "ok"]
    assert ran.cells[1].note == (
        "The kernel was killed here (signal SIGKILL); the usual reason is memory: the limit is 1500 MB. "
        "A new kernel ran the other cells, without this one."
    )
    assert text(ran, 2) == "2\n"


@needs_sandbox
@pytest.mark.slow
def test_a_kernel_is_started_again_a_few_times_and_the_notebook_says_where_it_ended() -> None:
    ran = run(*["import os\nos._exit(1)"] * 6, "1")
    assert [cell.status for cell in ran.cells] == ["killed"] * 4 + ["not run"] * 3
    assert ran.notes == ["The cells after that were not run: the kernel had ended 4 times."]


@needs_sandbox
@pytest.mark.slow
def test_a_notebook_ends_when_its_time_is_over() -> None:
    ran = run(*["import time\ntime.sleep(3)"] * 5, limits=Limits(cell_seconds=5, total_seconds=7, grace_seconds=1))
    statuses = [cell.status for cell in ran.cells]
    assert statuses[0] == "ok"
    assert statuses[-1] == "not run"
    assert "had used up its 7 s" in ran.notes[0]
    assert ran.seconds < 30


def nobody() -> list[str]:
    """Words before a command that run it as a user without rights, even if this Python lies in a folder of root's."""
    shown = [*jail.pythons(), ROOT]
    words = ["bwrap", "--dev-bind", "/", "/"]
    for closed in {Path(*path.parts[:2]) for path in shown if path.parts[1] in ("root", "home")}:
        words += ["--perms", "0755", "--tmpfs", str(closed)]
    inner = [path for path in shown if path.parts[1] in ("root", "home")]
    words += jail._parents(inner)
    for path in inner:
        words += ["--ro-bind", str(path), str(path)]
    return [*words, "setpriv", "--reuid", "65123", "--regid", "65123", "--clear-groups"]


@needs_sandbox
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_teacher_without_rights_has_the_same_wall() -> None:
    inside = (
        "import os, subprocess\nprint(os.path.exists('/root/.bashrc'), os.getuid())",
        "print(subprocess.run(['unshare', '-U', 'true'], stderr=subprocess.DEVNULL).returncode != 0)",
        "n = 0\ntry:\n    while n < 500:\n        if os.fork() == 0: __import__('time').sleep(9)\n        n += 1\n"
        "except OSError as error: print(n > 0, error.strerror)",
    )
    outside = (
        "import json, sys\nfrom pathlib import Path\nfrom book.course.sandbox import Code, Limits, run_cells\n"
        "cells = [Code(k, source) for k, source in enumerate(json.loads(sys.argv[1]))]\n"
        "print(json.dumps(run_cells(cells, 'ada', Limits(cell_seconds=8), Path(sys.argv[2])).to_json()))"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        shutil.copytree(compiled(), f"{folder}/compiled")
        done = subprocess.run(
            [*nobody(), sys.executable, "-c", outside, json.dumps(inside), f"{folder}/compiled"],
            cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "HOME": "/tmp"},
        )
    assert done.returncode == 0, done.stderr
    ran = Run.from_json(json.loads(done.stdout))
    assert ran.failed == ""
    assert [text(ran, k) for k in range(3)] == ["False 1000\n", "True\n", "True Resource temporarily unavailable\n"]


@needs_sandbox
def test_the_engine_that_does_not_load_is_the_graders_fault_and_nobodys_zero(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = run_cells([Code(0, "1")], "ada", QUICK, tmp_path / "empty")
    assert "the engine is not compiled" in ran.failed
    assert ran.cells[0].status == "not run"


@needs_sandbox
@pytest.mark.slow
def test_where_no_group_can_be_made_the_largest_process_ends_when_all_have_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("book.course.sandbox.group.places", lambda: ())
    ran = run(
        "import subprocess, sys\n"
        "waste = 'x = bytearray(b\"1\") * (600 << 20); import time; time.sleep(3)'\n"
        "herd = [subprocess.Popen([sys.executable, '-c', waste]) for _ in range(4)]\n"
        "ends = [one.wait() for one in herd]\nprint(-9 in ends, 0 in ends)",
        limits=Limits(cell_seconds=20),
    )
    assert text(ran, 0) == "True True\n"


@pytest.mark.slow
def test_without_a_sandbox_where_that_was_said_limits_still_hold_and_nothing_is_left() -> None:
    before = set(Path(tempfile.gettempdir()).glob("receive-path-*"))
    ran = run(
        "import os, subprocess\nsubprocess.Popen(['sleep', '976543'])\nprint(os.environ['RECEIVE_PATH_STUDENT'])",
        "while True: pass", "1", limits=Limits(cell_seconds=3, sandbox=False),
    )
    assert [cell.status for cell in ran.cells] == ["ok", "timeout", "ok"]
    assert text(ran, 0) == "ada\n"
    assert set(Path(tempfile.gettempdir()).glob("receive-path-*")) == before


def test_without_bubblewrap_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    jail.problem.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    try:
        with pytest.raises(jail.JailMissing, match="apt-get install bubblewrap"):
            run("1")
    finally:
        jail.problem.cache_clear()


def test_a_group_that_cannot_be_made_leaves_the_command_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("book.course.sandbox.group.places", lambda: ())
    nothing = Group("x", QUICK)
    assert nothing.entered_by() == []
    assert not nothing.holds_memory


def test_a_journal_is_read_up_to_a_size_and_no_further() -> None:
    flood = io.BytesIO(b'{"event": "ready"}\n' * 1000)
    with pytest.raises(OverflowError):
        list(records.lines(flood, 5000))


def test_lines_that_are_no_records_are_passed_over() -> None:
    journal = b'garbage\n[1]\n{"event": 5}\n' + b"[" * 100_000 + b'\n{"event": "done", "x": NaN}\n{"event": "done"}\n'
    assert [record["event"] for record in records.lines(io.BytesIO(journal), 1 << 20)] == ["done"]


@pytest.mark.parametrize("found", [None, 5, ["text", None, {"output_type": 7}], {"a": 1},
                                   [{"output_type": "stream", "name": ["x"], "text": {}}],
                                   [{"output_type": "execute_result", "data": "25"}]])
def test_outputs_of_another_shape_are_dropped(found: object) -> None:
    assert records.outputs(found, 1000) == ([], [])


def test_an_execute_result_of_a_student_is_never_one_afterwards() -> None:
    kept, answers = records.outputs(
        [{"output_type": "execute_result", "data": {"text/plain": "25", "text/html": "<b>25</b>",
                                                    MIME: {"question": "q", "answer": 1}}}], 1000,
    )
    assert kept == [{"output_type": "display_data", "data": {"text/plain": "25"}, "metadata": {}}]
    assert answers == [{"question": "q", "answer": 1}]


@pytest.mark.parametrize("answer", [float("nan"), "x" * 200_000, json.loads("[" * 60 + "]" * 60), "\ud800"])
def test_an_answer_that_no_check_should_see_is_dropped(answer: object) -> None:
    output = {"output_type": "display_data", "data": {MIME: {"question": "q", "answer": answer}}}
    assert records.outputs([output], 10_000)[1] == []
