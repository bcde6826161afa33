"""How long one waits at first: with no compiled engine, then with one. Each in a fresh Python."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sim import ROOT
from sim.compiled import NOTICE

REPEATS = 3
FIRST = ["-m", "sim", "run", "tcp-5.17", "--replications", "1", "--json"]
AFTERWARDS = ["-c", "from sim import scenarios; scenarios.load('tcp-5.17').run()"]


@dataclass(frozen=True)
class Waited:
    """Seconds by the wall and on CPUs from the start of Python to its end, what it printed, and what it said."""

    wall: float
    cpu: float
    printed: str
    said: str


def python(arguments: list[str], cache: Path | None = None) -> Waited:
    """Run Python on the project; `cache` is another home for the compiled engine.

    Raises RuntimeError with the last line of what it said if it fails.
    """
    environment = dict(os.environ)
    if cache is not None:
        environment.pop("NUMBA_CACHE_DIR", None)  # set in this process by `import sim`
        environment["RECEIVE_PATH_CACHE"] = str(cache)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT.parent, env=environment, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Waited(wall, cpu, done.stdout, done.stderr)


def first_and_later() -> tuple[Waited, bool, list[Waited]]:
    """The first run without a compiled engine, whether it said so, and runs after it."""
    with tempfile.TemporaryDirectory() as folder:
        first = python(FIRST, Path(folder))
        return first, NOTICE in first.said, [python(AFTERWARDS, Path(folder)) for _ in range(REPEATS)]
