"""``python -m book.course``: what a teacher, a teaching assistant or a student asks of the course."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from ..build.report import Refusal

#: Sub-command: the module whose ``command(parser)`` declares its options and sets ``run``, and what it does.
COMMANDS: Final = {
    "new": ("book.course.new", "make a course directory"),
    "generate": ("book.course.generate", "write assignments into a course directory and test them"),
    "check": ("book.course.check", "look at a notebook before it is handed in"),
    "kit": ("book.course.kit", "pack what students get"),
    "grade": ("book.course.grade", "run, judge and write down what was handed in"),
    "export": ("book.course.export", "write grades for a learning management system"),
    "forget": ("book.course.forget", "delete what a course directory knows of a student"),
    "simulate": ("book.course.simulate", "hand in for a class that does not exist"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command; returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="python -m book.course", description=__doc__.split(": ", 1)[1])
    choices = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, does) in COMMANDS.items():
        sub = choices.add_parser(name, help=does, description=does.capitalize() + ".")
        if words[:1] == [name]:
            import_module(module).command(sub)
    options = parser.parse_args(words)
    try:
        return int(options.run(options) or 0)
    except Refusal as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
