"""tcp-rx-skb-cache: requests and replies over 10,000 flows, and who frees what another CPU allocated.

"tcp: add one skb cache for rx" (patch 3 of 3, v2) and "tcp: add one skb cache for tx" (Eric Dumazet, March 2019,
Linux 5.2; removed in 5.16).
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import machine
from ..engine.tables import QUEUED
from ..knob import Knob
from ..machine import Machine
from ..path.clients import Clients
from ..path.epoll import Epoll
from ..path.fragments import Fragments
from ..path.host import Host
from ..path.kmem import SIZES, Cache, Nodes
from ..path.loopback import MESSAGE_BYTES as BULK_BYTES
from ..path.loopback import LoopbackPairs
from ..path.request import HEAD_FIELDS, SKB_FIELDS, RequestTcp
from ..path.rss import RssNic
from ..path.slab import Slab
from ..path.slub import Slub
from ..path.softnet import Softnet
from ..result import Metric, Role
from ..spec import Spec
from .scenario import Scenario

FLOWS = 10_000  # the thread
READERS = 112  # the thread: 112 threads; one on each CPU
CORES_PER_SOCKET = 28  # 112 hyper-threads in two sockets
MESSAGE_BYTES = 1  # assumed: the least that a request can be
RING_FRAMES = 1024
FRAGMENT_PAGES = 16_384
FIRST_PS = 120_000
PAIRS = 224  # the robot's 208 on 104 hyper-threads: two for each
MOST_WINDOW = 64

#: Linux 5.0: what a softirq leaves after 2 ms goes to ksoftirqd, which other interrupts then wait for.
SCHEDULER = {
    "slice_ps": 3_000_000_000, "ksoftirqd_after_ps": 2_000_000_000, "ksoftirqd_slice_ps": 3_000_000_000,
    "ksoftirqd_blocks_irq": 1,
}

_DONE = ("stat:transactions",)


class TcpRxSkbCache(Scenario):
    """Requests and replies with and without the sockets' two caches."""

    name = "tcp-rx-skb-cache"
    title = "Requests and replies: objects allocated on one CPU and freed on another"
    varies = (
        "the receive queue that RSS gives to each flow, and the CPU that RPS gives to it; on loopback, how long a send "
        "takes"
    )
    warm_ps = 3_000_000_000
    quick_ps = 4_500_000_000
    until_ps = 7_000_000_000
    patches = ("rx_skb_cache", "tx_skb_cache")
    knobs = (
        Knob("rx_skb_cache", 1, "The patch: a socket keeps the last sk_buff that its reader has read; softirq frees "
             "it with the next packet.", kernel="5.2 to 5.15, behind net.ipv4.tcp_rx_skb_cache, off by default"),
        Knob("tx_skb_cache", 1, "Its twin: a socket keeps the last acknowledged sk_buff for its next send, and a "
             "head holds headers only.", kernel="5.2 to 5.15, behind net.ipv4.tcp_tx_skb_cache, off by default"),
        Knob("force_rx_cache", 0, "Keep the receive cache even with RPS or RFS, which the patch does not.",
             shows_with=(("rps_cpus", "all"),)),
        Knob("allocator", "slab", "The kernel's slab allocator. The authors' company ran SLAB; the default was SLUB.",
             choices=("slub", "slab"), kernel="CONFIG_SLUB, CONFIG_SLAB"),
        Knob("rx_queues", 56, "Receive queues of the NIC, on CPUs 0 and up: one a core. Not stated.", 8, 112, 1,
             "queues"),
        Knob("softirq_packet_ns", 500, "Driver's time for a packet, without its sk_buff, lines and TCP. No source.",
             100, 3000, 50, "ns"),
        Knob("round_trip_us", 60, "From a reply to the flow's next request, with the client's time. No source.",
             10, 2000, 10, "us"),
        Knob("lock_section_ns", 0, "Time added inside every section of the allocators' locks: how near they are to "
             "being full.", 0, 400, 10, "ns", shows_with=(("tx_skb_cache", 0),)),
        Knob("coalesce_us", 8, "The NIC's interrupt waits so long after a packet.", 0, 100, 1, "us",
             kernel="mlx5: dynamic moderation starts with 8"),
        Knob("rps_cpus", "none", "CPUs that RPS spreads packets over by hash.", choices=("none", "all"),
             kernel="/sys/class/net/DEV/queues/rx-N/rps_cpus, default 0"),
        Knob("rfs", 0, "RFS: packets go to the CPU of their reader.",
             kernel="net.core.rps_sock_flow_entries, default 0"),
        Knob("ip_early_demux", 1, "The socket is found before the route and gives its own cached one.",
             kernel="net.ipv4.ip_early_demux, default 1"),
        Knob("workload", "rr", "Requests and replies, or bulk over loopback as a test robot ran it: netperf "
             "TCP_STREAM, two pairs for each hyper-thread.", choices=("rr", "loopback")),
        Knob("window_messages", 2, "Loopback: unread messages of 16 KB that stop a sender. No source; chosen because "
             "the cache loses there, and at none of 1, 4, 8 and 16.", 1, MOST_WINDOW, 1, "messages",
             shows_with=(("workload", "loopback"),)),
        Knob("mtu", 1500, "Largest IP packet.", 576, 9000, 4, "bytes", effect="inert",
             why="a request of one byte is a packet of 53: no MTU cuts it"),
        Knob("gro_max_segs", 1, "Segments that GRO merges.", 1, 17, 1, "segments", effect="inert",
             why="a flow has one request under way: there is nothing to merge it with"),
        Knob("gro_max_size", 65536, "Length at which GRO stops merging.", 4096, 65536, 4, "bytes", effect="inert",
             why="nothing is merged: see gro_max_segs", kernel="65,536 fixed until 5.18"),
    )
    metrics = (
        Metric("mpps", "Mpps", _DONE, scale=1e6, doc="requests answered, a packet each"),
        Metric("pair_mbps", "Mbit/s", ("stat:loopback_messages",), scale=8e6 * BULK_BYTES / PAIRS,
               doc="loopback: what each pair moves"),
        Metric("loopback_pages", "pages", ("stat:loopback_pages",), ("stat:loopback_messages",),
               doc="loopback: pages that senders took from a zone, by message"),
        Metric("kept", "sk_buffs", ("stat:requests_kept",), _DONE,
               doc="requests whose sk_buff a socket kept, by request"),
        Metric("remote_frees", "objects", ("stat:remote_frees",), _DONE,
               doc="SLUB: objects given back to a slab that is not this CPU's, by request"),
        Metric("alien_frees", "objects", ("stat:alien_frees",), _DONE,
               doc="SLAB: objects of the other node given back, by request"),
        Metric("list_locks", "locks", ("stat:list_locks",), _DONE, doc="times that a list_lock was taken, by request"),
        Metric("slab_objects", "objects", ("stat:slab_takes", "stat:free_blocks"), _DONE,
               doc="SLAB: objects taken from a slab or given back to one under the list_lock, by request"),
        Metric("transfers_per_packet", "lines", ("header:transfers",), _DONE),
        Metric("lock_wait", "%", ("lock_wait:*",), scale=100.0, doc="time that CPUs spun for locks, in CPUs"),
        Metric("alien_wait", "%", ("lock_wait:skb alien lock", "lock_wait:fclone alien lock",
                                   "lock_wait:head alien lock"), scale=100.0, doc="of it, for alien locks"),
        Metric("list_wait", "%", ("lock_wait:skb list_lock", "lock_wait:fclone list_lock", "lock_wait:head list_lock"),
               scale=100.0, doc="of it, for the nodes' list_locks"),
        Metric("zone_wait", "%", ("lock_wait:zone->lock",), scale=100.0, doc="of it, for the zones' locks"),
        Metric("frag_pages", "pages", ("stat:frag_pages",), _DONE, doc="order-3 pages taken from a zone, by request"),
        Metric("slabs_grown_per_s", "1/s", ("stat:slabs_grown",), scale=1e12),
        Metric("ring_length", "packets", ("queue:ring",), doc="mean packets in the NIC's rings"),
        Metric("ready_length", "flows", ("queue:rdllist", "queue:txlist"), doc="mean flows that wait for their thread"),
        Metric("wakeups_per_s", "1/s", ("stat:wakeups",), scale=1e12),
        Metric("interrupts_per_s", "1/s", ("stat:interrupts",), scale=1e12),
        Metric("nic_drops_per_s", "1/s", ("stat:nic_drops",), scale=1e12),
    )

    def default_machine(self) -> Machine:
        """Two sockets of 28 cores of 2 threads."""
        return machine.load("cascade-lake").with_(cores_per_socket=CORES_PER_SOCKET)

    def compose(self, spec: Spec) -> Sequence[Role]:
        """Write the path for all flows."""
        host = Host(spec, self.machine, SCHEDULER, {**self.fitted, **self.changes})
        knob = host.knob
        flows = spec.domain("flow", FLOWS)
        nodes = Nodes(host)
        hop = knob("rps_cpus").most(knob("rfs"))
        rx_cache = knob("rx_skb_cache") * (1 - hop).most(knob("force_rx_cache"))
        tx_cache = knob("tx_skb_cache")
        slab = knob("allocator")
        sizes = {"skb": SIZES[256], "fclone": SIZES[512], "head": SIZES[2048].choose(tx_cache, SIZES[1024])}
        objects = {"skb": 40_000, "fclone": 30_000, "head": 24_000}
        fields = {"skb": SKB_FIELDS, "fclone": SKB_FIELDS, "head": HEAD_FIELDS}
        section_ps = knob("lock_section_ns") * 1000
        caches = {n: Cache(host, nodes, n, sizes[n], objects[n], fields[n], slab, section_ps) for n in sizes}
        nic = RssNic(
            host, flows, queues=knob("rx_queues"), ring_frames=RING_FRAMES,
            coalesce_ps=knob("coalesce_us") * 1_000_000, spread="hashed",
        )
        fragments = Fragments(host, nodes, FRAGMENT_PAGES)
        epoll = Epoll(host, flows, READERS)
        tcp = RequestTcp(
            host, nic, epoll, fragments, **caches, rx_cache=rx_cache, tx_cache=tx_cache, tx_frag=tx_cache,
            early_demux=knob("ip_early_demux"), message_bytes=MESSAGE_BYTES,
        )
        nic.write_poll(
            knob("softirq_packet_ns") * 1000, "alloc_skb", "net_rps_action_and_irq_enable", "mlx5e_poll_rx_cq"
        )
        tcp.write_alloc("netif_receive_skb")
        Softnet(host, tcp, flows, rps=knob("rps_cpus"), rfs=knob("rfs"), reader_cpus=READERS, kind=QUEUED)
        tcp.write_receive()
        for cache in caches.values():
            cache.entry()
            Slub(cache)
            Slab(cache)
        nic.write_wire()
        requests = 1 - knob("workload")
        clients = Clients(
            host, nic, round_trip_ps=knob("round_trip_us") * 1_000_000, first_ps=FIRST_PS, running=requests
        )
        tcp.write_threads(clients, epoll.reader.count * requests)
        # the threads of one workload are there, those of the other are none
        LoopbackPairs(
            host, nodes, fragments, pairs=knob("workload") * PAIRS, most_pairs=PAIRS, window=knob("window_messages"),
            most_window=MOST_WINDOW, rx_cache=rx_cache,
        )
        return [
            Role("softirq", host.value(0).row, "the first CPU with a receive queue, and a thread"),
            Role("reader", host.value(READERS - 1).row, "a CPU with a thread only"),
        ]
