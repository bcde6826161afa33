"""When a reader sends its ACKs: what the page on patch 19 draws and tries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from book.figures.effects import change, minus, spread
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.scenarios.tcp_5_17 import Tcp517

PRICES_NS: Final = (0, 250, 1000)


def moments() -> Picture:
    """One call of recvmsg() before and after the patch, with the moments of its ACKs."""
    picture = Picture(
        188,
        "Before the patch a reader sends an ACK each time it turns to the backlog, right before new data are counted; "
        "after the patch one ACK at the end of the call covers all.",
    )
    steps = (("copy", 62, "wash"), ("backlog", 56, "box")) * 2 + (("copy", 62, "wash"),)
    for row, (name, early) in enumerate((("before", True), ("after", False))):
        y = 16 + 76 * row
        picture.text(4, y, name, "small strong")
        x = 4.0
        for words, width, kind in steps:
            if words == "backlog" and early:
                picture.arrow(x, y + 12, x, y + 46, "l1")
                picture.text(x, y + 58, "ACK", "mid small")
            picture.box(x + 2, y + 8, width - 4, 24, kind, 2)
            picture.text(x + width / 2, y + 24, words, "mid small")
            x += width
        picture.arrow(x + 4, y + 12, x + 4, y + 46, "l1")
        picture.text(x + 4, y + 58, "ACK", "mid small")
        picture.text(x + 14, y + 24, "return", "small quiet")
    picture.text(4, 180, "one call of recvmsg(), from left to right", "small quiet")
    return picture


def prices(seeds: int = 8) -> Table:
    """What patch 19 gives, by what an ACK costs the reader's CPU."""
    rows: list[Sequence[Cell]] = []
    for price in PRICES_NS:
        scenario = Tcp517(changes={"tcp_ack_ps": price * 1000})
        for name, knobs in (("one flow as in the thread", {}), ("reads of 4 MB", {"recv_size_bytes": 4194304})):
            arms = [
                scenario.run(replications=seeds, ack_after_backlog=side, **knobs).replications for side in (0, 1)
            ]
            rate = change(*([run.metrics["gbps"] for run in arm] for arm in arms), "Gbit/s", 0.05)
            acks = [sum(run.metrics["acks_per_s"] for run in arm) / seeds for arm in arms]
            rows.append([
                f"{price:,} ns an ACK, {name}", f"{acks[0]:,.0f}", f"{acks[1]:,.0f}", f"{rate.before.mean:.1f}",
                minus(spread(rate.moved, 2, "+")),
            ])
    columns = ["price of an ACK", "ACKs a second before", "after", "Gbit/s before", "change (95 %)"]
    return Table("Patch 19 and the price of an ACK", columns, rows)
