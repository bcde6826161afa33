"""``python -m book.course.hub FOLDER``: makes the hub's folder, or brings it up to date."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...build.places import BUILD
from ...build.report import run
from . import install


def main() -> None:
    """Install."""
    parser = argparse.ArgumentParser(prog="python -m book.course.hub", description=__doc__)
    parser.add_argument(
        "folder", type=Path, nargs="?", default=BUILD / "hub",
        help="where to; on a server a folder that students can read and not write (default: %(default)s, for a trial)",
    )
    parser.add_argument("--no-proxy", action="store_true", help="only what users' servers need: for an image")
    options = parser.parse_args()
    install.install(options.folder.resolve(), proxied=not options.no_proxy)


if __name__ == "__main__":
    run(main)
