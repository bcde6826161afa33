"""``python -m book.course check FILE.ipynb``: looks at a notebook before it is handed in, as the students' kit does."""

from __future__ import annotations

import argparse

from sim.exercises import presubmit


def command(parser: argparse.ArgumentParser) -> None:
    """Options."""
    presubmit.options(parser)
    parser.set_defaults(run=presubmit.show)
