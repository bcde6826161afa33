"""Layouts of the kernel structs that the threads turn on: offsets for 64-bit kernels, with their sources."""

from __future__ import annotations

from typing import Final

from sim.layout import Layout
from sim.schema import nearest
from sim.structs.counters import TCP_COUNTERS_AFTER, TCP_COUNTERS_BEFORE
from sim.structs.packet import packet_sock
from sim.structs.route import RTABLE_3_17, RTABLE_6_0, RTABLE_6_4
from sim.structs.sock import sock

#: Every layout by the name that a scenario, a page or a command uses.
LAYOUTS: Final[dict[str, Layout]] = {
    layout.name: layout
    for layout in (
        RTABLE_3_17, RTABLE_6_0, RTABLE_6_4,
        sock(), sock(defer_free=True), sock(defer_free=True, demux_fields_close=True),
        sock(drop_forced_caps=True, drop_nocaps=True, fill_sock_hole=True),
        sock(
            drop_forced_caps=True, drop_nocaps=True, fill_sock_hole=True, defer_free=True,
            demux_fields_close=True,
        ),
        TCP_COUNTERS_BEFORE, TCP_COUNTERS_AFTER, packet_sock(pressure=False), packet_sock(pressure=True),
    )
}


def load(name: str) -> Layout:
    """The layout of that name. Raises KeyError with the nearest name if there is none."""
    if name not in LAYOUTS:
        raise KeyError(f"no layout {name!r}; {nearest(name, LAYOUTS)}")
    return LAYOUTS[name]


__all__ = [
    "LAYOUTS",
    "RTABLE_3_17",
    "RTABLE_6_0",
    "RTABLE_6_4",
    "TCP_COUNTERS_AFTER",
    "TCP_COUNTERS_BEFORE",
    "Layout",
    "load",
    "packet_sock",
    "sock",
]
