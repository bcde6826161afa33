"""How many packets GRO packs into one, and into how many sk_buffs: arithmetic that needs no run.

GRO refuses a segment when the packet would reach the limit (``gro_max_size``), and the length that it compares counts
the headers once (net/core/gro.c of 5.17). So a packet takes as many equal segments as fit into limit - 1 bytes beside
one set of headers; `sim.path.gro` and the scenario tcp-5.17 follow the same rule. A segment's fragments go to the last
sk_buff of the chain as long as all of them find room there; otherwise the segment's own sk_buff is chained behind it.

>>> pack(mtu=1500, ip="IPv4").segments, pack(mtu=1500, ip="IPv4").length_bytes
(45, 65212)
>>> pack(mtu=1500, ip="IPv6").sk_buffs
(17, 17, 11)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

#: Bytes of the IP header, by version.
IP_HEADER_BYTES: Final = {"IPv4": 20, "IPv6": 40}
TCP_HEADER_BYTES: Final = 20
TIMESTAMP_BYTES: Final = 12  # the option with its padding
PAGE_BYTES: Final = 4096

#: Allowed settings: least and most.
MTU: Final = (1280, 9000)
#: Without BIG TCP, GRO refuses a segment with which a packet would reach this length (GRO_MAX_SIZE of 5.17).
GRO_LIMIT_BYTES: Final = 65_536
GRO_MAX_SIZE: Final = (16384, 524280)  # the limit's top since 5.19; the floor is the book's
MAX_SKB_FRAGS: Final = (17, 45)  # since 6.4; 17 before


@dataclass(frozen=True)
class Packing:
    """A full GRO packet.

    Attributes
    ----------
    headers_bytes, payload_bytes
        Headers of the packet, and payload of one segment.
    segments
        Packets from the wire that it holds.
    data_bytes, length_bytes
        Payload of all segments; with the headers, which is what GRO compares with the limit.
    spare_bytes
        What the limit would still have let in: less than a segment.
    fragments_per_segment, sk_buffs
        Pages that hold a segment's payload; segments in each sk_buff of the chain.
    """

    headers_bytes: int
    payload_bytes: int
    segments: int
    data_bytes: int
    length_bytes: int
    spare_bytes: int
    fragments_per_segment: int
    sk_buffs: tuple[int, ...]

    @property
    def fragments(self) -> int:
        """Page references that whoever frees the packet must drop."""
        return self.segments * self.fragments_per_segment

    @property
    def filled_pct(self) -> float:
        """Length as a share of the largest that the limit allows, percent."""
        return 100 * self.length_bytes / (self.length_bytes + self.spare_bytes)


def headers_bytes(ip: str, timestamps: int) -> int:
    """IP and TCP headers of a packet. Raises ValueError for a version that is none."""
    if ip not in IP_HEADER_BYTES:
        raise ValueError(f"ip is one of {', '.join(IP_HEADER_BYTES)}, not {ip!r}")
    return IP_HEADER_BYTES[ip] + TCP_HEADER_BYTES + (TIMESTAMP_BYTES if timestamps else 0)


def pack(
    mtu: int = 1500, ip: str = "IPv6", timestamps: int = 1, gro_max_size: int = GRO_LIMIT_BYTES, max_skb_frags: int = 17
) -> Packing:
    """Fill a GRO packet with segments of one size.

    Parameters
    ----------
    mtu
        Length of an IP packet on the wire, bytes.
    ip
        ``IPv4`` or ``IPv6``.
    timestamps
        1 if TCP sends time stamps.
    gro_max_size
        GRO's limit in bytes (``gro_ipv4_max_size`` for IPv4 since 6.3).
    max_skb_frags
        Fragments of one sk_buff.

    Raises
    ------
    ValueError
        For a setting out of range, with the range.
    """
    for name, value, (low, high) in (
        ("mtu", mtu, MTU), ("gro_max_size", gro_max_size, GRO_MAX_SIZE), ("max_skb_frags", max_skb_frags, MAX_SKB_FRAGS)
    ):
        if not low <= value <= high:
            raise ValueError(f"{name} is from {low:,} to {high:,}, not {value:,}")
    headers = headers_bytes(ip, timestamps)
    payload = mtu - headers
    room = gro_max_size - 1 - headers
    segments = max(1, room // payload)
    fragments = -(-payload // PAGE_BYTES)
    each = max_skb_frags // fragments  # segments whose fragments all find room in one sk_buff
    full, rest = divmod(segments, each)
    return Packing(
        headers, payload, segments, segments * payload, segments * payload + headers, room - segments * payload,
        fragments, (each,) * full + ((rest,) if rest else ()),
    )


def sweet_spots(ip: str = "IPv6", timestamps: int = 1, gro_max_size: int = GRO_LIMIT_BYTES) -> list[tuple[int, int]]:
    """MTUs that waste least: for each number of segments the largest MTU at which so many fit, largest MTU first.

    Returns
    -------
    list of (segments, mtu)
        Only MTUs of the allowed range.
    """
    headers = headers_bytes(ip, timestamps)
    room = gro_max_size - 1 - headers
    spots = [(n, room // n + headers) for n in range(1, room // (MTU[0] - headers) + 1)]
    return [(n, mtu) for n, mtu in spots if MTU[0] <= mtu <= MTU[1] and room // (mtu - headers) == n]


@dataclass(frozen=True)
class Stated:
    """What a message of the 5.17 thread says of a packet: the setting, segments, and bytes if it gives them.

    `what` names the field of `Packing` that the bytes are.
    """

    label: str
    mtu: int
    ip: str
    gro_max_size: int
    segments: int
    bytes: int
    what: str
    source: str
    url: str


_AHERN: Final = (
    "David Ahern, 16 November 2021", "https://lore.kernel.org/netdev/c0ad5909-85ba-3c15-ba5f-c5e257069f8b@gmail.com/"
)
_DUMAZET: Final = (
    "Eric Dumazet, 16 November 2021",
    "https://lore.kernel.org/netdev/CANn89iJz5ExMC6zGwYWQnJDehWsNwfF4xy2T9tiWodM99FnVyA@mail.gmail.com/",
)
#: 184,393 is the least limit that lets 45 segments of 4,096 bytes in; the message does not name the limit.
STATED: Final = (
    Stated("MTU 1500", 1500, "IPv4", 65536, 45, 65212, "length_bytes", *_AHERN),
    Stated("MTU 4000", 4000, "IPv4", 65536, 16, 63220, "length_bytes", *_AHERN),
    Stated("MTU 3300", 3300, "IPv4", 65536, 20, 65012, "length_bytes", *_AHERN),
    Stated("4,096 bytes and headers", 4168, "IPv6", 65536, 15, 61440, "data_bytes", *_DUMAZET),
    Stated("the same, BIG TCP", 4168, "IPv6", 184393, 45, 184320, "data_bytes", *_DUMAZET),
)


def page_data() -> dict[str, Any]:
    """What a page needs to do the same arithmetic: sizes, ranges, and what the thread states, as JSON values."""
    return {
        "ip": dict(IP_HEADER_BYTES), "tcp": TCP_HEADER_BYTES, "timestamps": TIMESTAMP_BYTES, "page": PAGE_BYTES,
        "mtu": list(MTU), "gro_max_size": list(GRO_MAX_SIZE), "max_skb_frags": list(MAX_SKB_FRAGS),
        "stated": [asdict(row) for row in STATED],
    }
