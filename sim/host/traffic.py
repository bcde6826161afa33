"""Small senders and readers for what no common tool does; run inside a namespace as ``python -m sim.host.traffic``.

Each prints one JSON object when its time is over, and nothing else. Bounded by `seconds`, whatever happens.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any, Final

ETH_P_ALL: Final = 3
SOL_PACKET, PACKET_FANOUT = 263, 18  # linux/if_packet.h
FANOUT_CPU, FANOUT_FLAG_ROLLOVER = 2, 0x1000
BURST: Final = 64  # packets between two looks at the clock


def _until(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def _result(packets: int, size_bytes: int, began: float, **more: Any) -> dict[str, Any]:
    times = os.times()
    spent_s = time.monotonic() - began
    return {
        "packets": packets, "bytes": size_bytes, "seconds": spent_s, "cpu_s": times.user + times.system, **more,
    }


def send(options: argparse.Namespace) -> dict[str, Any]:
    """Send datagrams as fast as one thread can, from one socket for each of `flows`."""
    family = socket.AF_INET6 if ":" in options.to else socket.AF_INET
    sockets = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(options.flows)]
    for number, each in enumerate(sockets):
        each.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", options.source + number))
        each.connect((options.to, options.port))
    payload = bytes(options.size)
    going, began, packets = _until(options.seconds), time.monotonic(), 0
    while going():
        for _ in range(BURST // options.flows or 1):
            for each in sockets:
                try:
                    each.send(payload)
                except (ConnectionRefusedError, BlockingIOError):
                    continue  # nobody reads yet, or no room: neither counts as sent
                packets += 1
    return _result(packets, packets * options.size, began)


def read(options: argparse.Namespace) -> dict[str, Any]:
    """Read datagrams from one socket, connected to the sender's first port if `connect` is given."""
    family = socket.AF_INET6 if ":" in options.at else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.bind((options.at, options.port))
    if options.connect:
        sock.connect((options.connect, options.source))
    sock.settimeout(0.1)
    going, began, packets, size = _until(options.seconds), time.monotonic(), 0, 0
    while going():
        try:
            for _ in range(BURST):
                size += len(sock.recv(65536))
                packets += 1
        except TimeoutError:
            continue
    return _result(packets, size, began)


def fanout(options: argparse.Namespace) -> dict[str, Any]:
    """Read one device with several packet sockets in a fanout group by CPU, with or without rollover."""
    kind = FANOUT_CPU | (FANOUT_FLAG_ROLLOVER if options.rollover else 0)
    sockets = []
    for _ in range(options.sockets):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        sock.bind((options.device, 0))
        sock.setsockopt(SOL_PACKET, PACKET_FANOUT, struct.pack("I", (os.getpid() & 0xFFFF) | kind << 16))
        sock.setblocking(False)
        sockets.append(sock)
    read_only = sockets[options.idle :]  # the first ones are never read: their room fills up
    going, began, packets, size = _until(options.seconds), time.monotonic(), 0, 0
    while going():
        ready, _, _ = select.select(read_only, [], [], 0.05)
        for sock in ready:
            try:
                for _ in range(BURST):
                    size += len(sock.recv(2048))
                    packets += 1
            except BlockingIOError:
                continue
    return _result(packets, size, began)


def parser() -> argparse.ArgumentParser:
    """The three kinds and their options."""
    top = argparse.ArgumentParser(prog="python -m sim.host.traffic", description=__doc__)
    kinds = top.add_subparsers(required=True)

    def kind(name: str, run: Callable[[argparse.Namespace], dict[str, Any]]) -> argparse.ArgumentParser:
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
    return top


if __name__ == "__main__":
    arguments = parser().parse_args()
    json.dump(arguments.run(arguments), sys.stdout)
