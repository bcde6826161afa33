"""IPv6 and TCP input: from ``ip6_rcv`` to the receive queue or the backlog.

Early demux finds the socket before the route is looked up and takes the route from it; without it the route and
the socket are looked up one after the other.
"""

from __future__ import annotations

from ..expression import Value
from .host import Host
from .memory import Memory
from .registers import ASIDE, FLOW, OTHER, SKB, K, M, N
from .rx_cache import RxCache
from .skbs import Skbs
from .socket import Socket


class Tcp:
    """Writes ``ip6_rcv`` and ``tcp_v6_do_rcv``. A packet holds a reference on its socket from look-up to queue.

    Parameters
    ----------
    early_demux
        1 if the socket is found before the route.
    flush_deferred
        A subroutine called before the socket's lock is taken.
    limit_late
        1 if ``tcp_add_backlog`` reads the socket's limits only for a packet that it could not coalesce (patch 1).
    local_in
        A subroutine called for packets to this host before TCP: netfilter's hook.
    cache
        The sockets' receive caches, if they have any.
    """

    def __init__(
        self, host: Host, skbs: Skbs, socket: Socket, memory: Memory, early_demux: Value, flush_deferred: str,
        limit_late: Value, local_in: str | None = None, cache: RxCache | None = None,
    ) -> None:
        self.host, self.skbs, self.socket, self.memory = host, skbs, socket, memory
        self.limit_late = limit_late
        p = host.program
        with p.symbol("ip6_rcv_core"):
            p.label("ip6_rcv")
            p.work(host.cost("ip_rcv_ps"))
            if skbs.flows is None:
                p.set(FLOW, 0)
            else:
                p.load(FLOW, skbs.table, "flow", SKB)
        with p.where(early_demux, "tcp_early_demux"), p.symbol("tcp_v6_early_demux"):
            p.work(host.cost("socket_lookup_ps"))
            self._match()
            p.read(socket.struct, "sk_rx_dst", FLOW)
            p.read(socket.struct, "sk_rx_dst_ifindex", FLOW)
        with p.where(1 - early_demux, "no early demux"):
            with p.symbol("ip6_route_input"):
                p.work(host.cost("route_lookup_ps"))
            with p.symbol("__inet6_lookup_established"):
                p.work(host.cost("socket_lookup_ps"))
                self._match()
        if local_in is not None:
            p.call(local_in)
        with p.symbol("tcp_v6_rcv"):
            p.work(host.cost("tcp_rcv_ps"))
            p.call(flush_deferred)
            host.lock(socket.slock, FLOW)
            p.load(N, socket.table, "owned", FLOW)
            p.branch(N, "!=", 0, "tcp_add_backlog")
            p.call("tcp_v6_do_rcv")
            if cache is not None:
                cache.take()
            p.unlock(socket.slock, FLOW)
            p.count("direct")
            if cache is not None:
                cache.free()
            p.label("tcp_v6_rcv.put")
            p.atomic(socket.struct, "sk_refcnt", FLOW)  # sock_put(), which the compiler puts into its caller
            p.ret()
        self._add_backlog()
        self._do_rcv()
        self._try_coalesce()

    def _match(self) -> None:
        """The look-up compares ports and both addresses of the socket, then takes a reference on it."""
        p, struct = self.host.program, self.socket.struct
        for field in ("skc_portpair", "skc_v6_rcv_saddr"):
            p.read(struct, field, FLOW)
        p.atomic(struct, "sk_refcnt", FLOW)

    def _read_limits(self) -> None:
        p = self.host.program
        p.read(self.socket.struct, "sk_rcvbuf", FLOW)
        p.read(self.socket.struct, "sk_sndbuf", FLOW)

    def _add_backlog(self) -> None:
        """The socket is owned: leave the packet to the owner, behind the last one or merged into it."""
        p, socket = self.host.program, self.socket
        with p.symbol("tcp_add_backlog"):
            p.label("tcp_add_backlog")
            p.count("owned")
            with p.where(1 - self.limit_late, "limits read first"):
                self._read_limits()
            if socket.acks_due is not None:
                with p.where(socket.acks_due, "the backlog's bytes"):
                    p.write(socket.struct, "sk_backlog.len", FLOW)
                    p.load(N, self.skbs.table, "bytes", SKB)
                    p.add(socket.table, "backlog_len", N, FLOW)
            p.load(ASIDE, socket.table, "backlog_tail", FLOW)
            p.call("skb_try_coalesce")
            p.branch(N, "!=", 0, "tcp_add_backlog.out")
            with p.where(self.limit_late, "backlog_limit_late"):
                self._read_limits()
            p.write(socket.struct, "sk_backlog.tail", FLOW)
            p.store(socket.table, "backlog_tail", SKB, FLOW)
            p.push(socket.backlog, SKB, FLOW)
            p.label("tcp_add_backlog.out")
            p.unlock(socket.slock, FLOW)
            p.jump("tcp_v6_rcv.put")

    def _do_rcv(self) -> None:
        host, p, socket = self.host, self.host.program, self.socket
        with p.symbol("tcp_v6_do_rcv"):
            p.label("tcp_v6_do_rcv")
            p.read(self.skbs.struct, "next", SKB)
            p.read(self.skbs.struct, "data", SKB)
        with p.symbol("tcp_rcv_established"):
            p.write(socket.tcp, "rcv_nxt", FLOW)
            p.read(socket.tcp, "urg_data", FLOW)
            p.work(host.cost("tcp_established_ps"))
        with p.symbol("tcp_queue_rcv"):
            p.write(socket.struct, "sk_receive_queue", FLOW)
            p.work(host.cost("tcp_queue_ps"))
            p.load(ASIDE, socket.table, "queue_tail", FLOW)
            p.load(N, self.skbs.table, "bytes", SKB)
            self._account_window()
            self.memory.charge()
            p.call("skb_try_coalesce")
            p.branch(N, "!=", 0, "tcp_queue_rcv.out")
            p.store(socket.table, "queue_tail", SKB, FLOW)
            p.push(socket.receive_queue, SKB, FLOW)
            p.label("tcp_queue_rcv.out")
            if socket.acks_due is not None:
                with p.where(socket.acks_due, "ACKs when they are due"):
                    p.call("tcp_ack_snd_check")
        with p.symbol("sock_def_readable"):
            p.read(socket.struct, "sk_data_ready", FLOW)
            p.load(N, socket.table, "waiting", FLOW)
            p.branch(N, "==", 0, "tcp_v6_do_rcv.out")
            p.store(socket.table, "waiting", 0, FLOW)
            p.work(host.cost("wakeup_ps"))
            p.load(OTHER, socket.table, "reader", FLOW)
            p.wake_thread(OTHER)
            p.count("wakeups")
            p.label("tcp_v6_do_rcv.out")
            p.ret()

    def _account_window(self) -> None:
        """N bytes take so much of the window that was announced, and of the buffer. Uses M."""
        p, socket = self.host.program, self.socket
        if socket.acks_due is not None:
            with p.where(socket.acks_due, "the window's bytes"):
                p.set(M, 0)
                p.alu(M, M, "-", N)
                p.add(socket.table, "room", M, FLOW)
                p.add(socket.table, "queued", N, FLOW)

    def _try_coalesce(self) -> None:
        """Merge SKB into the packet in ASIDE (-1: none) if one sk_buff holds the fragments of both; N tells."""
        host, p, skbs = self.host, self.host.program, self.skbs
        with p.symbol("skb_try_coalesce"):
            p.label("skb_try_coalesce")
            p.branch(ASIDE, "<", 0, "skb_try_coalesce.no")
            p.read(skbs.struct, "data", ASIDE)
            p.work(host.cost("coalesce_ps"))
            p.load(N, skbs.table, "frags", ASIDE)
            p.load(K, skbs.table, "frags", SKB)
            p.alu(N, N, "+", K)
            p.branch(N, ">", skbs.max_skb_frags, "skb_try_coalesce.no")
            p.store(skbs.table, "frags", N, ASIDE)
            p.splice(skbs.frags, skbs.frags, SKB, ASIDE)
            for column in ("segments", "bytes", "left"):
                p.load(N, skbs.table, column, SKB)
                p.add(skbs.table, column, N, ASIDE)
            p.write(skbs.struct, "data", ASIDE)
            p.count("coalesced")
        with p.symbol("kfree_skb_partial"):
            p.write(skbs.struct, "next", SKB)
            p.work(host.cost("skb_free_ps"))
            p.push(skbs.cache, SKB)
            p.set(N, 1)
            p.ret()
        with p.symbol("skb_try_coalesce"):
            p.label("skb_try_coalesce.no")
            p.set(N, 0)
            p.ret()
