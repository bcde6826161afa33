"""A reader's own data: profiles of perf and counters of the kernel, from saved files.

>>> from sim.host import read
>>> profile = read.profile("report.txt")                                           # doctest: +SKIP
>>> profile.shares()                                                               # doctest: +SKIP
>>> load = read.load({"softnet_stat": "before"}, {"softnet_stat": "after"}, 10)    # doctest: +SKIP
>>> load.metrics(), load.knobs()                                                   # doctest: +SKIP

What is not as it should be raises `Unreadable`, with the file, the line and what was expected there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import perf
from .kernel import READERS
from .load import Load
from .profile import Profile, book_name
from .text import Unreadable

__all__ = ["READERS", "Load", "Profile", "Unreadable", "book_name", "load", "profile"]


def profile(path: str | Path) -> Profile:
    """What ``perf report --stdio``, ``perf script`` or ``perf top --stdio`` printed. Raises Unreadable, OSError."""
    return perf.read(Path(path))


def load(before: Mapping[str, str | Path], after: Mapping[str, str | Path], seconds: float) -> Load:
    """Saved files of two moments, by kind (`READERS`), `seconds` apart. Raises Unreadable, OSError, ValueError."""
    return Load.between({k: Path(p) for k, p in before.items()}, {k: Path(p) for k, p in after.items()}, seconds)
