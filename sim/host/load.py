"""One run of one arm: hosts are made, set up, loaded, counted, and gone again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from . import child, counters
from .namespace import Namespace
from .wire import End, cable

PORT: Final = 5201
ARRIVES_S: Final = 5.0
WARM_S: Final = 0.3  # TCP's window opens in less
ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Setup:
    """An arm's switches. The names of kernel switches stay; the rest is the book's.

    Attributes
    ----------
    load
        ``tcp`` (bulk), ``tcp_small`` (64-byte writes), ``udp`` (one flood into one socket), ``forward`` (UDP through
        a third host) or ``fanout`` (packet sockets).
    flows
        Streams or source ports.
    sender_cpu, reader_cpu
        CPUs that the two programs are bound to. With virtual Ethernet the softirq runs on the sender's.
    rps_cpus
        CPUs that RPS spreads arriving packets over.
    segmentation
        The sender hands packets of up to 64 KB to the wire, as to a NIC that cuts them itself.
    """

    load: str = "tcp"
    flows: int = 1
    mtu: int = 1500
    gro: bool = True
    gro_max_size: int = 65536
    segmentation: bool = False
    rps_cpus: tuple[int, ...] = ()
    tcp_early_demux: bool = True
    udp_early_demux: bool = True
    connected: bool = False
    rollover: bool = True
    sender_cpu: int = 0
    reader_cpu: int = 1
    message_bytes: int = 64

    def with_(self, **changes: Any) -> Setup:
        """The same with some switches moved."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Reading:
    """What one run showed: numbers by name, in the units that `UNITS` gives."""

    numbers: dict[str, float] = field(default_factory=dict)


UNITS: Final = {
    "rate_gbps": "Gbit/s", "packets_per_s": "1/s", "received_packet_bytes": "bytes", "sender_softirq_pct": "%",
    "reader_softirq_pct": "%", "reader_pct": "%", "retransmits_per_s": "1/s", "lost_pct": "%", "demux_per_packet": "",
}


@contextmanager
def hosts(setup: Setup) -> Iterator[tuple[End, End, End]]:
    """Sender's end, the end that packets arrive at, and the reader's own end (another one if a router is between)."""
    with ExitStack() as stack:
        sender, receiver = (stack.enter_context(Namespace(name)) for name in ("sender", "receiver"))
        if setup.load != "forward":
            near, far = stack.enter_context(cable(sender, receiver))
            ends, arrival = [near, far], far
        else:
            router = stack.enter_context(Namespace("router"))
            near, arrival = stack.enter_context(cable(sender, router, 1))
            out, far = stack.enter_context(cable(router, receiver, 2))
            ends = [near, arrival, out, far]
            for name in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
                router.sysctl(name, 1)
            sender.run("ip", "route", "add", "default", "via", arrival.v4)
            sender.run("ip", "-6", "route", "add", "default", "via", arrival.v6)
            receiver.run("ip", "route", "add", "default", "via", out.v4)
            receiver.run("ip", "-6", "route", "add", "default", "via", out.v6)
        for end in ends:
            end.mtu(setup.mtu)
        near.segmentation(setup.segmentation)
        arrival.offload(gro=setup.gro)
        if setup.gro_max_size != 65536:
            near.limit(gso_max_size=setup.gro_max_size)
            arrival.limit(gro_max_size=setup.gro_max_size)
        arrival.rps(list(setup.rps_cpus))
        arrival.host.sysctl("net.ipv4.tcp_early_demux", int(setup.tcp_early_demux))
        arrival.host.sysctl("net.ipv4.udp_early_demux", int(setup.udp_early_demux))
        yield near, arrival, far


def run(setup: Setup, seconds: float = 1.0) -> Reading:
    """One run. Raises `child.Failed` if a program or a switch of the kernel refuses."""
    with hosts(setup) as (near, arrival, far):
        return _iperf3(setup, seconds, near, far) if setup.load.startswith("tcp") else _own(
            setup, seconds, near, arrival, far
        )


def _iperf3(setup: Setup, seconds: float, near: End, far: End) -> Reading:
    server = far.host.start("iperf3", "-s", "-1", "-J", "-p", str(PORT), cpu=setup.reader_cpu)
    try:
        far.host.listens(PORT)
        small = ("-l", str(setup.message_bytes), "-N") if setup.load == "tcp_small" else ()
        client = near.host.start(
            "iperf3", "-c", far.v6, "-p", str(PORT), "-t", str(int(seconds + WARM_S) + 2), "-P", str(setup.flows), "-J",
            *small, cpu=setup.sender_cpu,
        )
        try:
            time.sleep(WARM_S)
            return _counted(setup, seconds, near, far, server, client, None)
        finally:
            child.stop(client)
    finally:
        child.stop(server)


def _arrives(end: End) -> None:
    """Return when packets come in at an end; raises `child.Failed` if none does in time."""
    first, until = counters.device(end)["rx_packets"], time.monotonic() + ARRIVES_S
    while counters.device(end)["rx_packets"] < first + 100:
        if time.monotonic() > until:
            raise child.Failed(f"no packets reach the {end.host.name} after {ARRIVES_S:g} s")
        time.sleep(0.02)


def _python(*arguments: str) -> list[str]:
    return ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "sim.host.traffic", *arguments]


def _own(setup: Setup, seconds: float, near: End, arrival: End, far: End) -> Reading:
    whole = str(seconds + WARM_S + 3)
    if setup.load == "fanout":
        words = ["fanout", "--device", far.device, "--seconds", whole, *(["--rollover"] if setup.rollover else [])]
    else:
        words = ["read", "--at", far.v6, "--seconds", whole, *(["--connect", near.v6] if setup.connected else [])]
    reader = far.host.start(*_python(*words), cpu=setup.reader_cpu)
    try:
        if setup.load == "fanout":
            time.sleep(WARM_S)
        else:
            far.host.listens(5300, udp=True)
        sender = near.host.start(
            *_python("send", "--to", far.v6, "--size", str(setup.message_bytes), "--flows", str(setup.flows),
                     "--seconds", whole),
            cpu=setup.sender_cpu,
        )
        try:
            _arrives(far)
            time.sleep(WARM_S)
            return _counted(setup, seconds, near, arrival, reader, sender, far)
        finally:
            child.stop(sender)
    finally:
        child.stop(reader)


def _counted(
    setup: Setup, seconds: float, near: End, arrival: End, reader: subprocess.Popen[str],
    sender: subprocess.Popen[str], behind: End | None,
) -> Reading:
    """Two snapshots and what lies between them; raises `child.Failed` if a program ended before the second."""
    first, reader_first, began = counters.Snapshot.take(near, arrival), _group_s(reader), time.monotonic()
    got_first = counters.device(behind) if behind else None
    time.sleep(seconds)
    last, reader_last, took_s = counters.Snapshot.take(near, arrival), _group_s(reader), time.monotonic() - began
    got_last = counters.device(behind) if behind else None
    for what, process in (("the sender", sender), ("the reader", reader)):
        if process.poll() is not None:
            _, err = process.communicate()
            raise child.Failed(f"{what} ended early: {(err.strip().splitlines() or ['it said nothing'])[-1]}")
    between = counters.Difference(first, last)
    packets = between.device("rx_packets")
    after_gro = between.received("Ip6InReceives", "IpInReceives", "IpExtInReceives")
    size = between.device("rx_bytes")
    numbers = {
        "rate_gbps": 8e-9 * size / took_s,
        "packets_per_s": packets / took_s,
        "received_packet_bytes": size / after_gro if after_gro else 0.0,
        "sender_softirq_pct": between.share(setup.sender_cpu, "softirq", "irq"),
        "reader_softirq_pct": between.share(setup.reader_cpu, "softirq", "irq"),
        "reader_pct": 100 * (reader_last - reader_first) / took_s,
        "retransmits_per_s": between.sent("TcpRetransSegs") / took_s,
    }
    if got_first and got_last and packets:
        numbers["lost_pct"] = 100 * max(0.0, 1 - (got_last["rx_packets"] - got_first["rx_packets"]) / packets)
    if setup.load == "udp" and packets:
        numbers["lost_pct"] = 100 * between.received("Udp6RcvbufErrors", "UdpRcvbufErrors") / packets
    return Reading(numbers)


def _group_s(process: subprocess.Popen[str]) -> float:
    """CPU time of what a started command became: `nsenter` turns into the program itself."""
    return counters.cpu_time_s(process.pid)


def online() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0))
