"""Runs the code cells of one notebook, whatever they do: a cell that kills its kernel costs that cell alone.

Each attempt is a new sandbox. When a kernel dies, or does not stop when it is told to, or takes its driver along, the
next attempt runs the earlier cells again, leaves the guilty one out and goes on with the later ones, all of it within
the time that the whole notebook has.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .group import Group
from .jail import Jail, require
from .limits import Limits
from .records import ENDS, CellRun, lines, outputs
from .watch import Watch


@dataclass(frozen=True)
class Code:
    """A code cell to run, by its place in the notebook."""

    index: int
    source: str


@dataclass
class Run:
    """How a notebook went.

    Attributes
    ----------
    cells
        A record for each cell that was to run.
    notes
        What concerns the whole notebook, for the student.
    cpu_seconds
        What the last kernel and its driver used, as the driver says.
    failed
        Why nothing could run at all, for the teacher; empty if something did.
    """

    cells: list[CellRun] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    restarts: int = 0
    failed: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "cells": [cell.to_json() for cell in self.cells], "notes": self.notes, "seconds": round(self.seconds, 2),
            "cpu_seconds": self.cpu_seconds, "restarts": self.restarts, "failed": self.failed,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Run:
        """From plain data that `to_json` made."""
        return cls(**{**data, "cells": [CellRun(**cell) for cell in data["cells"]]})


def run_cells(
    cells: Iterable[Code], student: str, limits: Limits | None = None, compiled: Path | None = None
) -> Run:
    """Run cells in order for a student.

    Raises
    ------
    JailMissing
        if there is no sandbox on this computer.
    """
    limits = limits or Limits()
    if limits.sandbox:
        require()
    codes = list(cells)
    run = Run([CellRun(code.index) for code in codes])
    records = {record.index: record for record in run.cells}
    left_out: set[int] = set()
    seen: set[str] = set()
    began = time.monotonic()
    while True:
        seconds = limits.total_seconds - (time.monotonic() - began)
        todo = [code for code in codes if code.index not in left_out]
        attempt = Attempt(Jail(student, limits, compiled), todo, records, seconds)
        guilty = attempt.run()
        run.seconds = time.monotonic() - began
        run.cpu_seconds = attempt.cpu
        if attempt.note:
            run.notes.append(attempt.note)
        if guilty is None:
            run.failed = attempt.failed
            if attempt.failed and attempt.failed not in seen:  # a busy computer, perhaps: once more
                seen.add(attempt.failed)
                continue
            return run
        left_out.add(guilty)
        if run.restarts >= limits.restarts or run.seconds >= limits.total_seconds - 1:
            run.notes.append(f"The cells after that were not run: the kernel had ended {len(left_out)} times.")
            return run
        run.restarts += 1
        records[guilty].note += " A new kernel ran the other cells, without this one."


class Attempt:
    """One sandbox's life."""

    def __init__(self, jail: Jail, todo: Sequence[Code], records: dict[int, CellRun], seconds: float) -> None:
        self.jail, self.todo, self.records, self.seconds = jail, todo, records, seconds
        self.limits = jail.limits
        self.note = ""
        self.failed = ""
        self.current: int | None = None
        self.finished = False
        self.ready = False
        self.cpu = 0.0
        self._deadline = 0.0
        self._why = ""
        self._signal = 0
        self._until = 0.0

    def run(self) -> int | None:
        """Run; returns the cell to leave out next time, None if there is no next time."""
        group = Group(str(self.jail.uid), self.limits)
        home = "" if self.limits.sandbox else tempfile.mkdtemp(prefix="receive-path-")
        process = self.jail.start(group, home)
        watch = None if group.holds_memory else Watch(process.pid, self.limits.memory_mb + 100)
        if watch:
            watch.start()
        clock = threading.Thread(target=self._clock, args=(process,), daemon=True)
        began = time.monotonic()
        self._deadline = began + self.limits.start_seconds + 5
        self._until = began + self.seconds + self.limits.start_seconds + self.limits.grace_seconds
        clock.start()
        errors: list[bytes] = []
        drain = threading.Thread(target=lambda: errors.append(_tail(process)), daemon=True)
        drain.start()
        try:
            self._give(process)
            self._read(process)
        finally:
            self.finished = True
            _end(process)
            clock.join()
            drain.join()
            if watch:
                watch.stop()
            memory = group.killed() or (watch.killed if watch else 0)
            group.remove()
            if home:
                shutil.rmtree(home, ignore_errors=True)
        return self._judge(memory, b"".join(errors))

    def _give(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        job = {
            "uid": self.jail.uid if self.limits.sandbox else 0,
            "limits": self.limits.to_json(), "seconds": self.seconds,
            "cells": [{"index": code.index, "source": code.source} for code in self.todo],
        }
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job).encode())
            process.stdin.close()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        try:
            for record in lines(process.stdout, self.limits.journal_mb << 20):
                if self._take(record):
                    return
        except OverflowError:
            self._why = f"it put out more than {self.limits.journal_mb} MB"

    def _take(self, record: Any) -> bool:
        """Take one record; whether it is the last one."""
        event, index = record["event"], record.get("cell")
        cell = self.records.get(index) if isinstance(index, int) else None
        if event == "ready":
            self.ready, self._deadline = True, self._until
        elif event == "begin" and cell is not None:
            self.current = cell.index
            self._deadline = time.monotonic() + self.limits.clock_seconds + self.limits.grace_seconds + 10
        elif event == "end" and cell is not None and cell.index == self.current and record.get("status") in ENDS:
            self._deadline = self._until
            self._end_cell(cell, record)
            return cell.status == "killed"
        elif event == "late":
            self.note = (
                f"The notebook had used up its {self.limits.total_seconds:g} s: the cells after that were not run."
            )
            self.current = None
            return True
        elif event == "done":
            self.current = None
            cpu = record.get("cpu")
            self.cpu = float(cpu) if isinstance(cpu, int | float) and 0 <= cpu < 1e6 else 0.0
            return True
        return False

    def _end_cell(self, cell: CellRun, record: Any) -> None:
        status = record["status"]
        cell.outputs, cell.answers = outputs(record.get("outputs"), (self.limits.output_kb + 100) * 1000)
        seconds = record.get("seconds")
        cell.seconds = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e6 else 0.0
        dropped = record.get("dropped")
        cell.note = ""
        if isinstance(dropped, int) and 0 < dropped < 1 << 60:
            cell.note = f"This cell put out more than is kept: {dropped:,} characters of it were left out. "
        if status == "timeout":
            cell.note += (
                f"This cell was stopped: it ran longer than {self.limits.cell_seconds:g} s on the CPU, or than "
                f"{self.limits.clock_seconds:g} s by the clock."
            )
        if status in ("dead", "stuck"):
            cell.status = "killed"
            self._why = self._why or ("" if status == "dead" else "it did not stop when its time was over")
            number = record.get("signal")
            self._signal = number if isinstance(number, int) and 0 < number < 65 else 0
            return
        cell.note = cell.note.strip()
        cell.status = status
        self.current = None

    def _judge(self, memory: int, errors: bytes) -> int | None:
        if self.current is None:
            if not self.ready:
                last = errors.decode("utf-8", "replace").strip().splitlines()[-1:]
                self.failed = f"the sandbox did not start: {' '.join(last) or self._why or 'no reason given'}"
            return None
        cell = self.records[self.current]
        cell.status, cell.answers = "killed", []
        how = f" (signal {signal.Signals(self._signal).name})" if self._signal else ""
        if self._why:
            cause = f"The kernel was ended in this cell: {self._why}."
        elif memory:
            cause = f"The kernel was killed here: the cell took more than the {self.limits.memory_mb} MB there are."
        else:
            cause = (
                f"The kernel was killed here{how}; the usual reason is memory: the limit is {self.limits.memory_mb} MB."
            )
        cell.note = cause
        return self.current

    def _clock(self, process: subprocess.Popen[bytes]) -> None:
        """End a sandbox that says nothing for too long; its driver may have been stopped from inside."""
        while not self.finished:
            now = time.monotonic()
            if now > min(self._deadline, self._until):
                self._why = self._why or "it did not stop when its time was over"
                process.kill()  # its end closes the pipe, which ends the reading
                return
            time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End bubblewrap; the first process of its namespace dies with it, and with that one all the others."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)  # without a sandbox there is no namespace to end
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            with contextlib.suppress(OSError):
                stream.close()


def _tail(process: subprocess.Popen[bytes]) -> bytes:
    assert isinstance(process.stderr, io.BufferedReader)
    kept = b""
    with contextlib.suppress(ValueError, OSError):
        while part := process.stderr.read1(65536):
            kept = (kept + part)[-4000:]
        process.stderr.close()
    return kept
