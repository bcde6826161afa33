"""Builds the book: every notebook executed, every warning an error, one file to open at the end."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .execute import TOC, fill
from .places import BUILD, HTML, ROOT
from .report import Refusal, run, say

ANSI = re.compile(r"\x1b\[[0-9;]*m")
KERNEL_NOTICE = (
    "[IPKernelApp] WARNING"  # each kernel's word on how it is reached: true of loopback, of no use here
)
BUILDER = "from jupyter_book.cli.main import main; main()"  # the command's script dies when a clone is moved


def command(root: Path = ROOT) -> list[str]:
    """The builder's command line; jupyter-book 1.x finds a table of contents below the root only if told."""
    return [
        sys.executable,
        "-c",
        BUILDER,
        "build",
        str(root),
        "--toc",
        str(root / TOC),
        "-W",
        "-n",
        "--keep-going",
        "-q",
    ]


def causes(lines: list[str]) -> list[str]:
    """The lines that say what is wrong: warnings, and the last line of a failing cell's traceback."""
    found = [
        line.strip() for line in lines if "WARNING:" in line or re.match(r"\w*(Error|Exception): ", line)
    ]
    return list(dict.fromkeys(line for line in found if line != "RuntimeError:"))[:12]


def forget(root: Path) -> None:
    """Remove pages and what Sphinx remembers of them; executed outputs stay.

    Sphinx counts a warning only in the build that reads the page: after a failed or killed build a second
    try would seem to pass.
    """
    for left in ("html", ".doctrees"):
        shutil.rmtree(root / "_build" / left, ignore_errors=True)


def build(root: Path = ROOT) -> None:
    """Build the pages below ``root``; a failed build leaves no page that could be taken for a good one."""
    started = time.monotonic()
    unfinished = root / "_build" / "unfinished"
    if unfinished.exists():
        forget(root)
    unfinished.parent.mkdir(exist_ok=True)
    unfinished.touch()
    fill(root)
    say("building the pages")
    done = subprocess.run(
        command(root),
        cwd=root,
        stdin=subprocess.DEVNULL,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode or not (root / "_build/html/index.html").exists():
        forget(root)
        lines = [line for line in ANSI.sub("", done.stdout).splitlines() if KERNEL_NOTICE not in line]
        if "No space left on device" in done.stdout:
            raise Refusal("the disk is full: the book was not built")
        print("\n".join(lines), flush=True)
        for cause in causes(lines):
            print(f"  {cause}", file=sys.stderr)
        raise Refusal("the book was not built: the lines above say why")
    unfinished.unlink()
    say(f"built in {time.monotonic() - started:.0f} s")


def main() -> None:
    """Build, from nothing if asked, and name the file to open."""
    parser = argparse.ArgumentParser(prog="python -m book.build.pages", description=__doc__)
    parser.add_argument("--from-nothing", action="store_true", help="forget all outputs and pages first")
    options = parser.parse_args()
    if not (ROOT / TOC).exists():
        raise Refusal(f"{TOC} is missing: this is not a whole clone")
    if options.from_nothing:
        shutil.rmtree(BUILD, ignore_errors=True)
    build()
    say(f"open {(HTML / 'index.html').as_uri()}")


if __name__ == "__main__":
    run(main)
