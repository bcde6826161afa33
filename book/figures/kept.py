"""Rows of the validation, and other figures that runs give, computed once for all pages of a build.

Several pages show the same figures, and a thread's runs take up to a minute. Rows are kept below `_build`, under a
name that is a hash of all that they can depend on, so those of another state of the simulation are never found.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from book.build.places import BUILD, CONSTRAINTS, REQUIREMENTS, ROOT
from sim import reported, scenarios, validate

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FOLDER: Final = BUILD / "validation"

Row = dict[str, Any]


@cache
def state() -> str:
    """A hash of every file of `sim`, of the pinned packages and of the Python that runs them."""
    digest = hashlib.sha256(sys.version.encode())
    files = [p for p in sorted((ROOT / "sim").rglob("*")) if p.is_file() and "__pycache__" not in p.parts]
    for path in (*files, REQUIREMENTS, CONSTRAINTS):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def threads() -> list[str]:
    """Threads that have both figures and a scenario, in the order of the scenarios."""
    return [name for name in scenarios.names() if name in reported.threads()]


def rows(thread: str, folder: Path = FOLDER) -> list[Row]:
    """The rows of `sim.validate` for one thread, from an earlier page if one asked for them.

    Raises what `sim.validate.rows` raises. A folder that cannot be written to only makes the next page wait.
    """
    return once(thread, lambda: validate.rows(thread), folder)


def once(name: str, compute: Callable[[], list[Row]], folder: Path = FOLDER) -> list[Row]:
    """What `compute` gives, from an earlier page if one asked for the same `name` at this state of the simulation.

    The name must tell everything that rows depend on besides `sim` itself. Raises what `compute` raises.
    """
    kept = folder / state() / f"{name}.json"
    with _alone(kept.with_suffix(".lock")):
        if kept.exists():
            found: list[Row] = json.loads(kept.read_text(encoding="utf-8"))
            return found
        found = compute()
        with contextlib.suppress(OSError):
            _keep(kept, found)
    return found


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one page at a time compute what several want: the second waits and finds it. The lock ends with its process.

    Where there are no such locks, or none can be made, both compute.
    """
    with contextlib.ExitStack() as stack:
        if fcntl:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(path.open("w"))
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _keep(path: Path, found: list[Row]) -> None:
    for old in path.parent.parent.glob("*"):
        if old != path.parent:
            shutil.rmtree(old, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(found), encoding="utf-8")
    part.replace(path)  # a page that reads meanwhile finds all of it or nothing


def every() -> list[Row]:
    """The rows of all threads."""
    return [row for thread in threads() for row in rows(thread)]
