"""What the page on a scenario of one's own needs: a change of its source as a patch, and tables of its runs."""

from __future__ import annotations

import inspect
import linecache
import re
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

from book.figures.table import Cell, Table
from book.figures.verdicts import between
from sim.result import Result
from sim.scenarios import Scenario


def source(scenario: type[Scenario]) -> str:
    """The file in which a scenario is written."""
    return inspect.getsource(sys.modules[scenario.__module__])


def hunks(patch: str) -> list[tuple[str, str]]:
    """Old and new lines of each hunk of a patch; a line ``@@`` begins one. Raises ValueError for any other line."""
    found = []
    for hunk in re.split(r"^@@.*\n", patch, flags=re.M):
        lines = hunk.splitlines(keepends=True)
        if odd := [line for line in lines if line[0] not in " +-"]:
            raise ValueError(f"neither context nor a change: {odd[0].rstrip()!r}")
        if lines:
            found.append(
                ("".join(x[1:] for x in lines if x[0] != "+"), "".join(x[1:] for x in lines if x[0] != "-"))
            )
    return found


def patched(scenario: type[Scenario], patch: str) -> type[Scenario]:
    """The scenario with a patch applied to its source. Raises ValueError if a hunk's lines are not there, once."""
    text = source(scenario)
    for old, new in hunks(patch):
        if text.count(old) != 1:
            raise ValueError(f"these lines stand {text.count(old)} times in the file:\n{old}")
        text = text.replace(old, new)
    name = f"{scenario.__module__}_patched_{abs(hash(text)):x}"
    module = ModuleType(name)
    module.__file__ = f"<{name}>"
    # where tracebacks and inspect find the text of a module that no file holds
    linecache.cache[module.__file__] = (len(text), None, text.splitlines(keepends=True), module.__file__)
    sys.modules[name] = module
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    found: type[Scenario] = getattr(module, scenario.__name__)
    return found


def rates(caption: str, runs: Mapping[str, Result], metrics: Sequence[str]) -> Table:
    """Metrics with their intervals, and how busy each role's CPU is, a row for each run."""
    rows: list[Sequence[Cell]] = []
    columns: list[str] = []
    for name, run in runs.items():
        cells: list[Cell] = [name]
        for metric in metrics:
            estimate = run.metrics[metric]
            cells += [f"{estimate.mean:.2f}", between(estimate.low, estimate.high, 2)]
        rows.append([*cells, *(f"{share:.0f}" for share in run.cpu.values())])
        columns = [x for m in metrics for x in (f"{m}, {run.metrics[m].unit}", "95 %")]
        columns += [f"{role} busy, %" for role in run.cpu]
    return Table(caption, ["run", *columns], rows)


def profiles(caption: str, run: Result, first: int = 6) -> Table:
    """The largest shares of each role's busy time, side by side."""
    tops = [sorted(run.profile(role).items(), key=lambda item: -item[1])[:first] for role in run.cpu]
    rows = [[cell for name, share in at for cell in (name, f"{share:.0f} %")] for at in zip(*tops, strict=True)]
    columns = [name for role in run.cpu for name in (role, f"of {role}'s time")]
    return Table(caption, columns, rows, code=list(run.cpu))
