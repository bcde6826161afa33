"""What the page on the discussion runs: an unlocked copy, packet sizes, and the time of the softirq's core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from book.figures import series_faults
from book.figures.effects import change, minus, spread
from book.figures.table import Cell, Table
from book.figures.verdicts import between
from sim import packing
from sim.scenarios.scenario import Scenario

_LOADS: Final = (
    ("4,096 bytes, 2.6 M a second", {"mtu": 4168, "link_gbps": 87}),
    ("4,096 bytes, as fast as it goes", {"mtu": 4168}),
    ("1,428 bytes, as fast as it goes", {"mtu": 1500}),
)


def softirq_time(scenario: Scenario, first: int = 10, replications: int = 4) -> Table:
    """The softirq CPU's time for a packet, by symbol, at the loads that the mails speak of."""
    bills: list[dict[str, float]] = []
    totals: list[float] = []
    for _, knobs in _LOADS:
        run = scenario.run(replications=replications, defer_free=1, **knobs)
        packet_ns = run.cpu["softirq"] / 100 * 1000 / run.mpps
        totals.append(packet_ns)
        bills.append({symbol: packet_ns * share / 100 for symbol, share in run.profile("softirq").items()})
    order = sorted(bills[-1], key=lambda symbol: -max(bill.get(symbol, 0.0) for bill in bills))[:first]
    rows: list[Sequence[Cell]] = [[symbol, *(bill.get(symbol, 0.0) for bill in bills)] for symbol in order]
    rest = [total - sum(bill.get(symbol, 0.0) for symbol in order) for total, bill in zip(totals, bills, strict=True)]
    rows += [["the rest", *rest], ["all", *totals]]
    columns = ["symbol", *(f"{name}, ns" for name, _ in _LOADS)]
    return Table("Softirq's time for one packet", columns, rows, code=["symbol"])


#: What TCP does for a packet that was put on the backlog, by symbol.
INPUT: Final = ("tcp_v6_do_rcv", "tcp_rcv_established", "tcp_queue_rcv", "skb_try_coalesce", "sock_def_readable")


def input_ns(scenario: Scenario, replications: int = 4) -> float:
    """TCP's input for a GRO packet on the reader's CPU, patched, at 1,428 bytes, ns."""
    run = scenario.run(replications=replications, defer_free=1, mtu=1500)
    packet_ns = 1000 * run.metrics["gro_segments"].mean / run.mpps
    profile = run.profile("reader")
    return run.cpu["reader"] / 100 * packet_ns * sum(profile.get(symbol, 0.0) for symbol in INPUT) / 100


def unlocked(seeds: int = 8) -> Table:
    """The rate if no packet ever met an owned socket, with and without patch 17."""
    right, free = series_faults.fresh(), series_faults.never_owned()
    rows: list[Sequence[Cell]] = []
    for size, mtu in (("1,428 bytes", 1500), ("4,096 bytes", 4168)):
        for words, key in (("without patch 17", 0), ("with patch 17", 1)):
            arms = [s.run(replications=seeds, mtu=mtu, defer_free=key) for s in (right, free)]
            found = change(*([r.metrics["gbps"] for r in run.replications] for run in arms), "Gbit/s", 0.05)
            rows.append([
                f"{size}, {words}", f"{found.before.mean:.1f}", f"{found.after.mean:.1f}",
                minus(spread(found.moved, 1, "+")),
                *(f"{arm.cpu['softirq']:.0f} / {arm.cpu['reader']:.0f}" for arm in arms),
            ])
    columns = ["setting", "owned while copying", "never owned", "change (95 %)", "softirq / reader, %", "never owned"]
    return Table("What if the copy let softirq in? Gbit/s", columns, rows)


#: MTUs: those of the mails, as the scenario's headers have them (72 bytes; Ahern's are of IPv4), and some between.
SIZES: Final = (1500, 2000, 3000, 3320, 3500, 3504, 4020, 4168, 4172, 9000)


def sizes(scenario: Scenario, replications: int = 4) -> Table:
    """What a full GRO packet holds at an MTU, and what the patched receiver reaches with it."""
    rows: list[Sequence[Cell]] = []
    for mtu in SIZES:
        full = packing.pack(mtu=mtu)
        run = scenario.run(replications=replications, defer_free=1, mtu=mtu, link_gbps=200)
        rows.append([
            f"{mtu:,}", f"{full.segments}", f"{full.segments * (mtu - 72):,}", f"{full.filled_pct:.1f}",
            f"{run.gbps:.1f}", between(run.metrics["gbps"].low, run.metrics["gbps"].high),
            f"{run.cpu['softirq']:.0f} / {run.cpu['reader']:.0f}",
        ])
    columns = ["MTU", "segments", "payload", "of the limit, %", "Gbit/s", "95 %", "softirq / reader, %"]
    return Table("Packet sizes with patch 17 and a link of 200 Gbit/s", columns, rows)
