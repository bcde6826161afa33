"""IPv6 input: from the device to the local protocols or on to another host, with early demux before the route.

Early demux asks UDP for the packet's socket. What that gives is two things: the socket, which spares netfilter and
UDP their look-ups, and, if the socket has a cached route that is still valid, the route, which spares its look-up.
"""

from __future__ import annotations

from ..expression import Number, Value
from .forward import ELSEWHERE, Routes6
from .host import Host
from .linear import NO_DST, RoutedSkbs
from .registers import SKB, N
from .udp import SOCK, UdpSockets


class Ip6:
    """Writes ``ip_rcv``, the entry of a packet in SKB with its flow in FLOW.

    Parameters
    ----------
    early_demux
        1 if UDP is asked for the socket before the route is looked up.
    local_in
        A subroutine called for packets to this host before their protocol: netfilter's hook.
    cookie
        1 if a cached route is checked with the serial number kept beside it; 0 checks with the number 0, which no
        IPv6 route has.
    """

    def __init__(
        self, host: Host, skbs: RoutedSkbs, udp: UdpSockets, routes: Routes6, *, early_demux: Number,
        cookie: Number = 1, local_in: str | None = None,
    ) -> None:
        self.host, self.skbs, self.udp, self.routes = host, skbs, udp, routes
        self.cookie: Value = host.value(cookie)
        p = host.program
        with p.symbol("ipv6_rcv"):
            p.label("ip_rcv")
            p.work(host.cost("ip_rcv_ps"))
            p.count("ip_packets")
            p.store(udp.state, "sock", -1, SKB)
            p.store(udp.state, "held", 0, SKB)
            routes.arrive()
        with p.where(host.value(early_demux), "udp_early_demux"):
            with p.symbol("ip6_rcv_finish"):
                p.call("udp_v6_early_demux")
                p.branch(SOCK, "<", 0, "ip_rcv.route")
            self._cached_route()
            p.label("ip_rcv.route")
        with p.symbol("ip6_rcv_finish"):
            p.load(N, skbs.table, "refdst", SKB)
            p.branch(N, "!=", NO_DST, "ip6_input")
            p.call("ip6_route_input")
            p.load(N, routes.state, "to", SKB)
            p.branch(N, "==", ELSEWHERE, "ip6_forward")
        with p.symbol("ip6_input_finish"):
            p.label("ip6_input")
            with p.where(routes.caught, "policy rules"):
                p.load(N, routes.state, "caught", SKB)
                p.count("wrong_deliveries", N)  # routes.caught packets get here only by a cached route
            if local_in is not None:
                p.call(local_in)
            p.jump("udpv6_rcv")

    def _cached_route(self) -> None:
        """The found socket's route of the last packet, if it is still valid."""
        p, udp = self.host.program, self.udp
        with p.symbol("udp_v6_early_demux"):
            p.read(udp.struct, "sk_rx_dst", SOCK)
            p.load(N, udp.table, "rx_dst", SOCK)
            p.branch(N, "==", 0, "ip_rcv.route")
            with p.where(self.cookie, "rx_dst_cookie"):
                p.read(udp.struct, "rx_dst_cookie", SOCK)
            self.routes.check()
            with p.where(self.cookie, "rx_dst_cookie"):
                self.routes.use_cached()
