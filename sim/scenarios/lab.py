"""lab: a receiver of the reader's own, with any kind of socket behind one path.

It is made of the parts of the threads: a NIC with several queues, GRO, RPS and RFS, IPv6 with early demux and
netfilter's rules, TCP of 5.16 with the patches of the 5.17 series, UDP of 4.12, forwarding. Which parts
a packet passes is decided where it goes up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from .. import fitted, machine
from ..engine.tables import QUEUED
from ..expression import Value
from ..machine import Machine
from ..path import costs
from ..path.acks import Acks
from ..path.capture import RingReaders
from ..path.datagrams import DatagramReaders
from ..path.defer import Defer
from ..path.forward import Routes6
from ..path.gro import Gro
from ..path.host import Host
from ..path.ip6 import Ip6
from ..path.memory import Memory, Neighbours
from ..path.netfilter import OwnerRules, TcpOwnerRules
from ..path.packet import PacketSockets
from ..path.pages import Pages
from ..path.reader import Reader, ReaderKeys
from ..path.registers import ASIDE, FLOW, RXQ, SKB, K
from ..path.rss import RssNic
from ..path.rx_cache import RxCache
from ..path.skbs import Skbs
from ..path.socket import Socket
from ..path.softnet import Softnet
from ..path.sources import PoissonSource
from ..path.tcp import Tcp
from ..path.udp import UdpSockets
from ..path.windows import BulkSenders
from ..result import Role
from ..spec import Spec
from . import lab_knobs
from .lab_knobs import KINDS, MAX_CORES, PATCHES
from .scenario import Scenario

PAGE_BYTES = 4096
COPYBREAK = 256  # a driver copies a packet so short into the sk_buff's own head
LINEAR_MTU = 3500  # above it the NIC splits header and payload
TCP_HEADERS, UDP_HEADERS = 72, 48  # IPv6 40; TCP 20 and time stamps 12, or UDP 8
WIRE_OVERHEAD, ETHERNET_HEADER = 38, 14
RING_FRAMES = 1024  # of each packet socket
TRUESIZE = 2304  # what a datagram counts for in a receive buffer
BACKLOGS = 8192  # packets that all backlogs of RPS may hold: a bound of the book, for its memory
#: Bytes that all sockets together may hold, as net.ipv4.tcp_mem and udp_mem limit them.
TCP_MEM, UDP_MEM = 24 << 20, 16 << 20

#: Kernel 5.17 at HZ=1000: softirqs beyond 2 ms go to ksoftirqd, and interrupts wait for it then.
SCHEDULER = {
    "slice_ps": 3_000_000_000, "ksoftirqd_after_ps": 2_000_000_000, "ksoftirqd_slice_ps": 1_000_000_000,
    "ksoftirqd_blocks_irq": 1,
}


class Lab(Scenario):
    """The receiver that the reader puts together."""

    name = "lab"
    title = "A receiver of one's own: queues, steering, sockets, readers, patches"
    varies = "when each burst or datagram arrives, which GRO bucket and which CPU a flow's hash picks"
    warm_ps = 1_600_000_000
    quick_ps = 2_000_000_000
    until_ps = 3_000_000_000
    patches = PATCHES
    verified = True
    knobs = lab_knobs.KNOBS
    metrics = lab_knobs.METRICS

    def __init__(self, machine: Machine | None = None, changes: Mapping[str, int] | None = None) -> None:
        super().__init__(machine, changes)
        own = self.machine.topology
        topology = {name: getattr(own, name) for name in ("sockets", "cores_per_socket", "threads_per_core")}
        choices = tuple(each.name for each in self._machines())
        self.knobs = tuple(
            replace(k, default=topology[k.name]) if k.name in topology
            else replace(k, default=self.machine.name, choices=choices) if k.name == "processor"
            else k
            for k in type(self).knobs
        )

    def default_machine(self) -> Machine:
        """A server of 2021, cut to eight CPUs on two sockets."""
        return machine.load("cascade-lake").with_(sockets=2, cores_per_socket=4, threads_per_core=1)

    def _machines(self) -> list[Machine]:
        """The lab's own machine, then the others that come with the project."""
        others = (name for name in machine.names() if name != self.machine.name)
        return [self.machine, *map(machine.load, others)]

    def compose(self, spec: Spec) -> Sequence[Role]:
        """Write the path for all kinds of sockets."""
        knob, kind = spec.values.knob, spec.values.knob("socket")
        cores = knob("cores_per_socket").least(MAX_CORES // knob("sockets"))
        host = Host(
            spec, self.machine, SCHEDULER, self.changes, (knob("sockets"), cores, knob("threads_per_core")),
            [(each, own_costs(each)) for each in self._machines()], knob("processor"),
        )
        bulk, rr, _, udp_own, forward, fanout = (kind.is_(KINDS.index(k)) for k in KINDS)
        tcp_on = bulk + rr
        own_sockets = tcp_on + udp_own + fanout  # each flow, or each CPU, has its own
        unsteered = forward.most(fanout)  # no recvmsg() tells RFS where a program reads
        cpus = host.cpu.count
        rps_cpus = knob("rps_cpus").least(cpus)
        flows = spec.domain("flow", knob("flows"))

        # what is on the wire
        mtu, link = knob("mtu"), knob("link_gbps")
        room = tcp_on.choose(mtu - TCP_HEADERS, mtu - UDP_HEADERS)
        payload = bulk.choose(room, knob("message_bytes").least(room))
        packet = payload + tcp_on.choose(TCP_HEADERS, UDP_HEADERS)
        gap = (packet + WIRE_OVERHEAD) * 8000 // link
        pages_per_frame = payload.above(COPYBREAK) * ((payload + (PAGE_BYTES - 1)) // PAGE_BYTES)
        by_size = (knob("gro_max_size") - 1 - TCP_HEADERS) // payload
        segments = bulk.choose(by_size.least(knob("gro_max_segs")).most(1), 1)

        # how much of it can be under way
        window = rr.choose(payload, (knob("rcvbuf") // 2).least(TCP_MEM // flows.count).most(payload * 2))
        udp_sockets = udp_own.choose(flows.count, 1)
        udp_rcvbuf = knob("rcvbuf").least(UDP_MEM // udp_sockets)
        hop = rps_cpus.above(0).most(knob("rfs") * (1 - unsteered))
        queued = tcp_on.choose(
            window // payload * flows.count, udp_sockets * (udp_rcvbuf // TRUESIZE + 2)
        )
        targets = rps_cpus.most(knob("readers").least(cpus))
        max_backlog = knob("netdev_max_backlog").least(BACKLOGS // targets)
        in_backlogs = hop * (1 - tcp_on) * targets * max_backlog * 2
        skb_count = queued + in_backlogs + flows.count + cpus * 64 + 256
        lists = cpus * 512 + 8192  # pages that lie in the CPUs' lists or are on the way there

        # who works on it
        queues = knob("rx_queues").least(cpus)
        step = knob("rx_cpus").choose((cpus // queues).most(1), 1)
        readers = own_sockets.choose(knob("readers").least(cpus), 1)
        place = knob("reader_cpus")
        first = place.is_(1).choose(queues, place.is_(2).choose(cores, 0))
        reader_cpu = first.least(cpus - readers)

        pages = Pages(host, (queued + in_backlogs) * pages_per_frame + lists, knob("page_recycling"))
        skbs = Skbs(host, pages, skb_count, segments * pages_per_frame, knob("max_skb_frags"), flows)
        nic = RssNic(
            host, flows, queues=queues, ring_frames=knob("ring_frames"), coalesce_ps=knob("coalesce_us") * 1_000_000,
            cpu_step=step,
        )
        senders = BulkSenders(
            host, nic, window_bytes=window, frame_bytes=payload, gap_ps=gap, burst=bulk.choose(knob("burst_segs"), 1),
            round_trip_ps=knob("round_trip_us") * 1_000_000, agents=tcp_on * flows.count, reply=rr,
        )
        offered = (1_000_000_000 // knob("offered_kpps")).most(gap) * queues
        PoissonSource(host, nic, offered, on=1 - tcp_on)
        write_hash(host, nic, knob("rss"))
        nic.write_wire()
        Gro(
            host, nic, pages, skbs, pages_per_frame=pages_per_frame, segments=segments, frame_bytes=payload,
            packet_ps=knob("softirq_packet_ns") * 1000
            + (packet.above(LINEAR_MTU) * tcp_on) * host.cost("split_buffer_ps"),
        ).write_poll("skb_defer_free_flush")

        softnet = Softnet(
            host, skbs, flows, rps=rps_cpus.above(0), rfs=knob("rfs") * (1 - unsteered), reader_cpus=1,
            kind=QUEUED, max_backlog=(1 - tcp_on).choose(max_backlog, 1 << 20), then="deliver_skb",
        )
        rps_first = knob("rps_place").is_(1).choose(0, knob("rps_place").is_(2).choose(cores, cpus))
        spec.init(
            softnet.flow, "by_hash", rps_first.least(cpus - rps_cpus).least(cpus - 1), mod=rps_cpus, random=True
        )
        spec.init(softnet.flow, "by_reader", reader_cpu, mod=readers)
        p = host.program
        with p.symbol("__netif_receive_skb_core"):
            p.label("deliver_skb")
            with p.where(tcp_on, "TCP"):
                p.jump("ip6_rcv")
            with p.where(fanout, "packet_fanout"):
                p.set(ASIDE, SKB)
                p.call("packet_rcv_fanout")
                p.set(SKB, ASIDE)
                p.jump("kfree_skb")
            p.jump("ip_rcv")

        socket = Socket(host, skbs, flows)
        cache = RxCache(host, skbs, flows, knob("rx_skb_cache") * (1 - hop).most(knob("force_rx_cache")))
        Defer(
            host, skbs, socket, defer_free="defer_free", defer_per_cpu="defer_per_cpu", kick=nic.poll, cache=cache
        )
        memory = Memory(host, socket)
        Tcp(
            host, skbs, socket, memory, knob("tcp_early_demux"), "sk_defer_free_flush.bh", knob("backlog_limit_late"),
            local_in="tcp_ip6t_do_table", cache=cache,
        )
        TcpOwnerRules(host, socket, knob("uid_rules"), knob("tcp_early_demux"))
        socket.write_ownership(knob("direct_backlog_call"))
        Reader(
            host, skbs, socket, memory,
            ReaderKeys(**{f.name: knob(f.name) for f in fields(ReaderKeys)}),
            cpu=reader_cpu, recv_size_bytes=knob("recv_size_bytes"), rcvlowat=knob("rcvlowat"), cpus=readers,
            threads=tcp_on * flows.count,
        )
        Acks(host, socket, senders, hot_address=knob("send_check_hot_addr"))
        Neighbours(host, memory, on="neighbours", charger_cpu=cpus - 2, opener_cpu=cpus - 1)

        udp = UdpSockets(
            host, skbs, flows, connected=udp_own, lookup_ps=host.cost("socket_lookup_ps"), rcvbuf=udp_rcvbuf,
            truesize=TRUESIZE, kind=QUEUED,
        )
        routes = Routes6(host, skbs, rules=knob("fib_rules"), forwarding=forward)
        Ip6(host, skbs, udp, routes, early_demux=knob("udp_early_demux"), local_in="ip6t_do_table")
        routes.write()
        OwnerRules(host, udp, knob("uid_rules"))
        udp.write(match_any=knob("match_any"), bound=1 - forward, rx_dst_set=knob("rx_dst_set"))
        DatagramReaders(
            host, udp, cpu=reader_cpu, datagram_bytes=payload, cpus=readers,
            threads=(1 - tcp_on) * (1 - fanout) * udp.sockets,
        )

        rings = PacketSockets(
            host, sockets=readers, ring_frames=host.value(RING_FRAMES), full=knob("ring_start"),
            rollover=knob("rollover"), pressure="pressure", packet_bytes=packet + ETHERNET_HEADER, kind=QUEUED,
        )
        rings.write_receive()
        RingReaders(
            host, rings, Preemptive(), pause_frames=host.value(0), late=host.value(0),
            first_timer=(1 - tcp_on) * queues + knob("rss"), cpu=reader_cpu, on=fanout,
        )
        return (
            Role("softirq", host.value(0).row, "the CPU of the first receive queue"),
            Role("reader", reader_cpu.row, "the CPU of the first program that reads"),
        )


def own_costs(on: Machine) -> dict[str, int]:
    """What the path's functions cost on a machine, where that is known better than `sim.path.costs` says."""
    return {**costs.on_machine(on), **fitted.on_machine(on.name)}


class Preemptive:
    """Softirqs that interrupt a thread whenever they are due: enabling bottom halves starts none."""

    def enable(self) -> None:
        """Write nothing."""


def write_hash(host: Host, nic: RssNic, on: Value) -> None:
    """Write an agent that gives each flow a receive queue by the seed, before the first packet."""
    p = host.program
    p.label("rss_hash")
    p.set(K, nic.flows.count)
    p.label("rss_hash.flow")
    p.alu(FLOW, K, "-", 1)
    p.uniform(RXQ, nic.rxq.count)
    p.store(nic.rss, "rxq", RXQ, FLOW)
    p.loop(K, "rss_hash.flow")
    p.halt()
    host.spec.spawn_agents("rss hash", "rss_hash", on)
