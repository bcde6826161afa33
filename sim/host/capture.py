"""Captured packets as a stream: a pcap or pcapng file of any length, one packet at a time.

dpkt reads the formats; of a packet only what GRO, RSS and RPS look at is kept, so that ten gigabytes need no more
memory than ten kilobytes.  Lengths come from the IP header: a capture that was cut off after the headers will do.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import dpkt

PCAPNG_MAGIC: Final = b"\x0a\x0d\x0d\x0a"
#: Link layers by their number in the file: what makes IP of a frame.
LINKS: Final[dict[int, Callable[[bytes], Any]]] = {
    dpkt.pcap.DLT_EN10MB: lambda frame: dpkt.ethernet.Ethernet(frame).data,
    dpkt.pcap.DLT_LINUX_SLL: lambda frame: dpkt.sll.SLL(frame).data,
    dpkt.pcap.DLT_LINUX_SLL2: lambda frame: dpkt.sll2.SLL2(frame).data,
    dpkt.pcap.DLT_RAW: lambda frame: _ip(frame),
    dpkt.pcap.DLT_LOOP: lambda frame: dpkt.loopback.Loopback(frame).data,
    dpkt.pcap.DLT_NULL: lambda frame: dpkt.loopback.Loopback(frame).data,
}


class Damaged(ValueError):
    """A file that is no capture, or not all of one; the message names the file and the packet."""


@dataclass(frozen=True)
class Packet:
    """What the receive path looks at.

    Attributes
    ----------
    time_ns
        When it was captured.
    source, destination
        Addresses, packed.
    source_port, destination_port
        0 for what has no ports.
    protocol
        IP protocol number.
    length_bytes, payload_bytes
        Of the IP packet; of TCP's or UDP's payload.
    sequence, acknowledged, flags, options
        Of TCP; 0 and empty otherwise.
    """

    time_ns: int
    source: bytes
    destination: bytes
    source_port: int
    destination_port: int
    protocol: int
    length_bytes: int
    payload_bytes: int
    sequence: int = 0
    acknowledged: int = 0
    flags: int = 0
    options: bytes = b""

    @property
    def flow(self) -> tuple[bytes, bytes, int, int, int]:
        """What its fellows share with it."""
        return (self.source, self.destination, self.source_port, self.destination_port, self.protocol)

    @property
    def is_tcp(self) -> bool:
        """Whether GRO may merge it at all."""
        return self.protocol == socket.IPPROTO_TCP


class _Whole:
    """A file whose reads are complete or empty: dpkt takes a packet that was cut off for a short one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.name = file.name

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if 0 < len(data) < size:
            raise dpkt.dpkt.NeedData(f"got {len(data)} of {size} bytes")
        return data

    def seek(self, *where: int) -> int:
        return self._file.seek(*where)

    def tell(self) -> int:
        return self._file.tell()


@dataclass
class Skipped:
    """Frames that hold no IP packet, or a broken one: counted, so that a summary can say so."""

    frames: int = 0


def read(path: Path, skipped: Skipped | None = None) -> Iterator[Packet]:
    """The IP packets of a file, in its order.

    Raises
    ------
    Damaged
        if it is no capture, of an unknown link layer, or ends inside a packet; those before the end were yielded.
    OSError
        if it cannot be opened.
    """
    with path.open("rb") as file:
        reader = _reader(path, file)
        link = reader.datalink()
        if link not in LINKS:
            raise Damaged(f"{path}: frames of link layer {link}, which is none of {sorted(LINKS)}")
        number = 0
        stream = iter(reader)
        while True:
            try:
                time_s, frame = next(stream)
            except StopIteration:
                return
            except (dpkt.dpkt.Error, ValueError, OverflowError) as error:
                said = str(error) or type(error).__name__
                raise Damaged(f"{path}: the file ends or breaks inside packet {number + 1} ({said})") from None
            number += 1
            if not frame:
                raise Damaged(f"{path}: the file ends or breaks inside packet {number} (nothing of it is there)")
            packet = parse(round(time_s * 1_000_000_000), frame, link)
            if packet is not None:
                yield packet
            elif skipped is not None:
                skipped.frames += 1


def _reader(path: Path, file: BinaryIO) -> Any:
    magic = file.read(4)
    file.seek(0)
    whole = _Whole(file)
    try:
        return dpkt.pcapng.Reader(whole) if magic == PCAPNG_MAGIC else dpkt.pcap.Reader(whole)
    except (dpkt.dpkt.Error, ValueError) as error:
        said = str(error) or type(error).__name__
        raise Damaged(f"{path}: not a pcap or pcapng file ({said})") from None


def parse(time_ns: int, frame: bytes, link: int = dpkt.pcap.DLT_EN10MB) -> Packet | None:
    """The packet of a frame; None if it holds no IP packet, or one that is broken or a later fragment."""
    try:
        ip = LINKS[link](frame)
    except (dpkt.dpkt.Error, ValueError, IndexError, KeyError):
        return None
    if isinstance(ip, dpkt.ip.IP):
        protocol, length = ip.p, ip.len
        if ip.offset:
            return None
        header = ip.hl * 4
    elif isinstance(ip, dpkt.ip6.IP6):
        protocol, length = ip.nxt, ip.plen + 40
        header = 40
    else:
        return None
    upper = ip.data
    if isinstance(upper, dpkt.tcp.TCP):
        payload = length - header - upper.off * 4
        return Packet(
            time_ns, ip.src, ip.dst, upper.sport, upper.dport, protocol, length, max(0, payload),
            upper.seq, upper.ack, upper.flags, bytes(upper.opts),
        )
    if isinstance(upper, dpkt.udp.UDP):
        return Packet(time_ns, ip.src, ip.dst, upper.sport, upper.dport, protocol, length, max(0, length - header - 8))
    return Packet(time_ns, ip.src, ip.dst, 0, 0, protocol, length, max(0, length - header))


def _ip(frame: bytes) -> Any:
    return dpkt.ip6.IP6(frame) if frame[0] >> 4 == 6 else dpkt.ip.IP(frame)
