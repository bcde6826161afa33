"""Netfilter rules that count traffic for its owner: each needs the packet's socket.

Android's qtaguid match (statistics for each UID) looks the socket up when the packet does not carry one, takes a
reference, reads the owner, lets go, and keeps nothing for the next rule. So a packet is looked up once for each
rule, unless early demux has attached a socket before the hook.
"""

from __future__ import annotations

from typing import Final

from ..expression import Number, Value
from ..program import Register
from .host import Host
from .registers import FLOW, SKB
from .socket import Socket
from .udp import SOCK, UdpSockets

RULE: Final = Register(6, "rule")  # rules left


class OwnerRules:
    """Writes ``ip6t_do_table``: SKB passes `rules` rules with an owner match. Uses RULE, SOCK, K and M."""

    def __init__(self, host: Host, udp: UdpSockets, rules: Number) -> None:
        self.host, self.udp = host, udp
        p = host.program
        with p.symbol("ip6t_do_table"):
            p.label("ip6t_do_table")
            with p.where(host.value(rules), "uid_rules"):
                p.set(RULE, rules)
                p.label("ip6t_do_table.rule")
                p.work(host.cost("netfilter_rule_ps"))
                p.count("rules")
                self._match()
                p.loop(RULE, "ip6t_do_table.rule")
            p.ret()

    def _match(self) -> None:
        p, udp = self.host.program, self.udp
        with p.symbol("qtaguid_mt"):
            p.work(self.host.cost("function_call_ps"))
            p.load(SOCK, udp.state, "sock", SKB)
            p.branch(SOCK, ">=", 0, "qtaguid_mt.has")
            p.call("__udp6_lib_lookup")
            p.branch(SOCK, "<", 0, "qtaguid_mt.out")
            udp.hold()
            p.read(udp.struct, "sk_uid", SOCK)
            udp.put()
            p.jump("qtaguid_mt.out")
            p.label("qtaguid_mt.has")
            p.read(udp.struct, "sk_uid", SOCK)
            p.label("qtaguid_mt.out")


class TcpOwnerRules:
    """Writes ``tcp_ip6t_do_table``: SKB, of FLOW, passes `rules` rules with an owner match. Uses RULE.

    The socket that early demux found is at hand; without it each rule looks the socket up and lets it go again.
    """

    def __init__(self, host: Host, socket: Socket, rules: Number, early_demux: Value) -> None:
        p = host.program
        with p.symbol("ip6t_do_table"):
            p.label("tcp_ip6t_do_table")
            with p.where(host.value(rules), "uid_rules"):
                p.set(RULE, rules)
                p.label("tcp_ip6t_do_table.rule")
                p.work(host.cost("netfilter_rule_ps"))
                p.count("rules")
                with p.symbol("qtaguid_mt"):
                    p.work(host.cost("function_call_ps"))
                    with p.where(1 - early_demux, "no early demux"):
                        with p.symbol("__inet6_lookup_established"):
                            p.work(host.cost("socket_lookup_ps"))
                            p.count("lookups")
                            p.read(socket.struct, "skc_portpair", FLOW)
                            p.read(socket.struct, "skc_v6_rcv_saddr", FLOW)
                            p.atomic(socket.struct, "sk_refcnt", FLOW)
                        p.atomic(socket.struct, "sk_refcnt", FLOW)
                    p.read(socket.struct, "sk_uid", FLOW)
                p.loop(RULE, "tcp_ip6t_do_table.rule")
            p.ret()
