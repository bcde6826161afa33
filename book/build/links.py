"""Asks every address that the pages link to, and lists those that do not answer.

It never fails: a mail archive that is down for an hour is no fault of the book.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

from .pages import command
from .places import BUILD, ROOT
from .report import run, say

OUTPUT = BUILD / "linkcheck/output.json"
GOOD = {"working", "redirected", "unchecked", "ignored"}


def findings(output: Path = OUTPUT) -> tuple[Counter[str], list[str]]:
    """How many addresses ended in which state, and a line for each that did not answer."""
    counted: Counter[str] = Counter()
    broken: dict[str, list[str]] = {}
    for line in output.read_text(encoding="utf-8").splitlines():
        link = json.loads(line)
        counted[link["status"]] += 1
        if link["status"] not in GOOD:
            place = f"{link['filename']}:{link['lineno']}"
            why = (link["info"] or "no answer").splitlines()[0]
            broken.setdefault(f"{link['uri']}: {why}", []).append(place)
    return counted, [f"{what} ({', '.join(where[:3])})" for what, where in sorted(broken.items())]


def main() -> None:
    """Ask, and say what was found."""
    say("asking every address that the pages link to (some minutes)")
    OUTPUT.unlink(missing_ok=True)
    lenient = [part for part in command(ROOT) if part not in ("-W", "--keep-going")]
    subprocess.run(
        [*lenient, "-q", "--builder", "custom", "--custom-builder", "linkcheck"],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    )
    if not OUTPUT.exists():
        say("nothing was asked: the book does not build (make book says why)")
        return
    counted, broken = findings(OUTPUT)
    for line in broken:
        say(f"  {line}")
    say(", ".join(f"{count} {state}" for state, count in sorted(counted.items())) or "no addresses")


if __name__ == "__main__":
    run(main)
