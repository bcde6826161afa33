"""One run of one arm: hosts are made, set up, loaded, counted, and gone again."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from . import child, counters, record, sample
from .namespace import Namespace
from .reading import Reading, common
from .sample import program
from .wire import End, cable

PORT: Final = 5201
ARRIVES_S: Final = 5.0
WARM_S: Final = 0.3  # TCP's window opens in less
SPARE_S: Final = 20.0  # what a load runs beyond what is measured of it; it is ended before
ETHERNET_HEADER_BYTES: Final = 14


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
    count_look_ups
        Count routes looked up for a packet after the run, where perf can.
    gro_max_size
        The largest packet that GRO may make; another one than 65,536 also limits what the sender hands down to be cut
        for the wire (``gso_max_size``), so it sends bursts of no more than that.
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
    count_look_ups: bool = False

    @property
    def link_header_bytes(self) -> int:
        """What the arrival's device counts of a packet beyond IP's bytes.

        veth counts a packet as it was sent, with Ethernet's header; but where its own NAPI poll takes it (since 5.13,
        with GRO on and a sender that cuts its packets itself) as it was received, without.
        """
        return 0 if self.gro and not self.segmentation else ETHERNET_HEADER_BYTES

    def on(self, cpus: Sequence[int]) -> Setup:
        """The same with the CPUs of a machine: the first one of `cpus` stands for 0, and so on."""
        return self.with_(
            sender_cpu=cpus[self.sender_cpu], reader_cpu=cpus[self.reader_cpu],
            rps_cpus=tuple(cpus[n] for n in self.rps_cpus),
        )

    def with_(self, **changes: Any) -> Setup:
        """The same with some switches moved."""
        return replace(self, **changes)


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


@dataclass(frozen=True)
class Traffic:
    """A load that runs: the ends it passes, and the programs at both."""

    near: End
    arrival: End
    far: End
    reader: subprocess.Popen[str]
    sender: subprocess.Popen[str]


def run(setup: Setup, seconds: float = 1.0, profile: bool = False) -> Reading:
    """One run; with `profile` perf records as long again when the numbers are taken.

    Raises `child.Failed` if a program or a switch of the kernel refuses.
    """
    whole_s = (2 if profile else 1) * seconds + SPARE_S
    with hosts(setup) as ends, (_iperf3 if setup.load.startswith("tcp") else _own)(setup, whole_s, *ends) as traffic:
        _arrives(traffic)
        time.sleep(WARM_S)
        reading = _counted(setup, seconds, traffic, profile)
        for what, process in (("the sender", traffic.sender), ("the reader", traffic.reader)):
            if process.poll() is not None:
                raise child.ended_early(process, what)
        return reading


@contextmanager
def _running(host: Namespace, command: Sequence[str], cpu: int) -> Iterator[subprocess.Popen[str]]:
    process = host.start(*command, cpu=cpu)
    try:
        yield process
    finally:
        child.stop(process)


@contextmanager
def _iperf3(setup: Setup, whole_s: float, near: End, arrival: End, far: End) -> Iterator[Traffic]:
    quiet = ("-p", str(PORT), "-i", "0")
    small = ("-l", str(setup.message_bytes), "-N") if setup.load == "tcp_small" else ()
    client = ("iperf3", "-c", far.v6, *quiet, "-t", str(math.ceil(whole_s)), "-P", str(setup.flows), *small)
    with _running(far.host, ("iperf3", "-s", "-1", *quiet), setup.reader_cpu) as reader:
        far.host.listens(PORT)
        with _running(near.host, client, setup.sender_cpu) as sender:
            yield Traffic(near, arrival, far, reader, sender)


@contextmanager
def _own(setup: Setup, whole_s: float, near: End, arrival: End, far: End) -> Iterator[Traffic]:
    if setup.load == "fanout":
        words = ["fanout", "--device", far.device, *(["--rollover"] if setup.rollover else [])]
    else:
        words = ["read", "--at", far.v6, *(["--connect", near.v6] if setup.connected else [])]
    shape = ("--size", str(setup.message_bytes), "--flows", str(setup.flows))
    send = program("send", "--to", far.v6, *shape, "--seconds", str(whole_s))
    read = program(*words, "--seconds", str(whole_s + SPARE_S))
    with _running(far.host, read, setup.reader_cpu) as reader:
        child.line(reader, "the reader")  # it is ready
        with _running(near.host, send, setup.sender_cpu) as sender:
            yield Traffic(near, arrival, far, reader, sender)


def _arrives(traffic: Traffic) -> None:
    """Return when packets come in at the reader's host; raises `child.Failed` if none does in time."""
    first, until = counters.device(traffic.far)["rx_packets"], time.monotonic() + ARRIVES_S
    while counters.device(traffic.far)["rx_packets"] < first + 100:
        if traffic.sender.poll() is not None:
            raise child.ended_early(traffic.sender, "the sender")
        if time.monotonic() > until:
            raise child.Failed(f"no packets reach the {traffic.far.host.name} after {ARRIVES_S:g} s")
        time.sleep(0.02)


@dataclass(frozen=True)
class _Moment:
    """All that is read twice."""

    counted: counters.Snapshot
    delivered: int
    reader_s: float
    at_s: float

    @classmethod
    def take(cls, setup: Setup, traffic: Traffic) -> _Moment:
        counted = counters.Snapshot.take(traffic.near, traffic.arrival)
        return cls(counted, _delivered(setup, traffic), counters.cpu_time_s(traffic.reader.pid), time.monotonic())


def _delivered(setup: Setup, traffic: Traffic) -> int:
    """Packets that got to the end of their way so far; 0 for TCP, where acknowledged bytes say it."""
    if setup.load.startswith("tcp"):
        return 0
    if setup.load == "forward":
        return counters.device(traffic.far)["rx_packets"]
    traffic.reader.send_signal(signal.SIGUSR1)
    return int(json.loads(child.line(traffic.reader, "the reader"))["packets"])


def _counted(setup: Setup, seconds: float, traffic: Traffic, profile: bool) -> Reading:
    """Two moments, what lies between them, and then what may disturb."""
    first = _Moment.take(setup, traffic)
    time.sleep(seconds)
    last = _Moment.take(setup, traffic)
    took_s, between = last.at_s - first.at_s, counters.Difference(first.counted, last.counted)
    numbers = common(
        between, took_s, setup.sender_cpu, setup.reader_cpu, last.reader_s - first.reader_s, setup.link_header_bytes
    )
    tcp, arrived = setup.load.startswith("tcp"), between.device("rx_packets")
    if not tcp:
        delivered = last.delivered - first.delivered
        numbers["delivered_per_s"] = delivered / took_s
        numbers["lost_pct"] = 100 * max(0.0, 1 - delivered / arrived) if arrived else 0.0
        del numbers["retransmits_per_s"]
    looked_up = sample.look_ups_per_packet(traffic.arrival) if setup.count_look_ups else None
    if looked_up is not None:
        numbers["lookups_per_packet"] = looked_up
    sizes = sample.sizes(traffic.arrival) if tcp else {}
    profiles = {}
    if profile:
        recorded = record.record([setup.sender_cpu, setup.reader_cpu], seconds)
        for name, cpu in (("sender", setup.sender_cpu), ("reader", setup.reader_cpu)):
            profiles[name] = recorded.only(cpu=cpu).shares() if cpu in recorded.cpus else {}
    return Reading(numbers, sizes, profiles)


def cpus() -> list[int]:
    """CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))
