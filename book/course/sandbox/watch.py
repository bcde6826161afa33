"""Looks at a sandbox's memory from outside, where no control group limits the sum of its processes."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path
from typing import Final

INTERVAL_S: Final = 0.25


def below(root: int) -> list[int]:
    """Process ids of all descendants of a process."""
    found: list[int] = []
    asked = [root]
    while asked:
        each = asked.pop()
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{each}/task").iterdir():
                children = [int(word) for word in (task / "children").read_text().split()]
                found += children
                asked += children
    return found


def memory_kb(process: int) -> int:
    """A process's share of memory (PSS), so that pages that processes share count once."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


class Watch(threading.Thread):
    """Ends the largest process of a sandbox as long as all together have more than they may."""

    def __init__(self, root: int, most_mb: int) -> None:
        super().__init__(daemon=True)
        self.root, self.most_kb = root, most_mb * 1024
        self.killed = 0
        self._over = threading.Event()

    def run(self) -> None:
        """Until `stop`."""
        while not self._over.wait(INTERVAL_S):
            sizes = {process: memory_kb(process) for process in below(self.root)}
            if sum(sizes.values()) > self.most_kb:
                with contextlib.suppress(OSError):
                    os.kill(max(sizes, key=lambda each: sizes[each]), signal.SIGKILL)
                    self.killed += 1

    def stop(self) -> None:
        """No more looks."""
        self._over.set()
        self.join()
