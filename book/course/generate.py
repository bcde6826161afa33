"""``python -m book.course generate DIR``: sources into a course directory, released by nbgrader, and tested."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..build.report import say
from . import config, new, sources
from .nbgrader_tool import nbgrader


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course directory; made if it is not there")
    parser.add_argument("names", nargs="*", metavar="NAME", help="assignments (default: all)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write, release, test."""
    generate(options.folder, options.names)
    return 0


def generate(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write sources and release them; returns the released notebooks.

    Raises
    ------
    Refusal
        if nbgrader refuses, with what it says.
    """
    if not (folder / config.NAME).exists():
        new.make(folder)
    released = []
    for name in names or sources.names():
        sources.write(name, folder / "source")
        nbgrader(folder, "generate_assignment", name, "--force")
        released.append(folder / "release" / name / f"{name}.ipynb")
        say(f"released {name}")
    return released
