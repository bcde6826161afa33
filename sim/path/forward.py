"""IPv6 routes of 2017: the table under one read-write lock, copies of a route for each CPU, policy rules, forwarding.

``ip6_route_input`` walks the policy rules in order, each naming a table, and reads the table under ``tb6_lock``: a
reader of it, too, writes the lock's word, and the route found counts its use. What the packet then holds is the
CPU's own copy of the route. The table was read without the lock from 4.15 on.
"""

from __future__ import annotations

from ..expression import Number, Value
from ..spec import Integer
from .host import Host
from .linear import NO_DST, NOREF, REFERENCE, RoutedSkbs
from .registers import CPU, SKB, N

LOCAL, ELSEWHERE = range(2)  # where a route leads


class Routes6:
    """Writes ``ip6_route_input`` (decision to the state of SKB), ``dst_check``, ``skb_dst_drop``, ``ip6_forward``.

    Parameters
    ----------
    rules
        Policy rules before the local table; the last of them names a table of its own.
    elsewhere_percent
        Share of packets that this rule catches and its table routes to another host. Which ones they are is drawn
        for each packet: they differ by something that a socket does not know, as their interface or mark.
    forwarding
        1 if no packet is for this host.
    """

    def __init__(
        self, host: Host, skbs: RoutedSkbs, *, rules: Number = 0, elsewhere_percent: Number = 0, forwarding: Number = 0
    ) -> None:
        self.host, self.skbs = host, skbs
        self.rules, self.elsewhere = host.value(rules), host.value(elsewhere_percent)
        self.forwarding = host.value(forwarding)
        self.caught: Value = self.rules.above(0) * self.elsewhere.above(0) * (1 - self.forwarding)
        spec = host.spec
        self.fib = spec.struct("fib6_table", host.one, {"tb6_lock": 0, "fib6_node": 1, "rt6_info.__use": 2}, 3)
        self.copy = spec.struct("rt6i_pcpu", host.cpu, {"__refcnt": 0, "from": 1}, 2)
        self.state = spec.table("skb route", skbs.skb, to=Integer(LOCAL, ELSEWHERE), caught=Integer(0, 1))

    def arrive(self) -> None:
        """Write: SKB has no route yet; whether the last policy rule will catch it is drawn. Uses N."""
        p = self.host.program
        p.store(self.state, "to", LOCAL, SKB)
        p.store(self.state, "caught", 0, SKB)
        with p.where(self.caught, "elsewhere_percent"):
            out = p.fresh("not_caught")
            p.uniform(N, 100)
            p.branch(N, ">=", self.elsewhere, out)
            p.store(self.state, "caught", 1, SKB)
            p.label(out)

    def write(self) -> None:
        """Write the subroutines. All use N."""
        self._route_input()
        self._drop()
        self._forward()

    def _route_input(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("fib6_rule_lookup"):
            p.label("ip6_route_input")
            p.work(self.rules * host.cost("fib_rule_ps"))
            with p.where(self.caught, "policy rules"):
                p.load(N, self.state, "caught", SKB)
                p.store(self.state, "to", N, SKB)
            with p.where(self.forwarding, "forwarding"):
                p.store(self.state, "to", ELSEWHERE, SKB)
        with p.symbol("ip6_pol_route"):
            p.count("route_lookups")
            p.atomic(self.fib, "tb6_lock")
            p.read(self.fib, "fib6_node")
            p.work(host.cost("route_lookup_ps"))
            p.write(self.fib, "rt6_info.__use")
            p.atomic(self.copy, "__refcnt", CPU)
            p.atomic(self.fib, "tb6_lock")
            p.store(self.skbs.table, "refdst", REFERENCE, SKB)
            p.ret()

    def check(self) -> None:
        """Write: ``ip6_dst_check()`` of a socket's cached route reads the route and its node's serial number."""
        p = self.host.program
        with p.symbol("ip6_dst_check"):
            p.work(self.host.cost("function_call_ps"))
            p.read(self.copy, "from", CPU)
            p.read(self.fib, "fib6_node")

    def use_cached(self) -> None:
        """Write: SKB takes the cached route, which is that of local delivery, without a reference."""
        p = self.host.program
        p.store(self.skbs.table, "refdst", NOREF, SKB)
        p.count("cached_routes")

    def _drop(self) -> None:
        p = self.host.program
        with p.symbol("dst_release"):
            p.label("skb_dst_drop")
            p.load(N, self.skbs.table, "refdst", SKB)
            p.store(self.skbs.table, "refdst", NO_DST, SKB)
            p.branch(N, "!=", REFERENCE, "skb_dst_drop.none")
            p.atomic(self.copy, "__refcnt", CPU)
            p.label("skb_dst_drop.none")
            p.ret()

    def _forward(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("ip6_forward"):
            p.label("ip6_forward")
            p.work(host.cost("forward_ps"))
        with p.symbol("dev_queue_xmit"):
            p.work(host.cost("transmit_ps"))
            p.count("forwarded")
            p.call("skb_dst_drop")
            p.call("skb_orphan")
        self.skbs.free()
        p.ret()
