"""`make bench`: the project's speeds against their targets, as a table and as JSON.

    python -m tests.bench                    all of it, four to five minutes on a quiet machine
    python -m tests.bench --only hosts page  some of it
    python -m tests.bench --json bench.json  written down as well

What is compared is measured in turns, in one run; a figure is the median of its repeats. A target that is not met
is said, and is no error: other machines are slower. What could not be measured is one, and ends with status 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from playwright.sync_api import Browser, sync_playwright

import sim
from book.build import browser as finder
from sim import compiled, scenarios
from sim.wasm import stamp
from tests.bench import ring, speeds, waits
from tests.bench.line import Line, show, verdicts
from tests.conftest import CHROMIUM_ARGUMENTS

Section = Callable[[Browser], list[Line]]


def sections() -> dict[str, Section]:
    """Parts of the bench by name, in order."""
    out: dict[str, Section] = {
        "hosts": speeds.hosts,
        "start": lambda browser: waits.starting(),
        "cpus": lambda browser: speeds.scaling(),
        "trace": lambda browser: ring.lines(),
        "page": waits.page,
        "widgets": waits.widgets,
    }
    for name in scenarios.names():
        out[name] = lambda browser, name=name: waits.scenario(name, browser)
    out["validate"] = lambda browser: waits.validation()
    return out


def measure(chosen: dict[str, Section], browser: Browser) -> list[Line]:
    """The lines of all sections; one that fails leaves a line that says why."""
    lines: list[Line] = []
    for name, section in chosen.items():
        print(f"bench: {name}", file=sys.stderr, flush=True)
        try:
            lines += section(browser)
        except Exception as error:  # the other sections are still worth their time
            reason = (str(error).strip().splitlines() or [""])[0]
            lines.append(Line(name, "not measured", None, "", None, f"{type(error).__name__}: {reason}"))
    return lines


def about(browser: Browser) -> dict[str, Any]:
    """What the figures depend on."""
    return {
        "cpu": processor(),
        "cpus": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "chromium": browser.version,
        "engine": sim.source_hash(),
        "stale": stamp.complaint(),
    }


def processor() -> str:
    """The CPU's name."""
    try:
        for row in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if row.startswith("model name"):
                return row.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium. Raises RuntimeError if there is none."""
    path = finder.find()
    if path is None:
        raise RuntimeError("the bench needs a browser: make browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write; the exit status."""
    every = sections()
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="The project's speeds.")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to a file as well")
    parser.add_argument("--only", nargs="+", choices=list(every), default=list(every), help="some sections")
    options = parser.parse_args(arguments)
    began, before = time.perf_counter(), os.getloadavg()
    compiled.announce()
    compiled.compile_ahead()
    with chromium() as browser:
        told = about(browser)
        lines = measure({name: every[name] for name in every if name in options.only}, browser)
    took, after = time.perf_counter() - began, os.getloadavg()
    print(f"{told['cpu']}, {told['cpus']} CPUs; {told['system']}")
    print(f"Python {told['python']}, Numba {told['numba']}, Chromium {told['chromium']}, engine {told['engine']}")
    print(f"load average {before[0]:.1f} at the beginning, {after[0]:.1f} at the end (1 minute); {took:.0f} s\n")
    if before[0] > told["cpus"]:
        print("other work was on this machine: waits are by the wall clock, and longer than on a quiet one\n")
    if told["stale"]:
        print(f"WebAssembly is not of these sources: {told['stale']}\n")
    show(lines)
    print(verdicts(lines))
    if options.json:
        load = {"before": before, "after": after}
        document = {**told, "load": load, "seconds": took, "lines": [line.to_dict() for line in lines]}
        options.json.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return 1 if any(line.figure is None for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
