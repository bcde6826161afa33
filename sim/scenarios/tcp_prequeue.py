"""tcp-prequeue: 144 flows of 64-byte messages into 144 blocked readers, and one route that all of them hold and drop.

"tcp: remove dst refcount false sharing for prequeue mode" (Eric Dumazet, September 2014, Linux 3.18).
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import machine
from ..knob import Knob
from ..machine import Machine
from ..path.blocking import BlockingReaders
from ..path.bursts import BurstSenders
from ..path.host import Host
from ..path.linear import LinearSkbs
from ..path.prequeue import PrequeueTcp
from ..path.route import Route
from ..path.rss import RssNic
from ..path.softnet import Softnet
from ..result import Metric, Role
from ..spec import Spec
from .scenario import Scenario

CPUS = 48  # the thread: 24 cores, 48 hyper-threads; netperf and netserver are pinned, one CPU after the other
QUEUES = 8  # the thread: 8 RX queues; on CPUs 0 to 7
FLOWS_PER_CPU = 3  # the thread's script
MESSAGE_BYTES = 64  # netperf -m 64
RECV_PACKETS = 87_380 // MESSAGE_BYTES  # netserver reads into a buffer of the default receive size
RING_FRAMES = 1024  # mlx4_en's default
ROUND_TRIP_PS = 20_000_000
TIME_SLICE_NS = 3_000_000  # assumed: sched_min_granularity of a large machine

#: Linux 3.17: softirqs beyond 2 ms are left to ksoftirqd, but every exit of an interrupt and every
#: local_bh_enable() of a thread still runs them in line. A reader in TCP enables bottom halves all the time, so it
#: gets no more than the time to the next one (assumed 2 us).
SCHEDULER = {
    "slice_ps": 3_000_000_000, "ksoftirqd_after_ps": 2_000_000_000, "ksoftirqd_slice_ps": 2_000_000,
    "ksoftirqd_blocks_irq": 0,
}

_ARRIVED = ("stat:prequeued", "stat:backlogged", "stat:direct")


class TcpPrequeue(Scenario):
    """The blocked readers of the prequeue patch."""

    name = "tcp-prequeue"
    title = "Small messages to blocked readers: a reference taken on one CPU and dropped on another"
    varies = "the receive queue that RSS gives to each flow, the CPU that RPS gives to it, and the senders' gaps"
    warm_ps = 8_000_000_000
    quick_ps = 11_000_000_000
    until_ps = 18_000_000_000
    patches = ("drop_dst_early", "dst_padding")
    knobs = (
        Knob("drop_dst_early", 1, "The patch: a packet that goes to the prequeue lets go of its route, so that nobody "
             "has to count.", kernel="since 3.18; the prequeue itself left in 4.14"),
        Knob("dst_padding", 0, "The layout of 2023 (d288a162dd1c): what every packet reads of a route lies on another "
             "line than the reference count.", kernel="since 6.4"),
        Knob("rfs", 1, "RFS: packets go to the reader's CPU. The thread is silent; the book's assumption.",
             kernel="net.core.rps_sock_flow_entries, default 0"),
        Knob("rps_cpus", "none", "CPUs that RPS spreads packets over by hash. RFS, if on, decides before it.",
             choices=("none", "all"), kernel="/sys/class/net/DEV/queues/rx-N/rps_cpus, default 0",
             shows_with=(("rfs", 0),)),
        Knob("ip_early_demux", 1, "The socket is found before the route and gives its own cached one.",
             kernel="net.ipv4.ip_early_demux, default 1"),
        Knob("tcp_low_latency", 0, "No prequeue: softirq runs TCP itself, also for a reader that waits.",
             kernel="net.ipv4.tcp_low_latency, default 0; without effect since 4.14"),
        Knob("merged_reads", 1, "Two loads of one line that stand close, rt_genid and rt_type, are one fetch, as an "
             "out-of-order processor does; at 0 each may miss.", shows_with=(("drop_dst_early", 0),)),
        Knob("send_ns", 3000, "What one message costs a sender's CPU. No source.", 300, 20000, 100, "ns"),
        Knob("window", 57, "Packets that a sender's buffer holds: 131,072 bytes at 2,304 each.", 4, 256, 1, "packets",
             kernel="netperf -s 64K; a small send takes a 2,048-byte head in 3.17"),
        Knob("softirq_packet_ns", 530, "Driver's time for a packet, without its sk_buff, its lines and steering. No "
             "source: chosen so that eight CPUs take in 9 Mpps, the thread's figure after the patch.",
             20, 2000, 10, "ns"),
        Knob("coalesce_us", 0, "The NIC's interrupt waits so long after a packet.", 0, 100, 1, "us",
             kernel="mlx4_en's adaptive moderation programs 0 for packets of 256 bytes and less"),
        Knob("mtu", 1500, "Largest IP packet.", 576, 9000, 4, "bytes", effect="inert",
             why="a message of 64 bytes is a packet of 116: no MTU cuts it"),
        Knob("gro_max_segs", 1, "Segments that GRO merges.", 1, 17, 1, "segments", effect="inert",
             why="each small send is pushed, and a pushed segment that finds no held packet goes up at once"),
        Knob("gro_max_size", 65536, "Length at which GRO stops merging.", 4096, 65536, 4, "bytes", effect="inert",
             why="nothing is merged: see gro_max_segs", kernel="65,536 fixed until 5.18"),
    )
    metrics = (
        Metric("mpps", "Mpps", ("stat:delivered",), scale=1e6, doc="packets whose data reached a program"),
        Metric("dst_visits", "visits", ("stat:dst_reads", "stat:dst_atomics"), ("stat:delivered",),
               doc="reads and atomics of the route's line a packet"),
        Metric("dst_visits_per_s", "1/s", ("stat:dst_reads", "stat:dst_atomics"), scale=1e12),
        Metric("dst_atomics", "atomics", ("stat:dst_atomics",), ("stat:delivered",),
               doc="references taken and dropped a packet"),
        Metric("dst_transfers", "lines", ("transfers:rtable",), ("stat:delivered",),
               doc="hand-overs of the route's lines a packet: visits less those that found the line there"),
        Metric("prequeued_share", "%", ("stat:prequeued",), _ARRIVED, 100.0, "packets that found a reader waiting"),
        Metric("backlogged_share", "%", ("stat:backlogged",), _ARRIVED, 100.0,
               "packets that met a socket owned by its reader"),
        Metric("packets_per_read", "packets", ("stat:delivered",), ("stat:reads",)),
        Metric("packets_per_sleep", "packets", ("stat:delivered",), ("stat:sleeps",)),
        Metric("wakeups_per_s", "1/s", ("stat:wakeups",), scale=1e12),
        Metric("interrupts_per_s", "1/s", ("stat:interrupts",), scale=1e12),
        Metric("ipis_per_s", "1/s", ("stat:ipis",), scale=1e12),
        Metric("acks_per_s", "1/s", ("stat:acks",), scale=1e12),
        Metric("transfers_per_packet", "lines", ("header:transfers",), ("stat:delivered",),
               doc="cache-line hand-overs of all structs"),
        Metric("transfers_per_s", "1/s", ("header:transfers",), scale=1e12),
        Metric("lock_wait", "%", ("lock_wait:*",), scale=100.0, doc="time that CPUs spun for locks, in CPUs"),
        Metric("ring_length", "packets", ("queue:ring",), doc="mean packets in the NIC's rings"),
        Metric("nic_drops_per_s", "1/s", ("stat:nic_drops",), scale=1e12),
    )

    def default_machine(self) -> Machine:
        """Two sockets of 12 cores of 2 threads."""
        return machine.load("haswell-ep")

    def compose(self, spec: Spec) -> Sequence[Role]:
        """Write the path for all flows."""
        host = Host(spec, self.machine, SCHEDULER, self.changes)
        knob, send_ps = host.knob, host.knob("send_ns") * 1000
        flows = spec.domain("flow", CPUS * FLOWS_PER_CPU)
        skbs = LinearSkbs(host, flows, flows.count * knob("window") * 2)
        nic = RssNic(host, flows, queues=QUEUES, ring_frames=RING_FRAMES, coalesce_ps=knob("coalesce_us") * 1_000_000,
                     spread="hashed")
        route = Route(host, skbs, "dst_padding", knob("merged_reads"))
        nic.write_poll(knob("softirq_packet_ns") * 1000, "alloc_skb", "net_rps_action_and_irq_enable")
        skbs.write_alloc("netif_receive_skb")
        Softnet(host, skbs, flows, rps=knob("rps_cpus"), rfs=knob("rfs"), reader_cpus=CPUS)
        tcp = PrequeueTcp(
            host, skbs, route, flows, early_demux=knob("ip_early_demux"), drop_dst_early=knob("drop_dst_early"),
            reader_cpus=CPUS, eat="tcp_copy_to_iovec",
        )
        nic.write_wire()
        senders = BurstSenders(
            host, nic, senders=CPUS, window=knob("window"), send_ps=send_ps,
            slice_packets=host.value(TIME_SLICE_NS) // knob("send_ns"), round_trip_ps=ROUND_TRIP_PS,
        )
        BlockingReaders(
            host, tcp, route, reader_cpus=CPUS, message_bytes=MESSAGE_BYTES, recv_packets=RECV_PACKETS,
            low_latency=knob("tcp_low_latency"), credit=senders.credit,
        )
        return [
            Role(f"cpu{i}", host.value(i).row, "an interrupt's CPU" if i < QUEUES else "a reader's CPU")
            for i in range(CPUS)
        ]
