"""``python -m book.course generate DIR``: sources into a course directory, released by nbgrader, and tested."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import nbformat

from sim import display
from sim.exercises import assignments

from ..build.report import Refusal, say
from . import config, new, sources
from .nbgrader_tool import nbgrader
from .validation import Finding, validate


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course directory; made if it is not there")
    parser.add_argument("names", nargs="*", metavar="NAME", help="assignments (default: all)")
    parser.add_argument("--no-test", action="store_true", help="do not run the solutions and the blank notebooks")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write, release, test; status 1 if a test finds a fault."""
    released = generate(options.folder, options.names)
    if options.no_test:
        return 0
    found = []
    for path in released:
        say(f"testing {path.stem}: its solutions for several students, and blank")
        found.append(validate(path.stem, nbformat.read(path, 4)))
    report(found)
    faults = [f"{one.name}: {fault}" for one in found for fault in one.faults]
    for fault in faults:
        say(f"fault: {fault}")
    return 1 if faults else 0


def generate(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write sources and release them; returns the released notebooks.

    Raises
    ------
    Refusal
        if there is no such assignment, or if nbgrader refuses, with what it says.
    """
    wanted = list(names) or list(sources.names())
    if unknown := [name for name in wanted if name not in sources.names()]:
        raise Refusal(f"there is no assignment {unknown[0]!r}; there are {', '.join(sources.names())}")
    if not (folder / config.NAME).exists():
        new.make(folder)
    released = []
    for name in wanted:
        sources.write(name, folder / "source")
        nbgrader(folder, "generate_assignment", name, "--force")
        released.append(folder / "release" / name / f"{name}.ipynb")
        say(f"released {name}")
    return released


def report(found: Sequence[Finding]) -> None:
    """Print a table of what was tested."""
    rows = [
        [one.name, str(assignments.load(one.name).minutes), str(one.questions), f"{one.points:g}", f"{one.by_hand:g}",
         f"{one.slowest_s:.1f}", "fine" if not one.faults else f"{len(one.faults)} faults"]
        for one in found
    ]
    display.table(
        "Assignments",
        ["assignment", "minutes", "questions", "points by checks", "points by hand", "slowest graded cell, s", "tests"],
        rows,
    )
