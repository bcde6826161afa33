"""What the page on a reader's own data shows: a stored recording, counters and a capture of the book's machine."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from book.build.places import ROOT
from book.figures.table import Table
from sim.host import capture, read
from sim.host.replay import replay
from sim.result import Result

#: Recorded on the machine of `book/measured`, while iperf3 ran between two namespaces.
FOLDER: Final = ROOT / "tests" / "sim" / "host" / "data"
KINDS: Final = {
    "softnet_stat": "softnet", "netstat": "netstat", "interrupts": "interrupts", "ethtool": "ethtool", "ss": "ss",
}
SECONDS: Final = 2.0
LIMITS: Final = (1500, 8192, 16384, 65536)
ROWS: Final = 12


def path(name: str) -> Path:
    """A stored file."""
    return FOLDER / name


def shares(profile: read.Profile, caption: str) -> Table:
    """The largest shares of a profile."""
    rows = [[name, share] for name, share in list(profile.shares().items())[:ROWS]]
    return Table(caption, ["symbol", "% of busy time"], rows, code=["symbol"])


def load() -> read.Load:
    """The counters of two moments."""
    before, after = ({k: path(f"{stem}.{when}") for k, stem in KINDS.items()} for when in ("before", "after"))
    return read.load(before, after, SECONDS)


def beside(found: read.Load, run: Result) -> Table:
    """A load and a run of the lab at its knobs."""
    rows = [
        [row["metric"], row["unit"], row["measured"], row["simulated"], row["meaning"]] for row in found.beside(run)
    ]
    columns = ["metric", "unit", "counted", "simulated", "meaning"]
    caption = "Counted on the book's machine, beside the lab at the knobs above"
    return Table(caption, columns, rows, digits=2, code=["metric"])


def merged() -> Table:
    """What GRO would have made of the stored capture, by its limit."""
    rows = []
    for limit in LIMITS:
        found = replay(capture.read(path("bulk.pcap")), gro_max_size=limit)
        rows.append([f"{limit:,}", found.packets, found.up, found.segments_per_packet, max(found.merged)])
    columns = ["gro_max_size", "on the wire", "sent up", "of the wire in each", "largest"]
    return Table("A capture of 400 packets, and what GRO would have merged", columns, rows)


def spread(queues: int = 4) -> Table:
    """Where RSS would have sent the capture's packets."""
    found = replay(capture.read(path("bulk.pcap")), queues=queues, rps_cpus=queues)
    rows = [[str(n), found.queues[n], found.cpus[n]] for n in range(queues)]
    return Table(f"The same packets over {queues} queues, or {queues} CPUs of RPS", ["number", "RSS", "RPS"], rows)
