"""IPv6 and TCP input: from ``ip6_rcv`` to the receive queue or the backlog.

Early demux finds the socket before the route is looked up and takes the route from it; without it the route and
the socket are looked up one after the other.
"""

from __future__ import annotations

from ..expression import Value
from .host import Host
from .registers import FLOW, N, OTHER, SKB
from .skbs import Skbs
from .socket import Socket


class Tcp:
    """Writes ``ip6_rcv`` and ``tcp_v6_do_rcv``. `flush_deferred` is a subroutine called before the socket's lock."""

    def __init__(self, host: Host, skbs: Skbs, socket: Socket, early_demux: Value, flush_deferred: str) -> None:
        self.host, self.skbs, self.socket = host, skbs, socket
        p = host.program
        with p.symbol("ip6_rcv_core"):
            p.label("ip6_rcv")
            p.work(host.cost("ip_rcv_ps"))
            p.set(FLOW, 0)
        with p.where(early_demux, "tcp_early_demux"), p.symbol("tcp_v6_early_demux"):
            p.work(host.cost("socket_lookup_ps"))
            p.read(socket.struct, "sk_refcnt", FLOW)
            p.read(socket.struct, "sk_rx_dst", FLOW)
            p.read(socket.struct, "sk_rx_dst_ifindex", FLOW)
        with p.where(1 - early_demux, "no early demux"):
            with p.symbol("ip6_route_input"):
                p.work(host.cost("route_lookup_ps"))
            with p.symbol("__inet6_lookup_established"):
                p.work(host.cost("socket_lookup_ps"))
                p.read(socket.struct, "sk_refcnt", FLOW)
        with p.symbol("tcp_v6_rcv"):
            p.work(host.cost("tcp_rcv_ps"))
            p.call(flush_deferred)
            host.lock(socket.slock, FLOW)
            p.load(N, socket.table, "owned", FLOW)
            p.branch(N, "!=", 0, "tcp_add_backlog")
            p.call("tcp_v6_do_rcv")
            p.unlock(socket.slock, FLOW)
            p.count("direct")
            p.ret()
        with p.symbol("tcp_add_backlog"):
            p.label("tcp_add_backlog")
            p.write(socket.struct, "sk_backlog.tail", FLOW)
            p.push(socket.backlog, SKB, FLOW)
            p.unlock(socket.slock, FLOW)
            p.count("owned")
            p.ret()
        self._do_rcv()

    def _do_rcv(self) -> None:
        host, p, socket = self.host, self.host.program, self.socket
        with p.symbol("tcp_v6_do_rcv"):
            p.label("tcp_v6_do_rcv")
            p.read(self.skbs.struct, "next", SKB)
            p.read(self.skbs.struct, "data", SKB)
        with p.symbol("tcp_rcv_established"):
            p.write(socket.tcp, "rcv_nxt", FLOW)
            p.work(host.cost("tcp_established_ps"))
        with p.symbol("tcp_queue_rcv"):
            p.atomic(socket.struct, "sk_rmem_alloc", FLOW)
            p.write(socket.struct, "sk_receive_queue", FLOW)
            p.work(host.cost("tcp_queue_ps"))
            p.push(socket.receive_queue, SKB, FLOW)
        with p.symbol("sock_def_readable"):
            p.load(N, socket.table, "waiting", FLOW)
            p.branch(N, "==", 0, "tcp_v6_do_rcv.out")
            p.store(socket.table, "waiting", 0, FLOW)
            p.work(host.cost("wakeup_ps"))
            p.load(OTHER, socket.table, "reader", FLOW)
            p.wake_thread(OTHER)
            p.count("wakeups")
            p.label("tcp_v6_do_rcv.out")
            p.ret()
