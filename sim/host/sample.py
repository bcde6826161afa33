"""Looks into running traffic that would disturb a measurement, and therefore come after it.

Sizes of packets are taken by a packet socket; route look-ups are counted by the kernel's tracepoints, through perf.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Final

from . import child, counters
from .reading import by_powers
from .wire import End

TRAFFIC: Final = str(Path(__file__).with_name("traffic.py"))
SAMPLE_S: Final = 0.1
LOOK_UPS: Final = "fib6:fib6_table_lookup"
ARRIVALS: Final = "net:netif_receive_skb"


def program(*arguments: str) -> list[str]:
    """The command of our own traffic program."""
    return [sys.executable, "-I", TRAFFIC, *arguments]


def sizes(end: End) -> dict[int, int]:
    """Packets that arrive at an end by the power of two that holds their size in bytes, headers of IP included."""
    said = end.host.run(*program("sizes", "--device", end.device, "--seconds", str(SAMPLE_S)))
    return by_powers({int(size): count for size, count in json.loads(said).get("sizes", {}).items()})


def look_ups_per_packet(end: End) -> float | None:
    """IPv6 routes found for each packet that arrives at an end's host; None where perf cannot count them.

    Both counters are one group, so that they begin and end together; a route counts if it leads to one of the host's
    devices, which are named for this process.
    """
    if shutil.which("perf") is None:
        return None
    names = [name for name in counters.devices(end.host.net("dev")) if name != "lo"]
    which = " || ".join(f'name == "{name}"' for name in names)
    script = (
        "mount -t tracefs tracefs /sys/kernel/tracing && "
        f'exec perf stat -a -x, -e "{{{LOOK_UPS},{ARRIVALS}}}" --filter "$0" -- sleep {SAMPLE_S}'
    )
    process = end.host.start("sh", "-c", script, which)
    try:
        _, said = process.communicate(timeout=child.SAYS_WITHIN_S)
    finally:
        child.stop(process)
    return ratio(said)


def ratio(said: str) -> float | None:
    """Look-ups to arrivals from what ``perf stat -x,`` says; None if it did not count both."""
    counts: dict[str, int] = {}
    for row in said.splitlines():
        fields = row.split(",")
        if len(fields) > 2 and fields[0].isdecimal():
            counts[fields[2]] = int(fields[0])
    arrived = counts.get(ARRIVALS, 0)
    return counts[LOOK_UPS] / arrived if arrived and LOOK_UPS in counts else None
