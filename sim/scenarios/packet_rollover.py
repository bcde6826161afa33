"""packet-rollover: eight packet sockets with rings, and softirqs that all look for room under each other's locks.

"packet: rollover lock contention avoidance" (Willem de Bruijn, May 2015, Linux 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import machine
from ..knob import Knob
from ..machine import Machine
from ..path.capture import RingReaders
from ..path.host import Host
from ..path.inline import InlineSoftirqs, slices
from ..path.moderation import Moderation
from ..path.packet import PacketSockets
from ..path.registers import M
from ..path.rss import RssNic
from ..path.sources import PoissonSource
from ..result import Metric, Role
from ..spec import Spec
from .scenario import Scenario

CPUS = 8  # the thread: eight sockets, each reader pinned to a CPU that receives one NIC interrupt
NIC_RING_FRAMES = 1024  # mlx4_en's default


_READ = ("stat:read",)
_PACKETS = ("stat:packets",)


class PacketRollover(Scenario):
    """The public benchmark bench_rollover as it was."""

    name = "packet-rollover"
    title = "Packet sockets with rings: who may look whether another one has room"
    varies = "the gaps between packets, which are exponential, and each packet's time in the driver (by a quarter)"
    warm_ps = 48_000_000_000
    quick_ps = 60_000_000_000
    until_ps = 72_000_000_000  # one turn of ksoftirqd and one of the reader
    patches = ("pressure",)
    knobs = (
        Knob("pressure", 1, "The patch: a socket without room is marked, and then only its own CPU looks at it.",
             kernel="since 4.2", shows_with=(("start", "full"),)),
        Knob("start", "full", "Whether all rings are empty or full at the start (with half of the NIC's rings, as an "
             "overload leaves them): there can be two lasting states.",
             choices=("empty", "full")),
        Knob("load_kpps", 3500, "Packets a second, over all CPUs.", 500, 8000, 100, "kpps"),
        Knob("ring_frames", 1024, "Frames of a socket's ring (TPACKET_V2, 4,096 bytes each).", 64, 4096, 64, "frames",
             kernel="PACKET_RX_RING: tp_frame_nr, the program's choice"),
        Knob("sockets", 8, "Sockets of the fanout group, each with a reader on its own CPU.", 1, 8, 1, "sockets"),
        Knob("rollover", 1, "PACKET_FANOUT_FLAG_ROLLOVER: a packet whose socket is full goes to another one.",
             kernel="since 3.10; 0x1000, set by the program", shows_with=(("start", "full"),)),
        Knob("slice_ms", 12, "ksoftirqd and the reader of a CPU take turns of this length when neither sleeps.",
             1, 24, 1, "ms", kernel="CFS: sched_latency 6 ms * (1 + log2 of 8 CPUs), halved for two tasks",
             shows_with=(("start", "full"), ("pressure", 0))),
        Knob("packages", 2, "Processor packages over which the eight CPUs lie. The program takes CPUs 0 to 7; whether "
             "a host with two of 12 cores numbers one package first or takes turns, the thread does not say.",
             1, 2, 1, "packages", shows_with=(("start", "full"), ("pressure", 0))),
        Knob("pause_frames", 0, "bench_rollover's option -l: after so many frames the reader sleeps 100 us. 0 is off. "
             "The thread does not give the command.", 0, 1000, 1, "frames"),
        Knob("softirq_packet_ns", 500, "Driver, GRO, netfilter and the drop: a packet's softirq time without the "
             "packet socket. No source; set by hand: with 500 full rings last without the patch and drain with it.",
             100, 2000, 10, "ns"),
        Knob("packet_bytes", 300, "Length of a packet. The thread does not say; set by hand: its profile after the "
             "patch has few interrupts, and the NIC's driver moderates them at this rate for packets above 256 bytes "
             "only.", 60, 1514, 2, "bytes"),
        Knob("adaptive_moderation", 1, "The driver sets how long an interrupt waits by rate and size of packets.",
             kernel="mlx4_en: ethtool adaptive-rx, default on"),
        Knob("coalesce_us", 16, "The NIC's interrupt waits so long after a packet, if moderation is not adaptive.",
             0, 128, 1, "us", kernel="mlx4_en: 16 us, 44 packets", shows_with=(("adaptive_moderation", 0),)),
        Knob("rps_cpus", 0, "CPUs that RPS spreads packets over.", 0, 255, 1, "mask", effect="refused",
             why="the message says that RPS and RFS are disabled; a hop would change the CPU, and with it the socket",
             kernel="/sys/class/net/DEV/queues/rx-N/rps_cpus, default 0"),
        Knob("rfs", 0, "RFS: packets go to their reader's CPU.", effect="refused",
             why="the message says that RPS and RFS are disabled, and no recvmsg() tells RFS where a ring is read",
             kernel="net.core.rps_sock_flow_entries, default 0"),
        Knob("ip_early_demux", 1, "Look the socket up before the route.", effect="inert",
             why="an iptables rule drops every packet in PREROUTING, before early demux",
             kernel="net.ipv4.ip_early_demux, default 1"),
        Knob("mtu", 1500, "Largest IP packet.", 576, 9000, 4, "bytes", effect="inert",
             why="the sender chooses packet_bytes, and the program copies 1,514 bytes of any frame"),
        Knob("gro_max_segs", 1, "Segments that GRO merges.", 1, 17, 1, "segments", effect="inert",
             why="GRO merges no UDP of many flows outside a tunnel"),
        Knob("gro_max_size", 65536, "Length at which GRO stops merging.", 4096, 65536, 4, "bytes", effect="inert",
             why="nothing is merged: see gro_max_segs", kernel="65,536 fixed until 5.18"),
    )
    metrics = (
        Metric("mpps", "Mpps", _READ, scale=1e6, doc="packets that readers took out of their rings"),
        Metric("polled_mpps", "Mpps", _PACKETS, scale=1e6, doc="packets that softirqs took from the NIC"),
        Metric("probes_per_packet", "probes", ("stat:probes",), _PACKETS, doc="calls of packet_rcv_has_room()"),
        Metric("own_full", "%", ("stat:own_full",), _PACKETS, 100.0, "packets that found their own socket full"),
        Metric("rolled_over", "%", ("stat:rolled_over",), _PACKETS, 100.0, "packets that went to another socket"),
        Metric("ring_drops_mpps", "Mpps", ("stat:ring_drops",), scale=1e6, doc="packets with every ring full"),
        Metric("nic_drops_mpps", "Mpps", ("stat:nic_drops",), scale=1e6, doc="packets without a descriptor"),
        Metric("lock_wait", "%", ("lock_wait:sk_receive_queue.lock",), scale=100.0 / CPUS,
               doc="time that a CPU spun for receive-queue locks"),
        Metric("pressure_changes_per_s", "1/s", ("stat:pressure_changes",), scale=1e12),
        Metric("transfers_per_packet", "lines", ("header:transfers",), _PACKETS, doc="cache-line hand-overs"),
        Metric("cold_lines_per_packet", "lines", ("header:llc_reads", "header:memory_reads"), _PACKETS,
               doc="lines that had left the core's own cache"),
        Metric("interrupts_per_s", "1/s", ("stat:interrupts",), scale=1e12),
        Metric("wakeups_per_s", "1/s", ("stat:wakeups",), scale=1e12),
        Metric("polls_per_s", "1/s", ("stat:polls",), scale=1e12),
        Metric("ksoftirqd_passes_per_s", "1/s", ("stat:ksoftirqd_passes",), scale=1e12),
        Metric("ksoftirqd_share", "%", ("stat:ksoftirqd_ps",), ("stat:softirq_ps",), 100.0,
               "softirq time that ksoftirqd spends; the rest runs at the exit of interrupts and inside poll()",
               events=("stat:ksoftirqd_passes",)),
        Metric("nic_ring_length", "packets", ("queue:ring",), doc="mean packets in the NIC's rings"),
    )

    def default_machine(self) -> Machine:
        """Two sockets of four cores."""
        return machine.load("haswell-ep-8")

    def compose(self, spec: Spec) -> Sequence[Role]:
        """Write the path for the group."""
        knob = spec.values.knob
        # CPUs 0 to 7 in one package or spread over two: a host's numbering decides, and the thread does not say
        host = Host(
            spec, self.machine, slices(knob("slice_ms") * 1_000_000_000), self.changes
        )
        spec.cost(sockets=knob("packages"), cores_per_socket=CPUS // knob("packages"))
        flows = spec.domain("flow", CPUS)
        nic = RssNic(
            host, flows, queues=CPUS, ring_frames=NIC_RING_FRAMES, coalesce_ps=0
        )
        moderation = Moderation(
            host, nic, adaptive=knob("adaptive_moderation"), fixed_ps=knob("coalesce_us") * 1_000_000,
            packet_bytes=knob("packet_bytes"),
        )
        softirqs = InlineSoftirqs(host, nic, moderation)
        sockets = PacketSockets(
            host, sockets=knob("sockets"), ring_frames=knob("ring_frames"), full=knob("start"),
            rollover=knob("rollover"), pressure="pressure", packet_bytes=knob("packet_bytes"),
        )
        p = host.program
        softirqs.write_poll("netif_receive_skb")
        with p.symbol("kmem_cache_alloc"):
            p.label("netif_receive_skb")
            p.work(host.cost("slab_alloc_ps"))
        with p.symbol("mlx4_en_process_rx_cq"):
            packet_ps = knob("softirq_packet_ns") * 1000  # by up to a quarter more or less, as lines hit or miss
            p.uniform(M, packet_ps // 2)
            p.work(packet_ps * 3 // 4, by=M, fs=1000)
            p.call("packet_rcv_fanout")
        with p.symbol("kmem_cache_free"):
            p.work(host.cost("slab_free_ps"))
            p.ret()
        sockets.write_receive()
        RingReaders(
            host, sockets, softirqs, pause_frames=knob("pause_frames"), late=knob("start"), first_timer=2 * CPUS
        )
        softirqs.write_ticks()  # after the readers' timers, which wake agents by number
        nic.write_wire(moderation.interrupt)
        PoissonSource(host, nic, 1_000_000_000 * CPUS // knob("load_kpps"), knob("start") * (NIC_RING_FRAMES // 2))
        return [Role(f"cpu{i}", host.value(i).row, "a CPU with an interrupt and a reader") for i in range(CPUS)]
