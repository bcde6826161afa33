"""The table of frames on the page of units."""

from __future__ import annotations

from collections.abc import Sequence

from book.figures.table import Cell, Table
from sim.scenarios.lab import TCP_HEADERS, WIRE_OVERHEAD


def frames(mtus: Sequence[int], link_gbps: int) -> Table:
    """What a full link carries of TCP over IPv6: frames a second, the time of one, and payload."""
    rows: list[Sequence[Cell]] = []
    for mtu in mtus:
        wire = mtu + WIRE_OVERHEAD
        frame_ns = wire * 8 / link_gbps
        payload = mtu - TCP_HEADERS
        rows.append((mtu, payload, wire, frame_ns, 1000 / frame_ns, payload * 8 / frame_ns))
    columns = ["MTU, bytes", "payload, bytes", "on the wire, bytes", "one frame, ns", "M frames/s", "payload, Gbit/s"]
    return Table(f"Full frames of TCP over IPv6 on a link of {link_gbps} Gbit/s", columns, rows, digits=2)
