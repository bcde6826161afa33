"""Small senders and readers for what no common tool does; a program of its own, run inside a namespace.

Each prints a JSON object a line: a reader one when it is ready, then its totals so far on SIGUSR1, and all of them the
totals when their time is over. Bounded by `seconds`, whatever happens. Imports nothing of the project: it starts fast.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

ETH_P_IPV6: Final = 0x86DD
SOL_PACKET, PACKET_FANOUT = 263, 18  # linux/if_packet.h
FANOUT_CPU, FANOUT_FLAG_ROLLOVER = 2, 0x1000
BURST: Final = 64  # packets between two looks at the clock
LARGEST_BYTES: Final = 65536


def _until(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


class Totals:
    """What has passed so far."""

    def __init__(self) -> None:
        self.packets = 0
        self.bytes = 0
        self.sizes: Counter[int] = Counter()

    def say(self, *_: object, **more: Any) -> None:
        """Print it; a handler of signals as well."""
        sizes = {"sizes": self.sizes} if self.sizes else {}
        print(json.dumps({"packets": self.packets, "bytes": self.bytes, **sizes, **more}), flush=True)

    def ready(self) -> None:
        """Say so, and answer SIGUSR1 from now on."""
        signal.signal(signal.SIGUSR1, self.say)
        self.say(ready=True)


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def send(options: argparse.Namespace, totals: Totals) -> None:
    """Send datagrams as fast as one thread can, from one socket for each of `flows`."""
    family = _family(options.to)
    sockets = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(options.flows)]
    for number, each in enumerate(sockets):
        each.bind(("", options.source + number))
        each.connect((options.to, options.port))
    payload = bytes(options.size)
    going = _until(options.seconds)
    while going():
        for _ in range(BURST // options.flows or 1):
            for each in sockets:
                try:
                    totals.bytes += each.send(payload)
                except (ConnectionRefusedError, BlockingIOError):
                    continue  # nobody reads yet, or no room: neither counts as sent
                totals.packets += 1


def read(options: argparse.Namespace, totals: Totals) -> None:
    """Read datagrams from one socket, connected to the sender's first port if `connect` is given."""
    sock = socket.socket(_family(options.at), socket.SOCK_DGRAM)
    sock.bind((options.at, options.port))
    if options.connect:
        sock.connect((options.connect, options.source))
    sock.settimeout(0.1)
    going = _until(options.seconds)
    totals.ready()
    while going():
        try:
            for _ in range(BURST):
                totals.bytes += len(sock.recv(LARGEST_BYTES))
                totals.packets += 1
        except TimeoutError:
            continue


def fanout(options: argparse.Namespace, totals: Totals) -> None:
    """Read one device with several packet sockets in a fanout group by CPU, with or without rollover."""
    silent = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)  # takes the packets, so that no ICMP error answers them
    silent.bind(("::", options.port))
    kind = FANOUT_CPU | (FANOUT_FLAG_ROLLOVER if options.rollover else 0)
    sockets = []
    for _ in range(options.sockets):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IPV6))
        sock.bind((options.device, 0))
        sock.setsockopt(SOL_PACKET, PACKET_FANOUT, struct.pack("I", (os.getpid() & 0xFFFF) | kind << 16))
        sock.setblocking(False)
        sockets.append(sock)
    read_only = sockets[options.idle :]  # the first ones are never read: their room fills up
    going = _until(options.seconds)
    totals.ready()
    while going():
        ready, _, _ = select.select(read_only, [], [], 0.05)
        for sock in ready:
            try:
                for _ in range(BURST):
                    totals.bytes += len(sock.recv(2048))
                    totals.packets += 1
            except BlockingIOError:
                continue


def sizes(options: argparse.Namespace, totals: Totals) -> None:
    """Count packets that arrive at a device by size, as IP sees them: after GRO, without the Ethernet header.

    It goes on for twenty times as long if few have come.
    """
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IPV6))
    sock.bind((options.device, 0))
    sock.settimeout(0.02)
    going, patient, start = _until(options.seconds), _until(20 * options.seconds), bytearray(64)
    while going() or (totals.packets < options.enough and patient()):
        try:
            size = sock.recv_into(start, 0, socket.MSG_TRUNC)  # says the whole length, copies the first bytes
        except TimeoutError:
            continue
        totals.packets += 1
        totals.bytes += size
        totals.sizes[size] += 1


def parser() -> argparse.ArgumentParser:
    """The kinds and their options."""
    top = argparse.ArgumentParser(description=__doc__)
    kinds = top.add_subparsers(required=True)

    def kind(name: str, run: Callable[[argparse.Namespace, Totals], None]) -> argparse.ArgumentParser:
        sub = kinds.add_parser(name)
        sub.set_defaults(run=run)
        sub.add_argument("--seconds", type=float, default=1.0)
        sub.add_argument("--port", type=int, default=5300)
        sub.add_argument("--source", type=int, default=5400)
        return sub

    sub = kind("send", send)
    sub.add_argument("--to", required=True)
    sub.add_argument("--size", type=int, default=64)
    sub.add_argument("--flows", type=int, default=1)
    sub = kind("read", read)
    sub.add_argument("--at", required=True)
    sub.add_argument("--connect", default="")
    sub = kind("fanout", fanout)
    sub.add_argument("--device", required=True)
    sub.add_argument("--sockets", type=int, default=2)
    sub.add_argument("--idle", type=int, default=1)
    sub.add_argument("--rollover", action="store_true")
    sub = kind("sizes", sizes)
    sub.add_argument("--device", required=True)
    sub.add_argument("--enough", type=int, default=100)
    return top


if __name__ == "__main__":
    arguments, passed = parser().parse_args(), Totals()
    arguments.run(arguments, passed)
    passed.say()
