"""UDP over IPv6: the hash chain, early demux, delivery to a socket's receive queue; names and order of 4.11 to 4.13.

Those kernels protect a flooded socket, and this code does not: they take a busylock before the queue's lock when the
socket is more than half full (since 4.10), and the reader moves the whole queue to one of its own (since 4.13). So
with many CPUs that fill one socket, the wait for the queue's lock here is more than theirs.

Every socket of the model is bound to one port, so they form one hash chain. A look-up scores all of it. Sockets
that are connected have their own address, so they hang on the second table (address and port) too; early demux
looks there, at the first socket only, and takes it if both ends match. A socket bound to any address is not there.
"""

from __future__ import annotations

from typing import Final

from ..engine.tables import TICKET
from ..expression import Number, Value
from ..program import Register
from ..spec import Domain, Integer, Reference
from .host import Host
from .linear import RoutedSkbs
from .registers import FLOW, OTHER, SKB, K, M, N

SOCK: Final = Register(7, "sk")  # the socket of the packet in hand, or -1

#: Lines of a UDPv6 socket by what lies together: ports and addresses (two lines), reference count and drops, queue
#: with its lock and memory account, wake-up, cached route, owner. From the order of include/net/sock.h in 4.11.
FIELDS: Final = {
    "skc_portpair": 0, "skc_v6_rcv_saddr": 1, "sk_receive_queue": 3, "sk_rmem_alloc": 3, "sk_rcvbuf": 4, "sk_wq": 4,
    "sk_rx_dst": 5, "rx_dst_cookie": 6, "sk_uid": 7, "forward_deficit": 8,
}
HASH_PERCENT: Final = 50  # assumed: of a look-up's compute time, what hashing 16 bytes of address and a port takes
SHORT_CHAIN: Final = 10  # a longer chain of one port is left for the table of address and port


class UdpSockets:
    """Sockets of one port; `write` gives ``__udp6_lib_lookup`` (FLOW to SOCK), early demux and ``udpv6_rcv``.

    Parameters
    ----------
    flows
        Domain of the flows; each is one remote address and port.
    connected
        1: each flow has its own connected socket. 0: one socket takes all of them.
    lookup_ps
        Compute time of a look-up, without the chain's further sockets and without lines.
    rcvbuf, truesize
        Receive buffer of a socket and memory that a packet counts for, bytes.
    kind
        Kind of the receive queue's spinlock.

    The table ``skb state`` holds what a packet knows before its socket has it: the socket that early demux found
    (-1: none), and whether it holds a reference on it.
    """

    def __init__(
        self, host: Host, skbs: RoutedSkbs, flows: Domain, *, connected: Number, lookup_ps: Number, rcvbuf: Number,
        truesize: Number, kind: Number = TICKET,
    ) -> None:
        self.host, self.skbs, self.flows = host, skbs, flows
        self.connected, self.lookup_ps = host.value(connected), host.value(lookup_ps)
        self.hash_ps: Value = self.lookup_ps * HASH_PERCENT // 100
        self.rcvbuf, self.truesize = host.value(rcvbuf), host.value(truesize)
        spec = host.spec
        self.sock = spec.domain("socket", self.connected.choose(flows.count, 1))
        self.sockets: Value = self.sock.count
        reader = spec.domain("thread", self.sockets)
        self.struct = spec.struct("udp6_sock", self.sock, FIELDS, 9)
        # sk_refcnt and sk_drops are the same line of the socket; apart here so that its moves are counted alone
        self.refs = spec.struct("udp6_sock.sk_refcnt", self.sock, {"sk_refcnt": 0, "sk_drops": 0}, 1)
        self.hash = spec.struct("udp_table", host.one, {"hash": 0, "hash2": 1}, 2)
        self.lock = spec.spinlocks("sk_receive_queue.lock", self.struct, "sk_receive_queue", kind)
        self.receive_queue = spec.queue("sk_receive_queue", self.sock, skbs.skb)
        self.table = spec.table(
            "sock", self.sock, waiting=Integer(0, 1), rx_dst=Integer(0, 1), rmem=Integer(), deficit=Integer(),
            reader=Reference(reader, none=False),
        )
        self.by_flow = spec.table("udp flow", flows, sock=Reference(self.sock, none=False))
        self.state = spec.table("skb state", skbs.skb, sock=Reference(self.sock), held=Integer(0, 1))
        spec.init(self.table, "reader", 0, mod=self.sockets)
        spec.init(self.by_flow, "sock", 0, mod=self.sockets)
        spec.init(self.state, "sock", -1)

    def write(self, *, match_any: Number = 0, bound: Number = 1, rx_dst_set: Number = 0) -> None:
        """Write all subroutines of UDP; see each for its switches."""
        self._write_lookup(self.host.value(bound))
        self._write_early_demux(self.host.value(match_any), self.host.value(bound))
        self._write_orphan()
        self._write_rcv(self.host.value(rx_dst_set))

    # -- look-up ------------------------------------------------------------------------------------------

    def _write_lookup(self, bound: Value) -> None:
        """Write ``__udp6_lib_lookup``; with `bound` 0 nobody has the port (packets that only pass through)."""
        host, p = self.host, self.host.program
        with p.symbol("__udp6_lib_lookup"):
            p.label("__udp6_lib_lookup")
            p.work(self.hash_ps)
            p.count("lookups")
            p.read(self.hash, "hash")
            p.set(SOCK, -1)
            p.work(self.lookup_ps - self.hash_ps)
            with p.where(bound, "bound"):
                with p.where(self.sockets.above(SHORT_CHAIN), "long chain"):
                    p.read(self.hash, "hash2")
                p.set(K, self.sockets)
                p.set(M, 0)
                p.label("__udp6_lib_lookup.next")
                p.alu(M, M, "min", self.sockets - 1)
                self._compare(M)
                p.work(host.cost("udp_compare_ps"))
                p.alu(M, M, "+", 1)
                p.loop(K, "__udp6_lib_lookup.next")
                p.load(SOCK, self.by_flow, "sock", FLOW)
            p.ret()

    def _compare(self, sock: Register) -> None:
        p = self.host.program
        p.read(self.struct, "skc_portpair", sock)
        p.read(self.struct, "skc_v6_rcv_saddr", sock)

    @property
    def lookup_hot_ps(self) -> Value:
        """What a look-up takes with all its lines in the core's cache."""
        lines = self.sockets * 2 + 1 + self.sockets.above(SHORT_CHAIN)
        return self.lookup_ps + self.sockets * self.host.cost("udp_compare_ps") + lines * self.host.cost("hit_ps")

    def hold(self) -> None:
        """Write: a reference on SOCK."""
        p = self.host.program
        p.atomic(self.refs, "sk_refcnt", SOCK)
        p.count("socket_holds")

    def put(self) -> None:
        """Write: ``sock_put()`` of SOCK."""
        p = self.host.program
        with p.symbol("sock_put"):
            p.atomic(self.refs, "sk_refcnt", SOCK)
            p.count("socket_puts")

    # -- early demux --------------------------------------------------------------------------------------

    def _write_early_demux(self, match_any: Value, bound: Value) -> None:
        """Write ``udp_v6_early_demux``: the socket of SKB to its state and to SOCK, with a reference; -1 if none.

        With `match_any` (the version first posted) the full look-up is made and any socket is taken. Without it only
        the first socket of the chain of address and port is compared: the one that was connected last.
        """
        host, p = self.host, self.host.program
        with p.symbol("udp_v6_early_demux"):
            p.label("udp_v6_early_demux")
            p.count("demux_calls")
            p.work(host.cost("function_call_ps"))
            with p.where(match_any, "match_any"):
                p.call("__udp6_lib_lookup")
            with p.where(1 - match_any, "first socket, both ends"):
                p.set(SOCK, -1)
                p.work(self.hash_ps)
                p.read(self.hash, "hash2")
                with p.where(self.connected * bound, "a connected socket is there"):
                    p.set(M, self.sockets - 1)
                    self._compare(M)
                    p.work(host.cost("udp_compare_ps"))
                    p.load(SOCK, self.by_flow, "sock", FLOW)
                    p.branch(SOCK, "==", M, "udp_v6_early_demux.match")
                    p.set(SOCK, -1)
                    p.label("udp_v6_early_demux.match")
            p.branch(SOCK, "<", 0, "udp_v6_early_demux.none")
            self.hold()
            p.count("demux_found")
            p.store(self.state, "sock", SOCK, SKB)
            p.store(self.state, "held", 1, SKB)
            p.label("udp_v6_early_demux.none")
            p.ret()

    def _write_orphan(self) -> None:
        """Write ``skb_orphan``: SKB lets go of the socket that early demux gave it, if it did."""
        p = self.host.program
        with p.symbol("sock_efree"):
            p.label("skb_orphan")
            p.load(SOCK, self.state, "sock", SKB)
            p.branch(SOCK, "<", 0, "skb_orphan.none")
            self.put()
            p.label("skb_orphan.none")
            p.ret()

    # -- delivery -----------------------------------------------------------------------------------------

    def _write_rcv(self, rx_dst_set: Value) -> None:
        """Write ``udpv6_rcv``: SKB to its socket, or dropped. With `rx_dst_set` a demuxed packet leaves its route."""
        host, p = self.host, self.host.program
        with p.symbol("__udp6_lib_rcv"):
            p.label("udpv6_rcv")
            p.work(host.cost("udp_rcv_ps"))
            p.load(SOCK, self.state, "sock", SKB)
            p.branch(SOCK, ">=", 0, "udpv6_rcv.known")
            p.call("__udp6_lib_lookup")
            p.branch(SOCK, "<", 0, "udpv6_rcv.none")
            p.jump("udpv6_queue_rcv_skb")
            p.label("udpv6_rcv.known")
            with p.where(rx_dst_set, "rx_dst_set"), p.symbol("udp6_sk_rx_dst_set"):
                p.read(self.struct, "sk_rx_dst", SOCK)
                p.load(N, self.table, "rx_dst", SOCK)
                p.branch(N, "!=", 0, "udpv6_queue_rcv_skb")
                p.write(self.struct, "sk_rx_dst", SOCK)
                p.write(self.struct, "rx_dst_cookie", SOCK)
                p.store(self.table, "rx_dst", 1, SOCK)
        self._queue()
        with p.symbol("__udp6_lib_rcv"):
            p.label("udpv6_rcv.queued")
            p.branch(N, "==", 0, "udpv6_rcv.out")
            self.put()
            p.label("udpv6_rcv.out")
            p.ret()
            p.label("udpv6_rcv.none")
            p.count("no_port")
        self.skbs.free()
        p.ret()

    def _queue(self) -> None:
        """Charge the packet to the socket and queue it, or drop it; N tells then whether a reference is held."""
        host, p = self.host, self.host.program
        with p.symbol("udpv6_queue_rcv_skb"):
            p.label("udpv6_queue_rcv_skb")
            p.call("skb_dst_drop")
            p.read(self.struct, "sk_rcvbuf", SOCK)
        with p.symbol("__udp_enqueue_schedule_skb"):
            p.read(self.struct, "sk_rmem_alloc", SOCK)
            p.load(N, self.table, "rmem", SOCK)
            p.branch(N, ">", self.rcvbuf, "udp_enqueue.drop")
            p.atomic(self.struct, "sk_rmem_alloc", SOCK)
            p.add(self.table, "rmem", self.truesize, SOCK)
            p.work(host.cost("udp_queue_ps"))
            host.lock(self.lock, SOCK)
            p.write(self.struct, "sk_receive_queue", SOCK)
            p.load(M, self.state, "held", SKB)
            p.push(self.receive_queue, SKB, SOCK)
            p.unlock(self.lock, SOCK)
            p.count("queued")
        with p.symbol("sock_def_readable"):
            p.read(self.struct, "sk_wq", SOCK)
            p.load(N, self.table, "waiting", SOCK)
            p.branch(N, "==", 0, "sock_def_readable.out")
            p.store(self.table, "waiting", 0, SOCK)
            p.work(host.cost("wakeup_ps"))
            p.load(OTHER, self.table, "reader", SOCK)
            p.wake_thread(OTHER)
            p.count("wakeups")
            p.label("sock_def_readable.out")
            p.set(N, M)
            p.jump("udpv6_rcv.queued")
        with p.symbol("__udp_enqueue_schedule_skb"):
            p.label("udp_enqueue.drop")
            p.atomic(self.refs, "sk_drops", SOCK)
            p.count("rcvbuf_drops")
            p.load(M, self.state, "held", SKB)
        self.skbs.free()
        p.set(N, M)
        p.jump("udpv6_rcv.queued")
