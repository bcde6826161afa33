"""Shows how far a batch is: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ...build.report import say

LINE_SECONDS = 20.0


class Bars:
    """A context in which `show` can be called."""

    def __init__(self) -> None:
        self.bars: Progress | None = None
        self.tasks: dict[str, TaskID] = {}
        self.said = 0.0

    def __enter__(self) -> Bars:
        if sys.stderr.isatty():
            columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
            self.bars = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))
            self.bars.start()
        return self

    def show(self, stage: str, done: int, of: int) -> None:
        """Say how many of a stage are done."""
        if self.bars is not None:
            if stage not in self.tasks:
                self.tasks[stage] = self.bars.add_task(stage, total=of)
            self.bars.update(self.tasks[stage], completed=done)
        elif done == of or time.monotonic() > self.said + LINE_SECONDS:
            self.said = time.monotonic()
            say(f"{stage}: {done} of {of}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bars is not None:
            self.bars.stop()
