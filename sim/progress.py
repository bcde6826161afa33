"""Progress on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

EVERY_S: Final = 10.0


class Progress:
    """A context to be called with (done, total); what it shows is gone when it ends, or is a plain line.

    Parameters
    ----------
    title
        What is being done.
    quiet
        Show nothing.
    """

    def __init__(self, title: str, quiet: bool = False) -> None:
        self.title = title
        self.quiet = quiet
        self._bar: Bar | None = None
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self.title, total=None)
            self._bar.start()
        return self

    def __call__(self, done: int, total: int) -> None:
        """Say how many of how many are done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)
        elif not self.quiet and time.monotonic() - self._said >= EVERY_S:
            self._said = time.monotonic()
            print(f"{self.title}: {done} of {total}", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
