"""What one run showed: numbers with units, sizes of packets, and a profile if one was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .counters import Difference

UNITS: Final = {
    "rate_gbps": "Gbit/s", "packets_per_s": "1/s", "delivered_per_s": "1/s", "lost_pct": "%",
    "segments_per_packet": "", "received_packet_bytes": "bytes", "retransmits_per_s": "1/s",
    "lookups_per_packet": "", "packets_per_softirq": "", "reader_cpu_packets_pct": "%", "softirq_ns_per_packet": "ns",
    "sender_softirq_pct": "%", "reader_softirq_pct": "%", "reader_pct": "%",
}
#: What the numbers are, for people.
MEANING: Final = {
    "rate_gbps": "bytes of IP that arrive at the device: each packet on the wire with its headers, without Ethernet's",
    "packets_per_s": "packets that arrive at the device, before GRO",
    "delivered_per_s": "packets that the reader got; of a router: that it sent on",
    "lost_pct": "arrived and not delivered",
    "segments_per_packet": "packets on the wire in one that IP saw",
    "received_packet_bytes": "bytes on the wire, counted as in rate_gbps, for a packet that IP saw",
    "retransmits_per_s": "TCP segments that were sent again",
    "lookups_per_packet": "routes found for a packet that arrives (perf counts them after the run)",
    "packets_per_softirq": "packets for each run of NET_RX",
    "reader_cpu_packets_pct": "packets that the reader's CPU took to the protocols; the rest others did",
    "softirq_ns_per_packet": "CPU time in softirqs of all kinds, all CPUs, for a packet that arrives",
    "sender_softirq_pct": "softirqs on the sender's CPU",
    "reader_softirq_pct": "softirqs on the reader's CPU",
    "reader_pct": "CPU time of the reading program; a kernel that counts by ticks adds softirqs that interrupt it",
}
#: Counters of received packets by congestion mark: unlike InReceives they count each segment that GRO merged.
SEGMENTS: Final = ("Ip6InNoECTPkts", "Ip6InECT0Pkts", "Ip6InECT1Pkts", "Ip6InCEPkts")
#: What a device's bytes are made into, and the numbers that are made of them.
BYTES_OF: Final = "IP"
IN_BYTES: Final = ("rate_gbps", "received_packet_bytes")


@dataclass(frozen=True)
class Reading:
    """One run of one arm.

    Attributes
    ----------
    numbers
        By name, in the units that `UNITS` gives.
    sizes
        How many packets of a sample had a size of up to so many bytes, by powers of two, as IP saw them.
    profiles
        Per cent of busy time by the book's symbols, for ``sender`` and ``reader``: the CPUs of the two programs.
    """

    numbers: Mapping[str, float]
    sizes: Mapping[int, int] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def common(
    between: Difference, took_s: float, sender_cpu: int, reader_cpu: int, reader_s: float, link_header_bytes: int = 0
) -> dict[str, float]:
    """The numbers that every load has, from two snapshots `took_s` apart and the reader's CPU time.

    `link_header_bytes` are those that the device counts of each packet beyond IP's.
    """
    packets = between.device("rx_packets")
    size = between.device("rx_bytes") - packets * link_header_bytes
    seen, segments = between.received("Ip6InReceives"), between.received(*SEGMENTS)
    runs = between.net_rx()
    return {
        "rate_gbps": 8e-9 * size / took_s,
        "packets_per_s": packets / took_s,
        "segments_per_packet": segments / seen if seen else 0.0,
        "received_packet_bytes": size / seen if seen else 0.0,
        "retransmits_per_s": between.sent("TcpRetransSegs") / took_s,
        "packets_per_softirq": packets / runs if runs else 0.0,
        "reader_cpu_packets_pct": between.taken(reader_cpu),
        "softirq_ns_per_packet": 1e9 * between.softirq_s() / packets if packets else 0.0,
        "sender_softirq_pct": between.share(sender_cpu, "softirq"),
        "reader_softirq_pct": between.share(reader_cpu, "softirq"),
        "reader_pct": 100 * reader_s / took_s,
    }


def by_powers(sizes: Mapping[int, int]) -> dict[int, int]:
    """Packets by the next power of two from 128 bytes on that holds their size."""
    found: dict[int, int] = {}
    for size, count in sizes.items():
        bound = max(128, 1 << (size - 1).bit_length())
        found[bound] = found.get(bound, 0) + count
    return dict(sorted(found.items()))
