"""Calls through a pointer, with and without retpolines: what the page on calls draws and tries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from book.figures.effects import change, minus, spread
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.scenarios.tcp_5_17 import Tcp517

#: Prices of a call through a pointer, ns: predicted; the scenario's retpoline; a dear one.
PRICES_NS: Final = (2, 12, 30)
_BOTH: Final = ("direct_backlog_call", "direct_rfree")

_WAYS: Final = (
    ("by name", (("jump to a known address", "c2", 64),)),
    ("through a pointer, guessed", (("load", "c3", 42), ("go on where the last call went", "c2", 190))),
    ("through a pointer, with a retpoline", (("load", "c3", 42), ("guess caught in a loop", "c1", 156),
                                             ("return to it", "c3", 100))),
    ("compared, then by name", (("load", "c3", 42), ("compare", "c3", 70), ("jump to a known address", "c2", 160))),
)


def ways() -> Picture:
    """Four ways to call a function, as what a processor does one after the other."""
    picture = Picture(
        20 + 50 * len(_WAYS),
        "A retpoline makes every call through a pointer wait for a guess that is thrown away; comparing the "
        "pointer with a known address and calling by name lets the processor go on at once.",
    )
    for row, (name, steps) in enumerate(_WAYS):
        y = 16 + 50 * row
        picture.text(4, y, name, "small strong")
        x = 4.0
        for words, colour, width in steps:
            width = max(width, 12 + 6.2 * len(words))
            picture.box(x, y + 6, width, 22, "warm" if colour == "c1" else "wash" if colour == "c2" else "box", 2)
            picture.text(x + 6, y + 21, words, "small")
            x += width + 3
    return picture


def prices(seeds: int = 12) -> Table:
    """What patches 12 and 16 together save the reader before patch 17, by the price of a call through a pointer."""
    rows: list[Sequence[Cell]] = []
    for price in PRICES_NS:
        scenario = Tcp517(changes={"indirect_call_ps": price * 1000})
        for name, mtu in (("1,428 bytes", 1500), ("4,096 bytes", 4168)):
            arms = [
                scenario.run(replications=seeds, defer_free=0, mtu=mtu, **dict.fromkeys(_BOTH, side))
                .replications for side in (0, 1)
            ]
            rate = change(*([run.metrics["gbps"] for run in arm] for arm in arms), "Gbit/s", 0.05)
            busy = change(
                *([run.cpu["reader"] * 1e7 * run.metrics["gro_segments"] / (run.metrics["mpps"] * 1e6) for run in arm]
                  for arm in arms),
                "ns", 0.1,
            )
            rows.append([
                f"{price} ns, {name} a packet", f"{busy.before.mean:,.0f}", minus(spread(busy.moved, 0, "+")),
                minus(spread(rate.moved, 2, "+")),
            ])
    columns = ["price of a call", "reader's time a GRO packet, ns", "change, ns (95 %)", "Gbit/s, change (95 %)"]
    return Table("Patches 12 and 16 together, without patch 17", columns, rows)
