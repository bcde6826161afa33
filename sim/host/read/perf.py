"""What perf prints: ``perf report --stdio``, ``perf script`` and ``perf top --stdio``, as shares of symbols.

A report may be sorted by CPU, command, object and symbol, in any order, with columns apart by spaces or by ``-t``;
only the symbol must be among them.  Call chains are passed over: a share is the symbol's own (``Self``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .profile import Profile, Sample
from .text import Source, Unreadable, share

_DOTS: Final = re.compile(r"#\s*\.\.[. ]*$")
_ROW: Final = re.compile(r"\s*[0-9]{1,3}(?:[.,][0-9]+)?\s?%")
_LEVEL: Final = re.compile(r"^\[(?P<level>[.kuHgG!])\]\s+(?P<symbol>\S.*?)\s*$")
_SCRIPT: Final = re.compile(
    r"^\s*(?P<comm>\S.*?)\s+(?P<pid>-?\d+)(?:/(?P<tid>-?\d+))?\s+(?:\[(?P<cpu>\d+)\]\s+)?"
    r"(?P<time>\d+[.,]\d+):\s+(?:(?P<period>\d+)\s+)?(?P<event>\S.*?):\s*(?P<rest>.*)$"
)
_FRAME: Final = re.compile(r"^\s*[0-9a-f]+\s+(?P<symbol>.+?)(?:\+0x[0-9a-f]+)?\s+\((?P<object>.*)\)\s*$")
_TOP: Final = re.compile(r"^\s*PerfTop:")
_TOP_ROW: Final = re.compile(r"^\s*(?P<share>[0-9]{1,3}[.,][0-9]+\s?%)\s+(?P<object>\S+)\s+(?P<rest>\[.\]\s+\S.*)$")
UNKNOWN: Final = "[unknown]"


def read(path: Path) -> Profile:
    """The profile of a file, whichever of the three it is. Raises Unreadable, OSError."""
    source = Source.open(path)
    return kind(source)(source)


def kind(source: Source) -> Callable[[Source], Profile]:
    """Which reader a text is for. Raises Unreadable if it is none of perf's."""
    for line in source.lines:
        if _TOP.match(line):
            return top
        if line.startswith(("# Overhead", "# Children")):
            return report
        if _SCRIPT.match(line):
            return script
    return source.fail("is none of perf report --stdio, perf script, perf top --stdio")


def report(source: Source) -> Profile:
    """``perf report --stdio``. Raises Unreadable for a file without heading, a broken row, or shares beyond 100 %."""
    cells: Callable[[str], list[str]] | None = None
    names: list[str] = []
    samples: list[Sample] = []
    head = ""
    for at, line in enumerate(source.lines):
        if line.startswith("# ") and ("Overhead" in line or "Children" in line):
            head = line
            names, cells = _by_separator(line)
            if samples:
                source.refuse(at, "a second event begins here; report one event at a time (perf report -e EVENT)")
            continue
        if head and _DOTS.match(line):
            cells = _by_width(line)
            names = cells("#" + head[1:])
            continue
        if line.startswith("#") or not line.strip():
            continue
        if cells is None:
            source.refuse(at, "a row before the heading '# Overhead ...': the beginning is missing")
        if not _ROW.match(line):
            if samples:
                continue  # a call chain
            source.refuse(at, f"expected a row that begins with per cent, not {line.strip()[:40]!r}")
        samples.append(_report_row(source, at, dict(zip(names, cells(line), strict=False))))
    if not samples:
        source.fail("a report without rows: was anything recorded, does a filter leave nothing?")
    total = sum(s.weight for s in samples)
    if total > 101:
        source.fail(f"the shares add up to {total:.0f} %: two reports in one file, or one with children and no self")
    return Profile(source.name, samples, "perf report")


def _by_separator(line: str) -> tuple[list[str], Callable[[str], list[str]] | None]:
    """Column names of ``perf report -t``; no reader if the columns are apart by width."""
    found = re.match(r"#\s*(?:Overhead|Children)\s*([,;|\t])", line)
    if found is None:
        return [], None
    separator = found[1]
    return [name.strip() for name in line[1:].split(separator)], lambda row: [c.strip() for c in row.split(separator)]


def _by_width(line: str) -> Callable[[str], list[str]]:
    """A reader of columns as wide as the dots below the heading say; the last one takes the rest."""
    spans = [(m.start(), m.end()) for m in re.finditer(r"\.+", line)]
    starts = [0, *(start for start, _ in spans[1:])]
    ends = [*(start for start, _ in spans[1:]), None]
    return lambda row: [row[a:b].strip(" #") for a, b in zip(starts, ends, strict=True)]


def _report_row(source: Source, at: int, cells: dict[str, str]) -> Sample:
    own = cells.get("Self", cells.get("Overhead", ""))
    weight = share(own)
    if weight is None:
        source.refuse(at, f"{own!r} is not per cent")
    named = next((cells[name] for name in ("Symbol", "symbol") if name in cells), None)
    if named is None:
        source.refuse(at, "a report without symbols; sort by symbol (perf report --sort cpu,symbol)")
    level = _LEVEL.match(named)
    if level is None:
        source.refuse(at, f"{named[:40]!r} is no symbol with its level, as [k] tcp_v6_rcv")
    cpu = cells.get("CPU", "")
    return Sample(
        level["symbol"], weight, kernel=level["level"] in "kg", cpu=int(cpu) if cpu.isdigit() else None,
        command=cells.get("Command", ""),
    )


def script(source: Source) -> Profile:
    """``perf script``, with or without call chains. Raises Unreadable for a line that is no sample.

    Each sample counts with its period, if it has one; with its time, so that a profile can be cut into parts.
    """
    samples: list[Sample] = []
    pending: tuple[int, re.Match[str]] | None = None
    for at, line in enumerate(source.lines):
        if not line.strip() or line.startswith("#"):
            _ended(pending, samples)
            pending = None
            continue
        begun = _SCRIPT.match(line)
        if begun is not None:
            _ended(pending, samples)
            pending = None
            if begun["rest"].strip():
                frame = _FRAME.match(begun["rest"])
                if frame is None:
                    source.refuse(at, "the sample ends in the middle; was the file cut off?")
                samples.append(_sample(begun, frame["symbol"], frame["object"]))
            else:
                pending = (at, begun)
            continue
        frame = _FRAME.match(line)
        if frame is None:
            source.refuse(at, f"neither a sample nor a frame of one: {line.strip()[:40]!r}")
        if pending is not None:
            samples.append(_sample(pending[1], frame["symbol"], frame["object"]))
            pending = None  # the frames below are its callers
    _ended(pending, samples)
    if not samples:
        source.fail("no sample in it")
    return Profile(source.name, samples, "perf script")


def _ended(pending: tuple[int, re.Match[str]] | None, samples: list[Sample]) -> None:
    if pending is not None:
        samples.append(_sample(pending[1], UNKNOWN, ""))


def _sample(begun: re.Match[str], symbol: str, where: str) -> Sample:
    return Sample(
        symbol, float(begun["period"] or 1), kernel=where.startswith("[kernel") or where.endswith(".ko"),
        cpu=None if begun["cpu"] is None else int(begun["cpu"]), command=begun["comm"],
        time_s=float(begun["time"].replace(",", ".")),
    )


def top(source: Source) -> Profile:
    """``perf top --stdio``: the last whole screen. Raises Unreadable if none shows a symbol."""
    screens: list[list[Sample]] = [[]]
    for line in source.lines:
        if _TOP.match(line):
            screens.append([])
        row = _TOP_ROW.match(line)
        if row is None:
            continue
        level, weight = _LEVEL.match(row["rest"]), share(row["share"])
        if level is None or weight is None:
            continue
        screens[-1].append(Sample(level["symbol"], weight, kernel=level["level"] in "kg"))
    full = [screen for screen in screens if screen]
    if not full:
        source.fail("no screen of perf top shows a symbol: let it run for some seconds, and not with a filter")
    return Profile(source.name, full[-1], "perf top")


__all__ = ["Unreadable", "kind", "read", "report", "script", "top"]
