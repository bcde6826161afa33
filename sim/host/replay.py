"""What GRO would have merged of a capture, and where RSS and RPS would have sent its packets.

A capture says when packets came, not when they were polled.  Two assumptions stand in, and a summary states them: a
poll ends when no packet came for `poll_gap_us`, or after the budget of 64.  A poll that ended early sends up all that
GRO holds.  One that used its budget does the same in a kernel with HZ below 1,000, and with HZ 1,000 sends up only what
began in an earlier jiffy (`__napi_poll`).  Rules of `dev_gro_receive` and `tcp_gro_receive` (Linux 5.17):

- buckets of eight flows each, the oldest goes up when a ninth comes;
- the next segment continues the sequence, carries the same acknowledgement, flags (PSH and FIN aside) and options;
- it is no longer than the first; a shorter one, PSH, URG, RST, SYN or FIN is the last that is merged, or is not at all;
- the packet stays below the limit.

Every packet of the capture is taken for one of the wire.  It is not where the tap stands behind what merges or before
what cuts: on a receiver with GRO or LRO, on a sender with TSO or GSO.  Capture with those two switched off on that
host.  Packets longer than the MTU tell that they were not (`Summary.longer`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from . import toeplitz
from .capture import Packet

BUDGET: Final = 64  # NAPI_POLL_WEIGHT
BUCKETS: Final = 8  # GRO_HASH_BUCKETS
IN_BUCKET: Final = 8  # MAX_GRO_SKBS
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << n for n in range(8))
NEVER: Final = SYN | RST | URG | CWR  # not merged at all
LAST: Final = PSH | FIN  # merged, and then the packet goes up


@dataclass
class Held:
    """A packet that GRO is filling."""

    first: Packet
    next_sequence: int
    length_bytes: int
    segments: int = 1
    last: Packet | None = None

    def takes(self, packet: Packet, limit_bytes: int) -> bool:
        """Whether a segment of the same flow continues it."""
        return (
            packet.sequence == self.next_sequence
            and packet.acknowledged == self.first.acknowledged
            and packet.options == self.first.options
            and not (packet.flags ^ self.first.flags) & ~LAST
            and packet.payload_bytes <= self.first.payload_bytes
            and self.length_bytes + packet.payload_bytes < limit_bytes
        )

    def merge(self, packet: Packet) -> None:
        """Append it."""
        self.next_sequence = (self.next_sequence + packet.payload_bytes) & 0xFFFFFFFF
        self.length_bytes += packet.payload_bytes
        self.segments += 1
        self.last = packet


@dataclass
class Gro:
    """GRO of one receive queue. `up` is called by its owner with each packet that goes to IP."""

    limit_bytes: int
    buckets: list[list[Held]] = field(default_factory=lambda: [[] for _ in range(BUCKETS)])

    def receive(self, packet: Packet, hash_: int) -> Iterator[Held]:
        """Take a packet from the wire; yields what goes up because of it."""
        bucket = self.buckets[hash_ % BUCKETS]
        held = next((h for h in bucket if h.first.flow == packet.flow), None)
        plain = packet.is_tcp and packet.payload_bytes and packet.flags & ACK and not packet.flags & NEVER
        if held is not None and not (plain and held.takes(packet, self.limit_bytes)):
            bucket.remove(held)
            yield held
            held = None
        if not plain:
            yield Held(packet, 0, packet.length_bytes)
            return
        if held is None:
            if len(bucket) == IN_BUCKET:
                yield bucket.pop(0)
            held = Held(packet, (packet.sequence + packet.payload_bytes) & 0xFFFFFFFF, packet.length_bytes)
            bucket.append(held)
        else:
            held.merge(packet)
        if packet.flags & LAST or packet.payload_bytes < held.first.payload_bytes:
            bucket.remove(held)
            yield held

    def flush(self, begun_before_ns: int | None = None) -> Iterator[Held]:
        """The end of a poll: everything goes up, or only what began before a moment."""
        for bucket in self.buckets:
            kept = [h for h in bucket if begun_before_ns is not None and h.first.time_ns >= begun_before_ns]
            yield from bucket[: len(bucket) - len(kept)]  # the oldest stand first
            bucket[:] = kept


@dataclass
class Summary:
    """What became of a capture.

    Attributes
    ----------
    packets, bytes, tcp
        On the wire; bytes of IP.
    merged
        How many packets went up with so many segments.
    polls
        How many polls took so many packets.
    queues, cpus
        Packets of each receive queue, and of each CPU of RPS's mask.
    flows
        Flows that were seen, up to `MOST_FLOWS`.
    mtu, longer, longest_bytes
        The MTU; how many packets are longer and so were never on the wire; the longest packet.
    """

    mtu: int = 1500
    packets: int = 0
    bytes: int = 0
    tcp: int = 0
    first_ns: int = 0
    last_ns: int = 0
    merged: Counter[int] = field(default_factory=Counter)
    polls: Counter[int] = field(default_factory=Counter)
    queues: Counter[int] = field(default_factory=Counter)
    cpus: Counter[int] = field(default_factory=Counter)
    flows: set[tuple[Any, ...]] = field(default_factory=set)
    longer: int = 0
    longest_bytes: int = 0

    @property
    def warning(self) -> str:
        """What is wrong with the capture, or nothing."""
        if not self.longer:
            return ""
        return (
            f"{self.longer:,} of {self.packets:,} packets are longer than an MTU of {self.mtu:,} allows (up to "
            f"{self.longest_bytes:,} bytes): they were captured merged, or before they were cut, and the numbers are "
            "not those of the wire. Capture on the receiver with GRO and LRO off, or on the sender with TSO and GSO "
            "off; if the MTU is larger, name it with --mtu"
        )

    @property
    def up(self) -> int:
        """Packets that went to IP."""
        return self.merged.total()

    @property
    def segments_per_packet(self) -> float:
        """How many packets of the wire one of them was."""
        return self.packets / self.up if self.up else 0.0

    @property
    def mpps(self) -> float:
        """Packets on the wire, per microsecond."""
        took_ns = self.last_ns - self.first_ns
        return 1000 * self.packets / took_ns if took_ns else 0.0

    def to_dict(self) -> dict[str, Any]:
        """JSON values; counts by number."""
        return {
            "packets": self.packets, "bytes": self.bytes, "tcp": self.tcp, "flows": len(self.flows),
            "up": self.up, "segments_per_packet": self.segments_per_packet, "mpps": self.mpps,
            "merged": dict(sorted(self.merged.items())), "polls": dict(sorted(self.polls.items())),
            "queues": dict(sorted(self.queues.items())), "cpus": dict(sorted(self.cpus.items())),
            "mtu": self.mtu, "longer": self.longer, "longest_bytes": self.longest_bytes,
        }


MOST_FLOWS: Final = 100_000
KEEPS_FROM_HZ: Final = 1000  # a kernel with a slower tick keeps nothing beyond a poll
FASTEST_HZ: Final = 1000
MTU: Final = (68, 65_536)  # the least of IPv4 (RFC 791), and Linux's on the loopback device


def replay(
    packets: Iterable[Packet], gro_max_size: int = 65536, queues: int = 1, rps_cpus: int = 1, poll_gap_us: float = 20.0,
    key: bytes = toeplitz.MICROSOFT_KEY, budget: int = BUDGET, hz: int = KEEPS_FROM_HZ,
    mtu: int = 1500,
) -> Summary:
    """Send packets through RSS, NAPI's polls, GRO and RPS; in one pass and constant memory.

    `hz` is the kernel's tick, ``CONFIG_HZ``. `mtu` changes nothing but which packets count as longer.

    Raises
    ------
    ValueError
        for a setting that no card or kernel has.
    """
    if not 1 <= queues <= toeplitz.TABLE_ENTRIES:
        raise ValueError(f"{queues} queues: 1 to {toeplitz.TABLE_ENTRIES}")
    if not 1 <= rps_cpus <= 1024:
        raise ValueError(f"{rps_cpus} CPUs of RPS: 1 to 1024")
    if not 1 <= gro_max_size <= 524_280:
        raise ValueError(f"gro_max_size {gro_max_size}: 1 to 524,280")
    if not poll_gap_us > 0:
        raise ValueError(f"poll_gap_us {poll_gap_us:g}: more than 0")
    if not 1 <= hz <= FASTEST_HZ:
        raise ValueError(f"hz {hz}: 1 to {FASTEST_HZ:,}")
    if not MTU[0] <= mtu <= MTU[1]:
        raise ValueError(f"mtu {mtu}: {MTU[0]} to {MTU[1]:,}")
    out = Summary(mtu)
    gro = [Gro(gro_max_size) for _ in range(queues)]
    polled = [0] * queues
    last_ns = [0] * queues
    hashes: dict[tuple[bytes, bytes, int, int, int], int] = {}

    def went_up(held: Iterable[Held]) -> None:
        for each in held:
            out.merged[each.segments] += 1

    for packet in packets:
        if packet.flow not in hashes:
            if len(hashes) == MOST_FLOWS:
                hashes.clear()
            data = toeplitz.flow_input(packet.source, packet.destination, packet.source_port, packet.destination_port)
            hashes[packet.flow] = toeplitz.toeplitz(key, data)
        hash_ = hashes[packet.flow]
        at = toeplitz.queue(hash_, queues)
        if polled[at] and packet.time_ns - last_ns[at] > poll_gap_us * 1000:
            out.polls[polled[at]] += 1
            polled[at] = 0
            went_up(gro[at].flush())
        went_up(gro[at].receive(packet, hash_))
        polled[at] += 1
        if polled[at] == budget:
            out.polls[budget] += 1
            polled[at] = 0
            jiffy_ns = packet.time_ns * hz // 10**9 * 10**9 // hz
            went_up(gro[at].flush(jiffy_ns if hz >= KEEPS_FROM_HZ else None))
        last_ns[at] = packet.time_ns
        out.first_ns = out.first_ns or packet.time_ns
        out.last_ns = packet.time_ns
        out.packets += 1
        out.bytes += packet.length_bytes
        out.tcp += packet.is_tcp
        out.longer += packet.length_bytes > mtu
        out.longest_bytes = max(out.longest_bytes, packet.length_bytes)
        out.queues[at] += 1
        out.cpus[toeplitz.rps_cpu(hash_, rps_cpus)] += 1
        if len(out.flows) < MOST_FLOWS:
            out.flows.add(packet.flow)
    for at in range(queues):
        if polled[at]:
            out.polls[polled[at]] += 1
        went_up(gro[at].flush())
    return out
