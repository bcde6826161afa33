"""Netfilter rules that count traffic for its owner: each needs the packet's socket.

Android's qtaguid match (statistics for each UID) looks the socket up when the packet does not carry one, takes a
reference, reads the owner, lets go, and keeps nothing for the next rule. So a packet is looked up once for each
rule, unless early demux has attached a socket before the hook.
"""

from __future__ import annotations

from typing import Final

from ..expression import Number
from ..program import Register
from .host import Host
from .registers import SKB
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
