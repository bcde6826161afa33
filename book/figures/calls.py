"""Calls through a pointer, with and without retpolines: what the page on calls draws and tries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Final

from book.figures.effects import Change, Trial, change, minus, nanoseconds, spread
from book.figures.svg import Picture
from book.figures.table import Cell, Table
from sim.result import Replication
from sim.scenarios.tcp_5_17 import Tcp517
from sim.timing import timing

#: Prices of a call through a pointer, ns: predicted; the scenario's retpoline; a dear one.
PRICES_NS: Final = (2, 12, 30)
SIZES: Final[Mapping[str, Mapping[str, int]]] = {
    "1,428 bytes": {}, "4,096 bytes": {"mtu": 4168}, "1,428 bytes, GRO off": {"gro_max_segs": 1},
}
CALLS: Final = Trial(("sock_rfree", "__release_sock"), "reader", "GRO packet")
READER: Final = Trial((), "reader", "GRO packet")
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


@cache
def saved(price_ns: int, size: str, seeds: int = 12) -> dict[str, Change]:
    """What patches 12 and 16 together change before patch 17, at a price of a call and under one of `SIZES`.

    The reader's time and that of the two functions are for a GRO packet, ns; what is merged is for a packet, %.
    """
    scenario = Tcp517(changes={"indirect_call_ps": price_ns * 1000})
    arms = [
        scenario.run(replications=seeds, defer_free=0, **SIZES[size], **dict.fromkeys(_BOTH, side)).replications
        for side in (0, 1)
    ]
    told: dict[str, Callable[[Replication], float]] = {
        "reader": lambda run: nanoseconds(run, READER),
        "calls": lambda run: nanoseconds(run, CALLS),
        "merged": lambda run: run.metrics["coalesced_per_s"] / (run.metrics["mpps"] * 1e4),
        **{name: partial(_metric, name) for name in ("gbps", "transfers_per_packet")},
    }
    return {name: change(*([of(run) for run in arm] for arm in arms), "", 1e-3) for name, of in told.items()}


@cache
def made(seeds: int = 4) -> float:
    """Calls through `sk_backlog_rcv` for a packet, before patch 17 and without GRO: what softirq merged needs none."""
    scenario = Tcp517()
    scenario.quick_ps = scenario.until_ps  # a window as long as those of the table
    program = scenario.spec.program
    at = program.address("__release_sock.next")
    at += next(k for k, one in enumerate(program.code[at:]) if one.operands == ("tcp_v6_do_rcv",))
    runs = [timing(scenario, seed, defer_free=0, **SIZES["1,428 bytes, GRO off"]) for seed in range(1, seeds + 1)]
    return sum(int(run.visits[1, at]) for run in runs) / sum(run.packets for run in runs)


def _metric(name: str, run: Replication) -> float:
    return run.metrics[name]


def prices() -> Table:
    """What patches 12 and 16 together save the reader before patch 17, by the price of a call through a pointer."""
    rows: list[Sequence[Cell]] = []
    for price in PRICES_NS:
        for size in SIZES:
            found = saved(price, size)
            rows.append([
                f"{price} ns, {size}", f"{found['reader'].before.mean:,.0f}",
                minus(spread(found["calls"].moved, 1, "+")),
                f"{found['gbps'].before.mean:.1f}", minus(spread(found["gbps"].moved, 2, "+")),
            ])
    columns = [
        "price of a call, packets", "reader's time a GRO packet, ns", "of it in the two functions, change (95 %)",
        "Gbit/s before", "change (95 %)",
    ]
    return Table("Patches 12 and 16 together, without patch 17", columns, rows)


def words() -> dict[str, str]:
    """What sentences quote: the dearest price at large packets, and packets of one segment at the scenario's price."""
    usual, dearest = PRICES_NS[1], PRICES_NS[-1]
    dear, alone = saved(dearest, "4,096 bytes"), saved(usual, "1,428 bytes, GRO off")
    reader_ns = alone["reader"].before.mean
    received, freed = made(), 1 - alone["merged"].before.mean / 100
    return {
        "calls-dear-gain": f"{100 * dear['gbps'].moved.mean / dear['gbps'].before.mean:.1f} %",
        "calls-alone-gbps": f"{alone['gbps'].before.mean:.1f}",
        "calls-alone-ns": f"{reader_ns:.0f}",
        "calls-alone-pencil": f"{100 * 2 * usual / reader_ns:.1f} %",
        "calls-alone-rcv": f"{100 * received:.0f}",
        "calls-alone-rfree": f"{100 * freed:.0f}",
        "calls-alone-made": f"{usual * (received + freed):.1f}",
        "calls-alone-saved": f"{-alone['calls'].moved.mean:.1f}",
        "calls-alone-merged": f"{alone['merged'].before.mean:.0f} %",
        "calls-alone-merged-after": f"{alone['merged'].after.mean:.0f} %",
        "calls-alone-lost": f"{-100 * alone['gbps'].moved.mean / alone['gbps'].before.mean:.1f} %",
        "calls-alone-lines": f"{alone['transfers_per_packet'].before.mean:.1f}",
        "calls-alone-lines-after": f"{alone['transfers_per_packet'].after.mean:.1f}",
    }
