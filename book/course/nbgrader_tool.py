"""The real nbgrader commands, run in a course directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ..build.report import Refusal
from .config import ROOT

LINES_SHOWN = 12
BROKEN = "Exception while loading config file"


def environment() -> dict[str, str]:
    """What nbgrader needs around it: ``sim`` on the import path, and its own helper programs (alembic) on the path."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
    }


def nbgrader(folder: Path, *words: str) -> str:
    """Run one command in a course directory; returns what it said.

    Raises
    ------
    Refusal
        if it ends with another status than 0, with the end of what it said; or if it could not read the course's
        configuration, in which case nbgrader itself goes on without it and says that all is well.
    """
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words], cwd=folder, env=environment(), check=False, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    if done.returncode or BROKEN in done.stdout:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise Refusal(f"nbgrader {' '.join(words)} failed in {folder}:\n" + "\n".join(lines[-LINES_SHOWN:]))
    return done.stdout
