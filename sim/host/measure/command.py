"""``python -m sim host measure``."""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path
from typing import Any

from ... import display, machine
from ...machine import render
from ...progress import Progress
from .. import files, tools
from .cpus import HIDDEN

DONE = 0
ROUNDS = 7


def declare(choices: Any) -> None:
    """Add the command to ``python -m sim host``'s parser."""
    text = "measure this machine: hand-over of lines, locks, copies, calls; as a machine file for --machine"
    sub = choices.add_parser("measure", help=text, description=text)
    sub.set_defaults(run=measure)
    sub.add_argument("--json", type=Path, metavar="FILE", help="write a machine file; - is standard output")
    sub.add_argument("--readings", type=Path, metavar="FILE", help="write every reading with its spread, as JSON")
    sub.add_argument("--picture", type=Path, metavar="FILE", help="draw pairs and constants: .svg, .png or .pdf")
    sub.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often everything is measured ({ROUNDS})")
    sub.add_argument("--base", help="the machine that gives what cannot be measured (the nearest one)")
    sub.add_argument("--own-topology", action="store_true", help="state this machine's CPUs even where they are few")


def measure(options: argparse.Namespace, rest: list[str]) -> int:
    """Measure, write and show. Raises what `sim.host.measure.take` and `document` raise, and OSError."""
    if platform.system() != "Linux":
        raise tools.Unavailable(f"measuring needs Linux: this is {platform.system()}; {tools.WITHOUT}")
    for path in (options.json, options.readings, options.picture):
        if path is not None and str(path) != "-":
            files.writable(path)
    if options.base is not None:
        machine.load(options.base)
    from . import machine_file, picture, readings  # compiles: not for those who only ask for help

    with Progress("rounds of measurements") as progress:
        found = readings.take(options.rounds, progress)
    document = machine_file.document(found, options.base, options.own_topology)
    if options.readings is not None:
        files.write(options.readings, json.dumps(found.to_dict(), indent=1) + "\n")
    if options.picture is not None:
        picture.save(found, options.picture)
    if str(options.json) == "-":
        print(render(document), end="")
        return DONE
    if options.json is not None:
        files.write(options.json, render(document))
    show(found, document)
    return DONE


def show(found: Any, document: dict[str, Any]) -> None:
    """Constants beside those of the base, what was measured besides, and what is hidden."""
    base = machine.load(document["base"])
    rows = []
    for name, entry in document["costs"].items():
        bounds = entry["bounds"]
        theirs = base.cost(name)
        unstable = "unstable" if "; unstable" in entry["source"] else ""
        ratio = f"{entry['value'] / theirs:.2f}" if theirs else "-"
        span = f"{bounds['low']:,} to {bounds['high']:,}"
        rows.append([name, f"{entry['value']:,}", span, entry["unit"], f"{theirs:,}", ratio, unstable])
    columns = ["constant", "measured", "middle half", "unit", base.name, "ratio", ""]
    display.table(document["title"], columns, rows, ["measured", "middle half", base.name, "ratio"])
    rows = [[name.replace("_", " "), f"{r.median:,.0f} ns"] for name, r in found.plain.items()]
    rows += [[f"{loop.replace('_', ' ')}, {n} threads", f"{r.median:,.1f} ns"]
             for (loop, n), r in found.by_threads.items()]
    rows += [[f"copy from {place.replace('_', ' ')}, {n:,} bytes", f"{1 / r.median:,.1f} GB/s" if r.median else "-"]
             for (place, n), r in found.copies.items()]
    display.table("Everything measured", ["", "median"], rows, ["median"])
    print(document["note"])
    if found.cpus.hypervisor:
        print("This is a virtual machine. It hides:")
        for each in HIDDEN:
            print(f"- {each}")
