"""A profile of running traffic: perf records some CPUs, and what it saw is reduced to the book's symbols and layers.

Nothing is written to the file system: perf's recording goes through a pipe, and its text into a file without a name.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from ..layers import LAYERS, OTHER, layer
from . import child
from .read import Profile, perf
from .read.profile import USER
from .read.text import Source

#: Clocks that a sample is taken by, first one that works: a virtual machine often has no cycle counter.
EVENTS: Final = ("cpu-clock", "cycles", "task-clock")
OWN_CLOCKS: Final = frozenset({"cpu-clock", "task-clock"})
#: What a profile by a clock of the kernel's own cannot show; a cycle counter's samples fall anywhere.
SKID: Final = (
    "a sample by {clock} waits while interrupts are off and falls where they are switched on again, as in "
    "_raw_spin_unlock_irqrestore"
)
SAMPLES_PER_S: Final = 997  # a prime, so that nothing periodic hides between two samples
STARTS_WITHIN_S: Final = 0.4
ENDS_WITHIN_S: Final = 60.0


@cache
def event() -> str | None:
    """The clock that perf can sample by here; None without perf or without permission."""
    if shutil.which("perf") is None:
        return None
    for name in EVENTS:
        with contextlib.suppress(child.Failed):
            # counts go to standard output, and a counter that is not there ends with status 0
            if "<not" not in child.run(["perf", "stat", "--log-fd=1", "-x,", "-a", "-e", name, "--", "true"]):
                return name
    return None


def record(cpus: Sequence[int], seconds: float) -> Profile:
    """Sample what CPUs do for some seconds. Raises `child.Failed` if perf refuses, `Unreadable` for what it printed."""
    clock = event()
    if clock is None:
        raise child.Failed("perf samples nothing here: it is not installed, or may not (kernel.perf_event_paranoid)")
    which = ",".join(map(str, sorted(set(cpus))))
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as text:
        sampler = child.start([
            "perf", "record", "-q", "-C", which, "-e", clock, "-F", str(SAMPLES_PER_S), "--no-buildid", "-N", "-o", "-",
        ])
        printer = None
        try:
            printer = child.start(["perf", "script", "-i", "-"], stdin=sampler.stdout, stdout=text)
            time.sleep(STARTS_WITHIN_S + seconds)
            if sampler.poll() is not None:
                raise child.ended_early(sampler, "perf record")
            sampler.send_signal(signal.SIGINT)
            _, err = printer.communicate(timeout=ENDS_WITHIN_S)
            if printer.returncode:
                raise child.Failed(f"perf script: {(err.strip().splitlines() or ['it said nothing'])[-1]}")
        except subprocess.TimeoutExpired:
            raise child.Failed(f"perf script: no end after {ENDS_WITHIN_S:g} s") from None
        finally:
            for process in (sampler, printer):
                if process is not None:
                    child.stop(process)
        text.seek(0)
        return perf.script(Source.of(text.read(), "perf script"))


def by_layer(shares: Mapping[str, float]) -> dict[str, float]:
    """Per cent by layer of the receive path, in the order of a packet's way; programs' own code stays apart."""
    found = dict.fromkeys((*LAYERS, OTHER, USER), 0.0)
    for symbol, share in shares.items():
        found[USER if symbol == USER else layer(symbol)] += share
    return {name: share for name, share in found.items() if share}
