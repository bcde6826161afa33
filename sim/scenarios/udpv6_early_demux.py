"""udpv6-early-demux: one UDPv6 stream into a phone whose softirq core is full, with netfilter rules for each UID.

"net: ipv6: Add early demux handler for UDP unicast" (Subash Abhinov Kasiviswanathan, March 2017). Without it each
rule and UDP itself look the packet's socket up; with it one look-up is made before the route and kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import fitted, machine
from ..expression import Value
from ..knob import Knob
from ..machine import Machine
from ..path import costs
from ..path.datagrams import DatagramReaders
from ..path.driver import write_driver
from ..path.forward import Routes6
from ..path.host import Host
from ..path.ip6 import Ip6
from ..path.linear import LinearSkbs
from ..path.netfilter import OwnerRules
from ..path.rss import RssNic
from ..path.softnet import Softnet
from ..path.sources import PoissonSource
from ..path.udp import UdpSockets
from ..result import Metric, Role
from ..spec import Spec
from .scenario import Scenario

THREAD = "udpv6-early-demux"
DATAGRAM = 1450  # bytes, the thread's
RULES, LOOKUP_NS = 4, 250  # defaults; the driver's time is fitted with them
RING_FRAMES = 256
TRUESIZE = 2304  # an sk_buff with a head of 2,048 bytes
RCVBUF = 212_992  # net.core.rmem_default
MAX_BACKLOG = 1000  # net.core.netdev_max_backlog
COALESCE_PS = 50_000_000

#: Linux 4.12 at HZ=1000: softirqs beyond 2 ms go to ksoftirqd, and interrupts wait for it then.
SCHEDULER = {
    "slice_ps": 3_000_000_000, "ksoftirqd_after_ps": 2_000_000_000, "ksoftirqd_slice_ps": 1_000_000_000,
    "ksoftirqd_blocks_irq": 1,
}


class UdpV6EarlyDemux(Scenario):
    """The CPU-limited UDPv6 receiver, and what the list objected: DNS servers, routers, policy rules, the cookie."""

    name = THREAD
    title = "Datagrams to one socket: looked up once for each rule, or once"
    varies = "the gaps between packets, each packet's time in driver and copy (up to 10 % more or less), and which " \
             "packets a policy rule catches"
    warm_ps = 30_000_000_000
    quick_ps = 90_000_000_000
    until_ps = 230_000_000_000
    patches = ("udp_early_demux", "match_any", "rx_dst_set", "rx_dst_cookie")
    verified = True
    knobs: tuple[Knob, ...] = (
        Knob("udp_early_demux", 1, "The patch, and its later sysctl: UDP finds the socket before the route is looked "
             "up.", kernel="net.ipv4.udp_early_demux, default 1; both since 4.12"),
        Knob("match_any", 0, "As first posted: the full look-up is made and any socket is taken, with a reference. "
             "Off: only the first socket of the chain, only if both ends match.",
             kernel="restricted to matching sockets by 0bd84065b19b, also 4.12"),
        Knob("rx_dst_set", 0, "A socket found by early demux keeps the packet's route for the next one.",
             kernel="since 4.13; 4.12 reads sk_rx_dst of UDPv6 but nothing sets it"),
        Knob("rx_dst_cookie", 1, "The kept route is checked by its serial number. Off, as first posted: by 0, which no "
             "IPv6 route has.", shows_with=(("rx_dst_set", 1),)),
        Knob("tcp_early_demux", 1, "TCP finds the socket before the route is looked up.",
             kernel="net.ipv4.tcp_early_demux, default 1 since 4.12", effect="inert",
             why="no packet here is TCP's: each protocol is asked for its own packets only"),
        Knob("uid_rules", RULES, "Netfilter rules of local input that need the packet's socket. The thread does not "
             "say how many.", 0, 32, 1, "rules"),
        Knob("lookup_ns", LOOKUP_NS, "What a look-up computes. No source.", 20, 2000, 10, "ns"),
        Knob("calibrated", 1, "The driver's time is what 800 Mbit/s before the patch leave for it, with so many rules "
             "of such look-ups. Off: it stays, and more rules cost more.", shows_with=(("uid_rules", 8),)),
        Knob("connected", 1, "Each source has a connected socket of its own. Off: one socket takes everything, as a "
             "DNS server's."),
        Knob("sources", 1, "Remote ends that send.", 1, 256, 1, "flows"),
        Knob("traffic", "local", "Packets for this host, or on their way to others.", choices=("local", "forward")),
        Knob("fib_rules", 0, "Policy rules before the local table; the last one leads to a table of its own.", 0, 64, 1,
             "rules", kernel="ip -6 rule"),
        Knob("elsewhere_percent", 50, "Share of packets that the last policy rule sends to another host.", 0, 100, 1,
             "%", shows_with=(("fib_rules", 4),)),
        Knob("cpus", 1, "Receive queues, each with a CPU of its own.", 1, 7, 1, "CPUs",
             shows_with=(("sources", 8),)),
        Knob("reader_cpu", "other", "Where the programs run that read: on the last CPU, or with the first softirq.",
             choices=("other", "same")),
        Knob("datagram_bytes", DATAGRAM, "Payload of a datagram.", 18, DATAGRAM, 1, "bytes"),
        Knob("offered_mbps", 1000, "Payload that arrives.", 10, 10000, 10, "Mbit/s"),
        Knob("softirq_packet_ns", fitted.knob(THREAD, "softirq_packet_ps", 10_000_000) // 1000,
             "Driver's time for a packet. Fitted on 800 Mbit/s.", 100, 40000, 10, "ns"),
        Knob("rcvbuf", RCVBUF, "Receive buffer of a socket.", 4608, 2097152, 512, "bytes",
             kernel="net.core.rmem_default 212,992", shows_with=(("reader_cpu", "same"),)),
        Knob("rps_cpus", "none", "CPUs that RPS spreads packets over by hash. RFS, if on, decides before it.",
             choices=("none", "all"), kernel="/sys/class/net/DEV/queues/rx-N/rps_cpus, default 0"),
        Knob("rfs", 0, "RFS: packets go to the CPU of the program that reads.",
             kernel="net.core.rps_sock_flow_entries, default 0"),
        Knob("mtu", 1500, "Largest IP packet.", 1500, 9000, 4, "bytes", effect="inert",
             why="a datagram of 1,450 bytes is a packet of 1,498; no larger MTU makes datagrams longer"),
        Knob("gro_max_segs", 1, "Segments that GRO merges.", 1, 17, 1, "segments", effect="inert",
             why="the GRO of 2017 merges UDP only inside tunnels; plain UDP came with 5.0"),
        Knob("gro_max_size", 65536, "Length at which GRO stops merging.", 4096, 65536, 4, "bytes", effect="inert",
             why="nothing is merged: see gro_max_segs", kernel="65,536 fixed until 5.18"),
    )
    metrics = (
        Metric("mbps", "Mbit/s", ("stat:bytes",), scale=8e6, doc="payload copied to programs",
               events=("stat:delivered",)),
        Metric("gbps", "Gbit/s", ("stat:bytes",), scale=8e3, doc="the same", events=("stat:delivered",)),
        Metric("mpps", "Mpps", ("stat:ip_packets",), scale=1e6, doc="packets that reached IP"),
        Metric("lookups_per_packet", "look-ups", ("stat:lookups",), ("stat:ip_packets",), doc="full socket look-ups"),
        Metric("demux_found_share", "%", ("stat:demux_found",), ("stat:demux_calls",), 100.0,
               "early demuxes that found a socket"),
        Metric("route_lookups_per_packet", "look-ups", ("stat:route_lookups",), ("stat:ip_packets",)),
        Metric("socket_refs_per_packet", "atomics", ("stat:socket_holds", "stat:socket_puts"), ("stat:ip_packets",),
               doc="references on sockets taken and dropped"),
        Metric("refcnt_transfers_per_packet", "lines", ("transfers:udp6_sock.sk_refcnt",), ("stat:ip_packets",),
               doc="hand-overs of the line that holds a socket's reference count"),
        Metric("transfers_per_packet", "lines", ("header:transfers",), ("stat:ip_packets",),
               doc="cache-line hand-overs"),
        Metric("cold_lines_per_packet", "lines", ("header:llc_reads", "header:memory_reads"), ("stat:ip_packets",),
               doc="lines that had left the core's own cache"),
        Metric("wrong_share", "%", ("stat:wrong_deliveries",), ("stat:ip_packets",), 100.0,
               "packets delivered here that a policy rule leads elsewhere"),
        Metric("forwarded_mpps", "Mpps", ("stat:forwarded",), scale=1e6),
        Metric("wakeups_per_s", "1/s", ("stat:wakeups",), scale=1e12),
        Metric("reads_per_s", "1/s", ("stat:reads",), scale=1e12),
        Metric("interrupts_per_s", "1/s", ("stat:interrupts",), scale=1e12),
        Metric("ipis_per_s", "1/s", ("stat:ipis",), scale=1e12),
        Metric("lock_wait", "%", ("lock_wait:*",), scale=100.0, doc="time that CPUs spun for locks, in CPUs"),
        Metric("ring_length", "packets", ("queue:ring",), doc="mean packets in the NIC's rings"),
        Metric("receive_queue_length", "packets", ("queue:sk_receive_queue",), doc="mean datagrams to be read"),
        Metric("nic_drops_per_s", "1/s", ("stat:nic_drops",), scale=1e12),
        Metric("backlog_drops_per_s", "1/s", ("stat:backlog_drops",), scale=1e12,
               doc="packets that RPS found no room for"),
        Metric("rcvbuf_drops_per_s", "1/s", ("stat:rcvbuf_drops",), scale=1e12),
    )

    def __init__(self, machine: Machine | None = None, changes: Mapping[str, int] | None = None) -> None:
        super().__init__(machine, changes)
        last = self.machine.topology.cpus - 1  # one CPU is left for the programs
        self.knobs = tuple(replace(k, high=max(last, 1)) if k.name == "cpus" else k for k in type(self).knobs)

    def allowed_lookups(
        self, after_mbps: float, rules: Sequence[int] = (1, 2, 3, 4, 6, 8, 12, 16), replications: int = 2, **knobs: Any
    ) -> list[dict[str, float]]:
        """The curve that a rate after the patch allows: for a number of rules, what a look-up must cost.

        Rows of ``uid_rules``, ``lookup_ns``, ``product_ns`` and the rate ``mbps`` that comes out with them, at the
        setting of the thread (the patch as posted) but for `knobs`. A packet's time is linear in the cost of a look-up,
        so two runs find it; a number of rules whose look-ups would cost more or less than the knob allows is left out.
        """
        posted = {"match_any": 1, **knobs, "calibrated": 1}
        knob = self.knob("lookup_ns")
        bits = 8 * int(self.settings(**posted)["datagram_bytes"])

        def packet_ns(**at: int) -> float:
            return 1000 * bits / self.run(replications=replications, until_ps=self.quick_ps, **{**posted, **at}).mbps

        before = packet_ns(udp_early_demux=0)
        wanted = 1000 * bits / after_mbps
        rows: list[dict[str, float]] = []
        for n in rules:
            guess = round((before - wanted) / n)
            guess = min(max(guess, knob.low), knob.high)
            found = guess + round((packet_ns(uid_rules=n, lookup_ns=guess) - wanted) / n)
            if knob.low <= found <= knob.high:
                mbps = 1000 * bits / packet_ns(uid_rules=n, lookup_ns=found)
                rows.append({"uid_rules": n, "lookup_ns": found, "product_ns": n * found, "mbps": mbps})
        return rows

    def default_machine(self) -> Machine:
        """A phone's eight slow cores; the thread does not name its processor."""
        return machine.load("arm64-phone").with_(cores_per_socket=8)

    def compose(self, spec: Spec) -> Sequence[Role]:
        """Write the path for all sources."""
        host = Host(spec, self.machine, SCHEDULER, {**costs.on_machine(self.machine), **self.changes})
        knob = host.knob
        last = host.cpu.count - 1
        reader_cpu = knob("reader_cpu").choose(0, last)
        local = 1 - knob("traffic")
        hop = knob("rps_cpus").most(knob("rfs"))
        flows = spec.domain("flow", knob("sources"))
        per_socket = knob("rcvbuf") // TRUESIZE + 2
        # in receive queues, in the backlogs of RPS (a CPU works one off while the next one fills), in hand
        room = knob("connected").choose(flows.count, 1) * per_socket + hop * host.cpu.count * 2 * MAX_BACKLOG + 1024
        skbs = LinearSkbs(host, flows, room)
        nic = RssNic(host, flows, queues=knob("cpus"), ring_frames=RING_FRAMES, coalesce_ps=COALESCE_PS)
        udp = UdpSockets(
            host, skbs, flows, connected=knob("connected"), lookup_ps=knob("lookup_ns") * 1000, rcvbuf=knob("rcvbuf"),
            truesize=TRUESIZE,
        )
        nic.write_poll(0, "driver_rx", "net_rps_action_and_irq_enable", "driver_rx_poll")
        write_driver(
            host, packet_ps=self._driver_ps(host, udp), packet_bytes=knob("datagram_bytes") + 48, then="alloc_skb"
        )
        skbs.write_alloc("netif_receive_skb")
        softnet = Softnet(
            host, skbs, flows, rps=knob("rps_cpus"), rfs=knob("rfs"), reader_cpus=1, max_backlog=MAX_BACKLOG
        )
        spec.init(softnet.flow, "by_reader", reader_cpu)
        routes = Routes6(
            host, skbs, rules=knob("fib_rules"), elsewhere_percent=knob("elsewhere_percent"), forwarding=1 - local
        )
        Ip6(
            host, skbs, udp, routes, early_demux=knob("udp_early_demux"), cookie=knob("rx_dst_cookie"),
            local_in="ip6t_do_table",
        )
        routes.write()
        OwnerRules(host, udp, knob("uid_rules"))
        udp.write(match_any=knob("match_any"), bound=local, rx_dst_set=knob("rx_dst_set"))
        nic.write_wire()
        PoissonSource(host, nic, knob("datagram_bytes") * 8_000_000 * nic.rxq.count // knob("offered_mbps"))
        DatagramReaders(host, udp, cpu=reader_cpu, datagram_bytes=knob("datagram_bytes"))
        return (
            Role("softirq", host.value(0).row, "the CPU of the first receive queue"),
            Role("reader", reader_cpu.row, "the CPU of the programs that read"),
        )

    def _driver_ps(self, host: Host, udp: UdpSockets) -> Value:
        """The driver's time: as fitted, or so that all of a packet before the patch takes as long as it does there."""
        knob = host.knob
        fixed = knob("softirq_packet_ns") * 1000
        reference = 2 * (host.cost("hit_ps") + host.cost("atomic_ps"))
        rule = host.cost("netfilter_rule_ps") + reference + host.cost("hit_ps")
        here = (knob("uid_rules") + 1) * udp.lookup_hot_ps + knob("uid_rules") * rule
        there = (RULES + 1) * (udp.lookup_hot_ps - udp.lookup_ps + LOOKUP_NS * 1000) + RULES * rule
        return knob("calibrated").choose((fixed + there - here).most(0), fixed)
