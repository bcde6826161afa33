"""The knobs and readings of the lab."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .. import fitted, machine
from ..knob import Knob
from ..result import Metric
from .tcp_5_17 import SERIES

KINDS: Final = ("tcp_bulk", "tcp_rr", "udp", "udp_connected", "forward", "packet_fanout")
MAX_CORES: Final = 112  # the engine's limit

_OWN: Final = "cascade-lake"
_PROCESSORS: Final = (_OWN, *(name for name in machine.names() if name != _OWN))
_RR: Final = ("socket", "tcp_rr")
_UDP: Final = ("socket", "udp")
_FANOUT: Final = ("socket", "packet_fanout")
_CONNECTED: Final = ("socket", "udp_connected")

#: Which kinds a patch's code runs for, where that is not seen at the defaults.
_AT: Final[dict[str, tuple[tuple[str, int | str], ...]]] = {
    "backlog_limit_late": (("gro_max_segs", 1), ("flows", 1)),
    "send_check_hot_addr": (("defer_free", 0), ("ack_after_backlog", 1), ("flows", 1)),
    "drop_forced_caps": (("defer_free", 0), ("gro_max_segs", 1), ("flows", 1)),
    "drop_nocaps": (("defer_free", 0), ("gro_max_segs", 1), ("flows", 1)),
    "fill_sock_hole": (("defer_free", 0), ("gro_max_segs", 1), ("flows", 1)),
    "direct_backlog_call": (("flows", 1),),
    "flush_backlog": (("flows", 1),),
    "ack_after_backlog": (("flows", 1),),
    "timeo_first": (("nonblocking", 1), ("rcvlowat", 262144), ("flows", 1), ("link_gbps", 40)),
}
_SERIES: Final = tuple(replace(k, shows_with=_AT.get(k.name, k.shows_with)) for k in SERIES)

PATCHES: Final = (
    "defer_free", "defer_per_cpu", *(k.name for k in _SERIES), "rx_skb_cache", "force_rx_cache", "udp_early_demux",
    "match_any", "rx_dst_set", "pressure",
)

KNOBS: Final[tuple[Knob, ...]] = (
    Knob("socket", "tcp_bulk", "What packets are for: bulk TCP; TCP requests, a thread a flow that answers; one UDP "
         "socket for all, or a connected one a flow; another host; or packet sockets with rings in one fanout group.",
         choices=KINDS),
    Knob("flows", 8, "Remote ends.", 1, 512, 1, "flows"),
    Knob("message_bytes", 64, "Payload of a datagram or of a request; one packet holds it.", 1, 8928, 1, "bytes",
         shows_with=(_RR,)),
    Knob("link_gbps", 100, "Rate of the link.", 1, 400, 1, "Gbit/s"),
    Knob("offered_kpps", 4000, "Datagrams that arrive, if the link carries so many.", 10, 40000, 10, "kpps",
         shows_with=(_UDP,)),
    Knob("burst_segs", 16, "Packets of one flow that follow each other on the wire.", 1, 64, 1, "packets"),
    Knob("round_trip_us", 20, "From an ACK or reply to what it lets through.", 5, 1000, 1, "us",
         shows_with=(_RR,)),
    # the machine's side of it
    Knob("processor", _OWN, "Whose lines, locks, interrupts, copies and clock these are; how many CPUs "
         "there are is said below.", choices=_PROCESSORS),
    Knob("sockets", 2, "Processor packages of the machine.", 1, 4, 1, "packages"),
    Knob("cores_per_socket", 4, "Cores of a package; 112 in all at most.", 2, MAX_CORES, 1, "cores"),
    Knob("threads_per_core", 1, "Hardware threads of a core.", 1, 2, 1, "threads"),
    Knob("rx_queues", 2, "Receive queues of the NIC; no more than CPUs.", 1, 64, 1, "queues"),
    Knob("rx_cpus", "first", "Which CPUs the queues interrupt: the first ones, or spread over all.",
         choices=("first", "spread")),
    Knob("rss", "even", "How RSS gives flows to queues: in turn, or by hash (the seed's).", choices=("even", "hashed")),
    Knob("ring_frames", 1024, "Descriptors of a receive queue.", 64, 4096, 64, "frames",
         shows_with=(_UDP, ("rx_queues", 1))),
    Knob("coalesce_us", 8, "A queue's interrupt waits so long after a packet.", 0, 100, 1, "us",
         kernel="mlx5: dynamic moderation starts with 8"),
    Knob("softirq_packet_ns", fitted.knob("tcp-5.17", "softirq_packet_ps", 67_000) // 1000,
         "Driver's and GRO's time of a packet, without its memory and lines. As fitted for tcp-5.17.", 20, 2000, 1,
         "ns"),
    Knob("readers", 4, "CPUs on which programs read; flows take them in turn. Of packet sockets, each "
         "reader has its own.", 1, 64, 1, "CPUs"),
    Knob("reader_cpus", "behind", "Where those CPUs are: the same as the NIC's, right behind them, or on the other "
         "socket.", choices=("same", "behind", "other_socket")),
    # steering and protocols
    Knob("rps_cpus", 0, "CPUs that RPS spreads flows over by hash; 0 is off.",
         0, 16, 1, "CPUs", kernel="/sys/class/net/DEV/queues/rx-N/rps_cpus, a mask, default 0"),
    Knob("rps_place", "last", "Which CPUs those are: the machine's last ones, its first ones, where the NIC's queues "
         "interrupt, or the first ones of the other socket.", choices=("last", "first", "other_socket"),
         shows_with=(("rps_cpus", 2),)),
    Knob("rfs", 0, "RFS: packets go to their reader's CPU. A host that only forwards has no readers.",
         kernel="net.core.rps_sock_flow_entries, default 0"),
    Knob("netdev_max_backlog", 1000, "Packets that wait for a CPU after RPS; over all CPUs 8,192 at most.",
         64, 1000, 8, "packets",
         kernel="net.core.netdev_max_backlog, default 1000",
         shows_with=(_UDP, ("rps_cpus", 1), ("offered_kpps", 8000))),
    Knob("mtu", 1500, "Largest IP packet.", 1280, 9000, 4, "bytes", kernel="IPV6_MIN_MTU is 1280"),
    Knob("gro_max_segs", 129, "GRO stops after so many segments; 1 switches it off (the book's own knob). TCP only: "
         "plain UDP is not merged by default.", 1, 129, 1, "segments"),
    Knob("gro_max_size", 65536, "GRO stops merging when the packet would reach this length.", 4096, 524280, 4,
         "bytes", kernel="65,536 fixed in 5.17; per device and up to 524,280 since 5.19 (BIG TCP)"),
    Knob("max_skb_frags", 17, "Page fragments of one sk_buff; a packet with more is a chain.", 17, 45, 1, "fragments",
         kernel="CONFIG_MAX_SKB_FRAGS: 17 to 45 since 6.4, 17 before"),
    Knob("page_recycling", 0, "The driver keeps its pages in a pool instead of the page allocator."),
    Knob("tcp_early_demux", 1, "TCP finds the socket before the route is looked up.",
         kernel="net.ipv4.tcp_early_demux, default 1 since 4.12"),
    Knob("udp_early_demux", 1, "UDP finds the socket before the route is looked up.",
         kernel="net.ipv4.udp_early_demux, default 1 since 4.12", shows_with=(_CONNECTED,)),
    Knob("match_any", 0, "UDP's early demux as first posted: the full look-up is made and any socket is taken.",
         kernel="restricted by 0bd84065b19b, also 4.12", shows_with=(_UDP,)),
    Knob("rx_dst_set", 0, "A UDP socket found by early demux keeps the packet's route for the next one.",
         kernel="since 4.13", shows_with=(_CONNECTED,)),
    Knob("uid_rules", 0, "Netfilter rules of local input that need the packet's socket.", 0, 32, 1, "rules"),
    Knob("fib_rules", 0, "Policy rules before the local table, walked by each look-up of a route.", 0, 64, 1, "rules",
         kernel="ip -6 rule", shows_with=(_UDP,)),
    # sockets and programs
    Knob("rcvbuf", 1048576, "Receive buffer of a socket; half of TCP's is the window. All together hold 24 MB at most, "
         "UDP's 16.",
         65536, 4194304, 4096, "bytes", kernel="net.ipv4.tcp_rmem up to 6 MB; net.core.rmem_default 212,992"),
    Knob("recv_size_bytes", 65536, "Buffer of each recvmsg() of TCP.", 4096, 1048576, 4096, "bytes"),
    Knob("rcvlowat", 1, "SO_RCVLOWAT: a read of TCP returns early only when it has so many bytes.", 1, 524288, 1,
         "bytes", kernel="default 1"),
    Knob("poll", 0, "The program asks poll() before each read of TCP."),
    Knob("nonblocking", 0, "The program reads TCP without blocking and waits in epoll.",
         shows_with=(("rcvlowat", 262144), ("flows", 1), ("link_gbps", 40))),
    Knob("neighbours", 0, "Two other programs, on the last two CPUs, charge TCP memory and open connections."),
    Knob("rollover", 1, "PACKET_FANOUT_FLAG_ROLLOVER: a packet whose ring is full goes to another socket's.",
         shows_with=(_FANOUT, ("ring_start", "full"))),
    Knob("ring_start", "empty", "Whether the packet sockets' rings are empty or full at the start.",
         choices=("empty", "full"), shows_with=(_FANOUT,)),
    # patches
    Knob("defer_free", 0, "5.17's patch 17: packets that the reader has consumed are freed by the softirq, or after "
         "the socket is released."),
    Knob("defer_per_cpu", 0, "The later form of defer_free (5.19): packets go back to the allocating CPU, by lists "
         "per CPU."),
    *_SERIES,
    Knob("rx_skb_cache", 0, "The patch of 5.2 to 5.15: a socket keeps the last packet that its reader has read; the "
         "softirq of the next one frees it. Off with RPS or RFS."),
    Knob("force_rx_cache", 0, "Keep the receive cache even with RPS or RFS, which the patch does not.",
         shows_with=(("rx_skb_cache", 1), ("rps_cpus", 4))),
    Knob("tx_skb_cache", 0, "The twin of rx_skb_cache for sent packets.", effect="inert",
         why="the lab charges an ACK or a reply as one amount, without the objects that it is made of: they are in "
             "tcp-rx-skb-cache"),
    Knob("prequeue_dst_drop", 0, "3.18's patch of the prequeue.", effect="refused",
         why="TCP here is that of 5.16, and the prequeue went with 4.14: it is in tcp-prequeue"),
    Knob("pressure", 0, "4.2's patch of packet sockets: one without room is marked, and only its own CPU looks at it.",
         shows_with=(_FANOUT, ("ring_start", "full"), ("offered_kpps", 8000))),
)

_PACKETS: Final = ("stat:packets",)
METRICS: Final = (
    Metric("gbps", "Gbit/s", ("stat:bytes",), scale=8e3, doc="payload copied to programs",
           events=("stat:copies", "stat:delivered")),
    Metric("mpps", "Mpps", _PACKETS, scale=1e6, doc="packets polled from the NIC's rings"),
    Metric("read_mpps", "Mpps", ("stat:delivered",), scale=1e6,
           doc="datagrams that programs got, or that lie in their rings"),
    Metric("transactions_per_s", "1/s", ("stat:transactions",), scale=1e12, doc="requests answered"),
    Metric("forwarded_mpps", "Mpps", ("stat:forwarded",), scale=1e6),
    Metric("gro_segments", "segments", ("stat:gro_segments",), ("stat:gro_packets",), doc="segments a GRO packet"),
    Metric("gro_full_share", "%", ("stat:gro_full",), ("stat:gro_packets",), 100.0,
           "GRO packets that went up because they were full; the others went up when their poll ended"),
    Metric("lookups_per_packet", "look-ups", ("stat:lookups",), _PACKETS, doc="socket look-ups of UDP and of rules"),
    Metric("route_lookups_per_packet", "look-ups", ("stat:route_lookups",), _PACKETS, doc="UDP and forwarding"),
    Metric("demux_found_share", "%", ("stat:demux_found",), ("stat:demux_calls",), 100.0,
           "early demuxes of UDP that found a socket"),
    Metric("owned_share", "%", ("stat:owned",), ("stat:owned", "stat:direct"), 100.0,
           "TCP's packets that met a socket owned by its reader and went to the backlog"),
    Metric("freed_by_softirq", "%", ("stat:freed_by_softirq",), ("stat:freed_by_softirq", "stat:freed_by_reader"),
           100.0, "TCP's consumed packets that a softirq freed"),
    Metric("interrupts_per_s", "1/s", ("stat:interrupts",), scale=1e12),
    Metric("ipis_per_s", "1/s", ("stat:ipis",), scale=1e12),
    Metric("wakeups_per_s", "1/s", ("stat:wakeups",), scale=1e12),
    Metric("reads_per_s", "1/s", ("stat:reads",), scale=1e12),
    Metric("transfers_per_packet", "lines", ("header:transfers",), _PACKETS, doc="cache-line hand-overs"),
    Metric("cold_lines_per_packet", "lines", ("header:llc_reads", "header:memory_reads"), _PACKETS,
           doc="lines that had left the core's own cache"),
    Metric("lock_wait", "%", ("lock_wait:*",), scale=100.0, doc="time that CPUs spun for locks, in CPUs"),
    Metric("ring_length", "packets", ("queue:ring",), doc="mean packets in the NIC's rings"),
    Metric("receive_queue_length", "packets", ("queue:sk_receive_queue",), doc="mean packets that wait to be read"),
    Metric("backlog_length", "packets", ("queue:sk_backlog",), doc="mean packets in sockets' backlogs"),
    Metric("nic_drops_per_s", "1/s", ("stat:nic_drops",), scale=1e12),
    Metric("backlog_drops_per_s", "1/s", ("stat:backlog_drops",), scale=1e12, doc="packets that RPS found no room for"),
    Metric("probes_per_packet", "probes", ("stat:probes",), _PACKETS, doc="packet sockets: looks for room in a ring"),
    Metric("ring_drops_per_s", "1/s", ("stat:ring_drops",), scale=1e12, doc="packets that found every ring full"),
    Metric("rcvbuf_drops_per_s", "1/s", ("stat:rcvbuf_drops",), scale=1e12, doc="datagrams that found a full socket"),
)
