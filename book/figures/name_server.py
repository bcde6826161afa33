"""Early demux on a server: one UDP socket that is not connected, fed by many CPUs, as a name server's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from book.figures.early_demux import ARMS, span
from book.figures.table import Cell, Table
from book.figures.threads import moved
from sim import machine, scenarios
from sim.path.costs import COSTS
from sim.result import Result

WARM_PS: Final = 4_000_000_000  # rings and caches of a server at this rate are full by then
UNTIL_PS: Final = 10_000_000_000

#: The scenario's knobs; a look-up costs what it does on a server's core elsewhere in the book.
KNOBS: Final = {
    "connected": 0, "uid_rules": 0, "calibrated": 0, "datagram_bytes": 100, "sources": 64, "offered_mbps": 5000,
    "softirq_packet_ns": 500, "lookup_ns": COSTS["socket_lookup_ps"].value // 1000,
}
SHORT: Final = {"as posted": "posted", "4.12, leak mended": "released"}

Arms = Mapping[str, Result]


def runs(queues: Sequence[int], cores_per_socket: int = 8, replications: int = 3) -> dict[int, Arms]:
    """Without early demux and with either form, by the number of CPUs that receive."""
    host = machine.load("cascade-lake").with_(cores_per_socket=cores_per_socket)
    scenario = scenarios.load("udpv6-early-demux", machine=host)
    scenario.warm_ps = WARM_PS
    return {
        count: {
            name: scenario.run(replications=replications, until_ps=UNTIL_PS, **{**KNOBS, "cpus": count, **arm})
            for name, arm in ARMS.items()
        }
        for count in queues
    }


def table(tried: Mapping[int, Arms]) -> Table:
    """Packet rates, and hand-overs of the line that holds the socket's reference count."""
    rows: list[list[Cell]] = []
    for count, arms in tried.items():
        without = arms["without"]
        changes = [span(moved(without, arms[name], "mpps"), 1, "+") for name in SHORT]
        lines = [run.metrics["refcnt_transfers_per_packet"].mean for run in arms.values()]
        rows.append([
            f"{count} CPUs", span(without.metrics["mpps"], 2), *changes, " / ".join(f"{moves:.1f}" for moves in lines),
        ])
    columns = ["receive", "without, Mpps", "as posted, change in %", "4.12, leak mended, change in %",
               "hand-overs of the count's line a packet: without / as posted / 4.12"]
    return Table("A server's one socket, not connected: datagrams of 100 bytes from 64 sources", columns, rows)


def words(tried: Mapping[int, Arms]) -> dict[str, str]:
    """What the chapter's sentences quote: by how much either form changes the rate, by number of CPUs."""
    return {
        f"demux-server-{count}-{short}": f"{moved(arms['without'], arms[name], 'mpps').mean:+.0f} %"
        for count, arms in tried.items() for name, short in SHORT.items()
    }
