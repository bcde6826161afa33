"""``python -m book.course new DIR``: a course directory, which belongs to the teacher and holds the gradebook."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..build.report import Refusal, say
from . import config


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the course directory; made if it is not there")
    parser.add_argument("--course", default="receive-path", help="the course's id (default: %(default)s)")
    parser.set_defaults(run=lambda options: make(options.folder, options.course))


def make(folder: Path, course: str = "receive-path") -> None:
    """Make the directory and its configuration; one that is there stays as it is.

    Raises
    ------
    Refusal
        if the folder holds other things than a course.
    """
    written = folder / config.NAME
    if written.exists():
        say(f"{folder} is a course already")
        return
    if folder.exists() and any(folder.iterdir()):
        raise Refusal(f"{folder} is not empty and has no {config.NAME}: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    written.write_text(config.text(folder, course), encoding="utf-8")
    say(f"made {folder}: next, python -m book.course generate {folder}")
