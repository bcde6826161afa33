"""tcp-5.17: one bulk flow into a 100 Gbit/s NIC, the softirq on one CPU and the reader on another.

The series "tcp: optimizations for linux-5.17" (Eric Dumazet, November 2021), so far with its patch 17: packets
that the reader has consumed are freed by the softirq.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from .. import fitted, machine
from ..knob import Knob
from ..machine import Machine
from ..path.acks import Acks
from ..path.defer import Defer
from ..path.host import Host
from ..path.memory import Memory, Neighbours
from ..path.nic import Nic
from ..path.pages import Pages
from ..path.reader import Reader, ReaderKeys
from ..path.sender import BulkSender
from ..path.skbs import Skbs
from ..path.socket import Socket
from ..path.steering import Steering, rps_target
from ..path.tcp import Tcp
from ..result import Metric, Role
from ..spec import Spec
from .scenario import Scenario

HEADERS = 72  # IPv6 40, TCP 20, time stamps 12: MTU 1500 carries 1428 bytes, as the cover letter says
WIRE_OVERHEAD = 38  # preamble, Ethernet header, checksum, gap between frames
PAGE_BYTES = 4096
LINEAR_MTU = 3500  # above it this NIC splits header and payload ("without triggering nonlinear mode", Ahern)
ROUND_TRIP_PS = 20_000_000
RING_FRAMES = 4096
RCVBUF = 3 * 1024 * 1024  # autotuned below the limit of 6 MB (net.ipv4.tcp_rmem); the thread does not say

#: Kernel 5.17 at HZ=1000: softirqs beyond 2 ms go to ksoftirqd, and interrupts wait for it then.
SCHEDULER = {
    "slice_ps": 3_000_000_000, "ksoftirqd_after_ps": 2_000_000_000, "ksoftirqd_slice_ps": 1_000_000_000,
    "ksoftirqd_blocks_irq": 1,
}

#: The other patches of the series that change what a receiver executes, in the order of the series.
SERIES = (
    Knob("backlog_limit_late", 0, "Patch 1: the socket's limits are read only for a packet that was not coalesced.",
         shows_with=(("gro_max_segs", 1),)),
    Knob("send_check_hot_addr", 0, "Patch 3: an ACK's checksum takes the own address from the hot part of the socket.",
         shows_with=(("defer_free", 0), ("ack_after_backlog", 1), ("recv_size_bytes", 1048576))),
    Knob("drop_forced_caps", 0, "Patch 5: sk_route_forced_caps leaves struct sock (8 bytes).",
         shows_with=(("defer_free", 0),)),
    Knob("drop_nocaps", 0, "Patch 6: sk_route_nocaps leaves struct sock (8 bytes).",
         shows_with=(("defer_free", 0),)),
    Knob("fill_sock_hole", 0, "Patch 8: sk_bind_phc fills a hole in struct sock (8 bytes).",
         shows_with=(("defer_free", 0),)),
    Knob("align_memory_globals", 0, "Patch 10: tcp_memory_allocated and tcp_sockets_allocated begin a line each.",
         shows_with=(("neighbours", 1),)),
    Knob("flush_backlog", 0, "Patch 11: the reader flushes the backlog without releasing the socket."),
    Knob("direct_backlog_call", 0, "Patch 12: sk_backlog_rcv is called by name, not through its pointer."),
    Knob("poll_urg_first", 0, "Patch 14: tcp_poll() looks at urg_data before the cold urg_seq.",
         shows_with=(("poll", 1),)),
    Knob("urg_unlikely", 0, "Patch 15: urgent data are marked unlikely."),
    Knob("direct_rfree", 0, "Patch 16: sock_rfree is called by name, not through its pointer."),
    Knob("timeo_first", 0, "Patch 18: a read that may not block is noticed before the socket's fields are read.",
         shows_with=(("nonblocking", 1), ("rcvlowat", 262144), ("link_gbps", 40))),
    Knob("ack_after_backlog", 0, "Patch 19: no ACK is sent right before the backlog is processed."),
    Knob("demux_fields_close", 0, "Patch 20: the early-demux fields lie beside sk_refcnt, on one line."),
)


class Tcp517(Scenario):
    """The bulk receiver of the 5.17 series."""

    name = "tcp-5.17"
    title = "One TCP flow at 100 Gbit/s: who frees what the reader has consumed"
    varies = "the sender's gaps (each up to 2 % of a packet's time longer) and which page lies where at the start"
    verified = True
    warm_ps = 1_500_000_000
    quick_ps = 2_100_000_000
    until_ps = 3_500_000_000
    patches = ("defer_free", "defer_per_cpu", *(k.name for k in SERIES))
    knobs = (
        Knob("defer_free", 1, "Patch 17: packets that the reader has consumed are freed by the softirq, or after the "
             "socket is released."),
        Knob("defer_per_cpu", 0, "The later form of defer_free (5.19): packets go back to the allocating CPU, by "
             "lists per CPU."),
        *SERIES,
        Knob("mtu", 1500, "Largest IP packet. 4168 carries 4096 bytes of payload, as in the thread's second test.",
             1280, 9000, 4, "bytes", kernel="IPV6_MIN_MTU is 1280"),
        Knob("gro_max_size", 65536, "GRO stops merging when the packet would reach this length.", 4096, 524280, 4,
             "bytes", kernel="65,536 fixed in 5.17; per device and up to 524,280 since 5.19 (BIG TCP)"),
        Knob("gro_max_segs", 129, "GRO stops after so many segments; 1 switches GRO off (the book's own knob).",
             1, 129, 1, "segments"),
        Knob("max_skb_frags", 17, "Page fragments of one sk_buff; a packet with more is a chain.", 17, 45, 1,
             "fragments", kernel="CONFIG_MAX_SKB_FRAGS: 17 to 45 since 6.4, 17 before"),
        Knob("tcp_early_demux", 1, "Find the socket before the route is looked up.", kernel="default 1 since 4.12"),
        Knob("rps_cpus", 0, "CPUs that RPS may send packets to, as a bit mask; 0 is off.", 0, 15, 1, "mask",
             kernel="/sys/class/net/DEV/queues/rx-N/rps_cpus, default 0"),
        Knob("rfs", 0, "RFS: packets go to the reader's CPU.", kernel="net.core.rps_sock_flow_entries, default 0"),
        Knob("reader_cpu", "same_socket", "Where the reading thread runs, seen from the NIC's CPU.",
             choices=("same_cpu", "same_socket", "other_socket")),
        Knob("recv_size_bytes", 524288, "Buffer of each recvmsg(). The thread does not say; the book's assumption.",
             16384, 4194304, 4096, "bytes"),
        Knob("rcvbuf", RCVBUF, "Receive buffer; half of it is the window that the sender sees.", 262144, 16777216, 4096,
             "bytes", kernel="net.ipv4.tcp_rmem: maximum 6 MB, 32 MB since 6.19"),
        Knob("link_gbps", 100, "Rate of the link.", 10, 400, 10, "Gbit/s"),
        Knob("softirq_packet_ns", fitted.knob("tcp-5.17", "softirq_packet_ps", 60_000) // 1000,
             "Driver and GRO time of a packet, without its pages and lines. Fitted on 5.8 Mpps keeping a core busy.",
             20, 400, 1, "ns"),
        Knob("rcvlowat", 1, "SO_RCVLOWAT: a read returns early only when it has so many bytes.", 1, 1048576, 1, "bytes",
             kernel="default 1"),
        Knob("acks_due", 0, "ACKs by the kernel's rules, TCP's input sends some too. Off, the reader alone sends one, "
             "whenever something was copied: so the constants were fitted."),
        Knob("nonblocking", 0, "The program reads without blocking and waits in epoll.",
             shows_with=(("rcvlowat", 262144), ("link_gbps", 40))),
        Knob("poll", 0, "The program asks poll() before each read."),
        Knob("neighbours", 0, "Two other programs on the far socket charge TCP memory and open connections."),
        Knob("page_recycling", 0, "The driver keeps its pages in a pool instead of the page allocator."),
        Knob("coalesce_us", fitted.knob("tcp-5.17", "coalesce_us", 12),
             "The NIC's interrupt waits so long after a packet (moderation). Fitted on 25,000 interrupts a second.",
             0, 200, 1, "us"),
    )
    metrics = (
        Metric("gbps", "Gbit/s", ("stat:bytes",), scale=8e3, doc="payload copied to the reader",
               events=("stat:copies",)),
        Metric("mpps", "Mpps", ("stat:packets",), scale=1e6, doc="packets polled from the ring"),
        Metric("gro_segments", "segments", ("stat:gro_segments",), ("stat:gro_packets",), doc="segments a GRO packet"),
        Metric("interrupts_per_s", "1/s", ("stat:interrupts",), scale=1e12),
        Metric("acks_per_s", "1/s", ("stat:acks",), scale=1e12),
        Metric("input_acks_per_s", "1/s", ("stat:input_acks",), scale=1e12, doc="of these, sent by TCP's input"),
        Metric("owned_share", "%", ("stat:owned",), ("stat:owned", "stat:direct"), 100.0,
               "GRO packets that met a socket owned by the reader and went to the backlog"),
        Metric("freed_by_softirq", "%", ("stat:freed_by_softirq",), ("stat:freed_by_softirq", "stat:freed_by_reader"),
               100.0, "consumed packets that the softirq freed"),
        Metric("transfers_per_packet", "lines", ("header:transfers",), ("stat:packets",), doc="cache-line hand-overs"),
        Metric("cold_lines_per_packet", "lines", ("header:llc_reads", "header:memory_reads"), ("stat:packets",),
               doc="lines that had left the core's own cache"),
        Metric("lock_wait", "%", ("lock_wait:*",), scale=100.0, doc="time that CPUs spun for locks, in CPUs"),
        Metric("ring_length", "packets", ("queue:ring",), doc="mean packets waiting in the NIC's ring"),
        Metric("receive_queue_length", "packets", ("queue:sk_receive_queue",), doc="mean GRO packets to be read"),
        Metric("backlog_length", "packets", ("queue:sk_backlog",), doc="mean GRO packets in the backlog"),
        Metric("defer_list_length", "packets", ("queue:sk->defer_list",), doc="mean GRO packets that wait to be freed"),
        Metric("neighbour_reads_per_s", "1/s", ("stat:neighbour_reads",), scale=1e12,
               doc="connections the neighbour opened"),
        Metric("coalesced_per_s", "1/s", ("stat:coalesced",), scale=1e12,
               doc="packets merged into the last one queued"),
        Metric("reads_per_s", "1/s", ("stat:reads",), scale=1e12),
        Metric("nic_drops_per_s", "1/s", ("stat:nic_drops",), scale=1e12),
    )

    def default_machine(self) -> Machine:
        """A large server of 2021 as four CPUs on two sockets, with the constants fitted for it."""
        return machine.load("cascade-lake").with_(sockets=2, cores_per_socket=2, threads_per_core=1)

    def compose(self, spec: Spec) -> Sequence[Role]:
        """Write the path for one flow."""
        host = Host(spec, self.machine, SCHEDULER, {**self.fitted, **self.changes})
        mtu, link = host.knob("mtu"), host.knob("link_gbps")
        payload = mtu - HEADERS
        pages_per_frame = (payload + (PAGE_BYTES - 1)) // PAGE_BYTES
        by_size = (host.knob("gro_max_size") - 1 - HEADERS) // payload
        segments = by_size.least(host.knob("gro_max_segs")).most(1)
        window = host.knob("rcvbuf") // 2
        gap = (mtu + WIRE_OVERHEAD) * 8000 // link
        place, far = host.knob("reader_cpu"), self.machine.topology.cores_per_socket
        reader_cpu = place.is_(1) + place.is_(2) * far  # same CPU 0, next core of the socket, first of the other one

        pages = Pages(host, window // payload * pages_per_frame * 2 + 8192, host.knob("page_recycling"))
        skbs = Skbs(host, pages, window // payload + 256, segments * pages_per_frame, host.knob("max_skb_frags"))
        nic = Nic(
            host, pages, skbs, ring_frames=RING_FRAMES, pages_per_frame=pages_per_frame, gro_segments=segments,
            packet_ps=host.knob("softirq_packet_ns") * 1000,
            split_ps=mtu.above(LINEAR_MTU) * host.cost("split_buffer_ps"), frame_bytes=payload,
            coalesce_ps=host.knob("coalesce_us") * 1_000_000,
        )
        socket = Socket(host, skbs, 1, acks_due=host.knob("acks_due"))
        Defer(host, skbs, socket, defer_free="defer_free", defer_per_cpu="defer_per_cpu", kick=nic.poll)
        nic.write_poll("skb_defer_free_flush")
        rfs, mask = host.knob("rfs"), host.knob("rps_cpus")
        Steering(host, skbs, rfs.most(mask.above(0)), rfs.choose(reader_cpu, rps_target(host, mask, 4)))
        memory = Memory(host, socket)
        Tcp(
            host, skbs, socket, memory, host.knob("tcp_early_demux"), "sk_defer_free_flush.bh",
            host.knob("backlog_limit_late"),
        )
        socket.write_ownership(host.knob("direct_backlog_call"))
        sender = BulkSender(
            host, nic, window_bytes=window, frame_bytes=payload, gap_ps=gap, jitter_ps=gap // 50,
            round_trip_ps=ROUND_TRIP_PS,
        )
        Reader(
            host, skbs, socket, memory, ReaderKeys(**{f.name: host.knob(f.name) for f in fields(ReaderKeys)}),
            cpu=reader_cpu, recv_size_bytes=host.knob("recv_size_bytes"), rcvlowat=host.knob("rcvlowat"),
        )
        Acks(
            host, socket, sender, hot_address=host.knob("send_check_hot_addr"), window_bytes=window,
            mss_bytes=payload, rcvlowat=host.knob("rcvlowat"),
        )
        Neighbours(host, memory, on="neighbours", charger_cpu=2, opener_cpu=3)
        return (
            Role("softirq", host.value(0).row, "the CPU that takes the NIC's interrupts"),
            Role("reader", reader_cpu.row, "the CPU of the thread in recvmsg()"),
        )
