"""When a reader sends its ACKs: what the page on patch 19 draws and tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from book.figures.effects import Change, change, minus, spread
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.result import Estimate
from sim.scenarios.tcp_5_17 import Tcp517

PRICES_NS: Final = (0, 250, 1000)
MB: Final = 1 << 20
#: Reads shorter and longer than the window, which is half of the buffer.
READS: Final[Mapping[str, Mapping[str, int]]] = {
    "512 KB, window 1.5 MB": {}, "1 MB, window 1.5 MB": {"recv_size_bytes": MB},
    "2 MB, window 1.5 MB": {"recv_size_bytes": 2 * MB}, "4 MB, window 1.5 MB": {"recv_size_bytes": 4 * MB},
    "4 MB, window 8 MB": {"recv_size_bytes": 4 * MB, "rcvbuf": 16 * MB},
}


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


@cache
def priced(price_ns: int, long: bool, seeds: int = 8) -> dict[str, Change]:
    """What patch 19 changes if an ACK costs so much, in the thread's setting or with reads of 4 MB: rate and ACKs."""
    scenario = Tcp517(changes={"tcp_ack_ps": price_ns * 1000})
    knobs = {"recv_size_bytes": 4 * MB} if long else {}
    arms = [scenario.run(replications=seeds, ack_after_backlog=side, **knobs).replications for side in (0, 1)]
    return {
        metric: change(*([run.metrics[metric] for run in arm] for arm in arms), "", 0.05)
        for metric in ("gbps", "acks_per_s")
    }


def prices() -> Table:
    """What patch 19 gives, by what an ACK costs the reader's CPU."""
    rows: list[Sequence[Cell]] = []
    for price in PRICES_NS:
        for name, long in (("one flow as in the thread", False), ("reads of 4 MB", True)):
            found = priced(price, long)
            rows.append([
                f"{price:,} ns an ACK, {name}", *(f"{arm.mean:,.0f}" for arm in _arms(found["acks_per_s"])),
                f"{found['gbps'].before.mean:.1f}", minus(spread(found["gbps"].moved, 2, "+")),
            ])
    columns = ["price of an ACK", "ACKs a second before", "after", "Gbit/s before", "change (95 %)"]
    return Table("Patch 19 and the price of an ACK", columns, rows)


@cache
def due(name: str, seeds: int = 8) -> dict[str, Change]:
    """What patch 19 changes with the kernel's rules for ACKs, under one of `READS`: rate, ACKs, those of TCP input."""
    scenario = Tcp517()
    arms = [
        scenario.run(replications=seeds, acks_due=1, ack_after_backlog=side, **READS[name]).replications
        for side in (0, 1)
    ]
    units = {m.name: m.unit for m in scenario.metrics}
    return {
        metric: change(*([run.metrics[metric] for run in arm] for arm in arms), units[metric], 0.05)
        for metric in ("gbps", "acks_per_s", "input_acks_per_s")
    }


def net() -> Table:
    """Patch 19 with the kernel's rules for ACKs, by the length of reads."""
    rows: list[Sequence[Cell]] = []
    for name in READS:
        found = due(name)
        rows.append([
            f"reads of {name}",
            *(f"{arm.mean:,.0f}" for metric in ("acks_per_s", "input_acks_per_s") for arm in _arms(found[metric])),
            f"{found['gbps'].before.mean:.1f}", minus(spread(found["gbps"].moved, 2, "+")),
        ])
    columns = [
        "setting", "ACKs a second before", "after", "of TCP input before", "after", "Gbit/s before", "change (95 %)",
    ]
    return Table("Patch 19 with ACKs that are due", columns, rows)


def _arms(found: Change) -> tuple[Estimate, Estimate]:
    return found.before, found.after


def words() -> dict[str, str]:
    """What TCP input sends in the thread's setting, how far the rate moves, and what long reads lose at which price."""
    found = due(next(iter(READS)))
    lost = [-priced(price, long=True)["gbps"].moved.mean for price in (PRICES_NS[0], PRICES_NS[-1])]
    return {
        **{f"acks-long-{name}": f"{gbps:.1f}" for name, gbps in zip(("free", "dear"), lost, strict=True)},
        "due-input-before": f"{found['input_acks_per_s'].before.mean:,.0f}",
        "due-input-after": f"{found['input_acks_per_s'].after.mean:,.0f}",
        "due-acks-before": f"{found['acks_per_s'].before.mean:,.0f}",
        "due-acks-after": f"{found['acks_per_s'].after.mean:,.0f}",
        "due-gbps-moved": minus(spread(found["gbps"].moved, 2, "+")),
    }
