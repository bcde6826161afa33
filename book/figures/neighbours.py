"""Two programs that share a line by accident: what the page on sharing shows of patch 10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from book.figures.effects import change, minus, spread
from book.figures.table import Cell, Table
from sim.scenarios.tcp_5_17 import Tcp517

GAPS_NS: Final = (100, 300, 1000)


def _read_ns(gap_ns: int, aligned: int, place: str, seeds: int) -> list[float]:
    """Time of a read of the counter's address, ns: what a round takes beyond its gap."""
    scenario = Tcp517(changes={"neighbour_gap_ps": gap_ns * 1000})
    runs = scenario.run(
        replications=seeds, until_ps=scenario.quick_ps, neighbours=1, align_memory_globals=aligned, reader_cpu=place
    ).replications
    return [1e9 / run.metrics["neighbour_reads_per_s"] - gap_ns for run in runs]


def gaps(seeds: int = 3) -> Table:
    """What a look at one counter costs, by how often it is looked at and the other is changed."""
    rows: list[Sequence[Cell]] = []
    for gap in GAPS_NS:
        before, after = (_read_ns(gap, aligned, "same_socket", seeds) for aligned in (0, 1))
        c = change(before, after, "ns", 0.1)
        rows.append([f"{gap:,} ns", f"{c.before.mean:.1f}", f"{c.after.mean:.1f}", minus(spread(c.moved, 1, "+"))])
    columns = ["each program comes every", "on one line, ns", "on two lines, ns", "change (95 %)"]
    return Table("Looking at tcp_sockets_allocated while another CPU changes tcp_memory_allocated", columns, rows)
