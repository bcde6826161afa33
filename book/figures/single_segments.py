"""The 5.17 series on packets of one segment, GRO off: its loss patch by patch, and two runs that tell why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from book.figures.effects import minus, spread
from book.figures.series import KEYS, keys
from book.figures.table import Cell, Table
from book.figures.threads import moved
from sim import scenarios, structs
from sim.placement import Placed
from sim.result import Result
from sim.scenarios.tcp_5_17 import Tcp517

#: As many whole runs as the opening of the part has in its table, so that equal rows are equal.
SEEDS: Final = 4
#: Patches that are on, alone and together.
TOGETHER: Final[Mapping[str, Sequence[int]]] = {
    "none": (), "5, 6, 8": (5, 6, 8), "17": (17,), "19": (19,), "20": (20,), "17, 20": (17, 20),
    "17, 19, 20": (17, 19, 20), "11, 17, 19, 20": (11, 17, 19, 20), "all": list(KEYS),
}
#: The halves of patch 17: fields that a list head pushes without anybody using it, and a list that pushes nothing.
HALVES: Final = {"17, its list head alone": (0, True), "17, its code alone": (1, False)}
#: Of an ACK: for nothing, as assumed, dear.
PRICES_NS: Final = (0, 250, 1000)


def _run(scenario: Any, numbers: Sequence[int], **knobs: int) -> Result:
    result: Result = scenario.run(replications=SEEDS, **{**keys(numbers), "gro_max_segs": 1, **knobs})
    return result


@cache
def parts() -> dict[str, Result]:
    """Runs with some patches on, and with each half of patch 17."""
    scenario, placed = scenarios.load("tcp-5.17"), Placed(Tcp517(), "sock")
    runs = {name: _run(scenario, numbers) for name, numbers in TOGETHER.items()}
    line = structs.sock(defer_free=True).line("defer_list")
    for name, (used, there) in HALVES.items():
        lines = {**placed.lines(structs.sock(defer_free=there)), "sock.defer_list": line}
        runs[name] = _run(placed, (), defer_free=used, **lines)
    return runs


def merged(run: Result) -> float:
    """Of 100 packets, how many were merged into one that was already queued."""
    return 100 * run.metrics["coalesced_per_s"].mean / (run.metrics["mpps"].mean * 1e6)


def table() -> Table:
    """Rate, lines and merged packets with some patches on; the halves of patch 17 stand behind it."""
    runs = parts()
    order = list(TOGETHER)
    order[order.index("17") + 1 : order.index("17") + 1] = HALVES
    rows: list[Sequence[Cell]] = []
    for name in order:
        run = runs[name]
        rows.append([
            name, f"{run.gbps:.2f}", "–" if name == "none" else _percent(runs["none"], run),
            f"{run.transfers_per_packet:.1f}", f"{merged(run):.0f}",
        ])
    columns = ["patches", "Gbit/s", "change, % (95 %)", "lines handed over, a packet", "merged, of 100 packets"]
    return Table("GRO off, 1,428 bytes a packet: the series taken apart", columns, rows)


def _percent(before: Result, after: Result) -> str:
    return minus(spread(moved(before, after, "gbps"), 1, "+"))


def words() -> dict[str, str]:
    """What sentences quote: what softirq frees, and the rate by what an ACK costs, without and with patch 19."""
    quoted = {"off-freed": f"{parts()['17'].metrics['freed_by_softirq'].mean:.1f}"}
    for price in PRICES_NS:
        scenario = Tcp517(changes={"tcp_ack_ps": price * 1000})
        for side, numbers in (("", ()), ("-19", (19,))):
            quoted[f"off-ack-{price}{side}"] = f"{_run(scenario, numbers).gbps:.1f}"
    return quoted
