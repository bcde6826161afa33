"""Grades all hand-ins of an assignment: prepare, run and judge in parallel, write down, feed back.

Every step looks at what is there already, so a batch that was interrupted, by hand or by a power cut, is run again and
goes on. Points are set for a cell of a student in the gradebook, never added to: nothing counts twice.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import nbformat
from nbformat import NotebookNode

from ...build.report import Refusal
from ..sandbox import Limits, group
from ..sandbox.jail import require
from . import intake, receipts, restore, store, writing
from .outcome import CHECKS, compiled, outcome, student_side
from .place import Course, identity

#: Called with a stage, how many are done, of how many.
Progress = Callable[[str, int, int], None]
PREPARE: Final = "reading hand-ins"
RUN: Final = "running and judging"
WRITE: Final = "writing grades"
FEEDBACK: Final = "writing feedback"


@dataclass
class Graded:
    """What a batch did.

    Attributes
    ----------
    points
        By student: what the checks gave.
    fresh
        Students whose hand-in had no result before this batch.
    problems
        What a person must look at, by student or "" for all.
    """

    points: dict[str, float] = field(default_factory=dict)
    fresh: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)


def grade(
    course: Course, assignment: str, jobs: int = 2, students: Sequence[str] = (), again: bool = False,
    limits: Limits | None = None, progress: Progress = lambda stage, done, of: None,
) -> Graded:
    """Grade hand-ins.

    Parameters
    ----------
    jobs
        How many sandboxes run at a time; one core each.
    students
        Whom; empty: all.
    again
        Run again what has been run.

    Raises
    ------
    Refusal
        without a released assignment or a hand-in, or while another batch is at work.
    JailMissing
        without a sandbox.
    """
    limits = limits or Limits()
    if limits.sandbox:
        require()
    released = course.released(assignment)
    there = course.students(assignment)
    for name in students:
        if name not in there:
            raise Refusal(f"{name} handed nothing in for {assignment}")
    chosen = list(students) or there
    if not chosen:
        raise Refusal(f"nobody handed anything in: {course.submitted} has no folder STUDENT/{assignment}")
    with _alone(course):
        group.sweep()
        result = Graded()
        result.problems += [(name, "no student can have this id; the folder was left out") for name in
                            course.strangers(assignment)]
        _clashes(chosen, result)
        for done, student in enumerate(chosen):
            progress(PREPARE, done, len(chosen))
            prepare(course, assignment, student, released)
        progress(PREPARE, len(chosen), len(chosen))
        todo = _run_all(course, assignment, chosen, jobs, limits, again, result, progress)
        writing.write(course, assignment, todo, result.problems, progress)
    return result


def prepare(course: Course, assignment: str, student: str, released: NotebookNode) -> None:
    """Write a notebook that nbgrader can read in place of what was handed in."""
    source = course.submitted / student / assignment
    try:
        notebook = restore.restore(released, intake.take(source, assignment))
    except intake.Unreadable as why:
        notebook = restore.unreadable(released, str(why))
    except Exception as error:  # a file of a stranger that nothing above has thought of
        notebook = restore.unreadable(released, f"The notebook cannot be read ({type(error).__name__}).")
    folder = course.prepared / student / assignment
    store.write(folder / f"{assignment}.ipynb", nbformat.writes(notebook).encode("utf-8", "replace"))
    # when it was handed in, and the word by which the exchange gives feedback to nobody else
    for name in ("timestamp.txt", "submission_secret.txt"):
        beside = source / name
        if beside.is_file() and not beside.is_symlink() and beside.stat().st_size < 200:
            store.write(folder / name, beside.read_bytes())


def _run_all(
    course: Course, assignment: str, students: Sequence[str], jobs: int, limits: Limits, again: bool,
    result: Graded, progress: Progress,
) -> list[tuple[str, str]]:
    """Run and judge; returns students with the key of their result, without those that could not be graded."""
    compiled()  # once, before the workers ask for it
    keys: dict[str, str] = {}
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_worker)
    try:
        waiting = {
            pool.submit(_one, course, assignment, student, limits, again): student for student in students
        }
        for done, future in enumerate(as_completed(waiting), 1):
            student = waiting[future]
            points, (seconds, cpu), fresh, faults, keys[student] = future.result()
            if keys[student]:
                result.points[student] = points
            if fresh:
                result.fresh.append(student)
                result.seconds[student], result.cpu_seconds[student] = seconds, cpu
            result.problems += [(student, fault) for fault in faults]
            progress(RUN, done, len(students))
    except BrokenProcessPool:
        raise Refusal("a worker was ended from outside, perhaps for lack of memory; the same command goes on") from None
    except BaseException:
        for process in list(getattr(pool, "_processes", {}).values()):
            process.kill()  # a sandbox dies with the worker that started it
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [(student, keys[student]) for student in students if keys[student]]


def _one(
    course: Course, assignment: str, student: str, limits: Limits, again: bool
) -> tuple[float, tuple[float, float], bool, list[str], str]:
    """In a worker: one student's points, seconds and those of CPU, whether they are new, faults, the result's key."""
    path = course.prepared / student / assignment / f"{assignment}.ipynb"
    data = path.read_bytes()
    key = store.key(assignment, identity(student), store.key(data.decode()), student_side(), store.tree(CHECKS))
    before = receipts.done(course, "autograded", assignment, student, key)
    try:
        found = outcome(course, assignment, student, nbformat.reads(data.decode(), as_version=4), limits, again)
    except Exception as error:  # a fault of ours with one hand-in is no reason to stop the class
        return 0.0, (0.0, 0.0), False, [f"not graded: {type(error).__name__}: {error}"[:500]], ""
    if found.run.failed:  # no zero is written down for what the grader could not do
        return 0.0, (found.run.seconds, 0.0), True, [f"not graded: {found.run.failed}"], ""
    receipts.order(course, assignment, student, key, {"points": found.points, "limits": limits.to_json()})
    if again and before:
        receipts.clear(course, "autograded", assignment, student)
    return found.points, (found.run.seconds, found.run.cpu_seconds), again or found.fresh, found.faults, key


def _worker() -> None:
    """A worker leaves Ctrl-C to its parent and dies with it, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    writing.die_with_parent()


def _clashes(students: Sequence[str], result: Graded) -> None:
    """Two folders that are one student: the same letters, written in two ways."""
    by_id: dict[str, list[str]] = {}
    for name in students:
        by_id.setdefault(identity(name), []).append(name)
    for names in by_id.values():
        if len(names) > 1:
            result.problems.append((names[0], f"{len(names)} folders have this id, spelled differently for a computer"))


@contextmanager
def _alone(course: Course) -> Iterator[None]:
    """One batch at a time in a course."""
    place = course.root / "grading" / "lock"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refusal("another grading is at work in this course: wait for its end") from None
        yield


def summary(result: Graded) -> dict[str, Any]:
    """A batch in numbers."""
    points = sorted(result.points.values())
    return {
        "students": len(points), "fresh": len(result.fresh),
        "mean": round(sum(points) / len(points), 2) if points else 0.0,
        "sandbox_s": round(sum(result.seconds.values()), 1), "cpu_s": round(sum(result.cpu_seconds.values()), 1),
    }
