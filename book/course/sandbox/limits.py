"""What a student's notebook may use, each limit with the thing that holds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

#: A cell that sleeps, or that gets little of a busy computer, may last this many times its seconds of CPU.
PATIENCE: Final = 3


@dataclass(frozen=True)
class Limits:
    """Limits of one notebook's run.

    Attributes
    ----------
    cell_seconds
        A cell is interrupted after this long on a CPU, or after `PATIENCE` times as long by the clock, so that a busy
        computer takes no points away. Graded cells of the course take less than 5 s on a slow machine.
    total_seconds
        The whole notebook, restarts included.
    grace_seconds
        What a cell gets to react to the interrupt; after that its kernel is given up.
    memory_mb
        For each process (RLIMIT_DATA), and for all of them together (memory cgroup, or a watcher that looks four times
        a second where no cgroup can be made).
    processes
        Processes and threads together (RLIMIT_NPROC, and the pids cgroup where there is one).
    disk_mb
        Each of the three places that can be written, all in memory and gone afterwards; also the size of a file.
    output_kb
        What is kept of one cell's output.
    journal_mb
        What is read from a sandbox in all.
    restarts
        How often a dead kernel is started again.
    sandbox
        False: no wall at all, only the limits of a process. For computers that are disposable as a whole.
    """

    cell_seconds: float = 15.0
    total_seconds: float = 120.0
    grace_seconds: float = 3.0
    start_seconds: float = 60.0
    memory_mb: int = 1500
    processes: int = 96
    disk_mb: int = 64
    output_kb: int = 200
    journal_mb: int = 32
    restarts: int = 3
    sandbox: bool = True

    @property
    def clock_seconds(self) -> float:
        """How long a cell may last by the clock."""
        return self.cell_seconds * PATIENCE

    def to_json(self) -> dict[str, Any]:
        """As plain data, for the driver and for a store's key."""
        return {**asdict(self), "clock_seconds": self.clock_seconds}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Limits:
        """From plain data that `to_json` made."""
        return cls(**{name: value for name, value in data.items() if name != "clock_seconds"})
