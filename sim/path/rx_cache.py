"""A socket's receive cache: the reader leaves the last sk_buff it has read there, and softirq frees it (5.2 to 5.15).

It lies beside the receive queue, on a line that both sides touch anyway. While it is taken, the reader frees what it
reads itself; the softirq of the flow's next packet empties it, after the socket's lock.
"""

from __future__ import annotations

from ..expression import Value
from ..spec import Domain, Reference
from .host import Host
from .registers import ASIDE, FLOW, OTHER, SKB
from .skbs import Skbs


class RxCache:
    """``sk_rx_skb_cache`` of the sockets in `flows`, used where `on` is 1 (see `sim.path.defer`, `sim.path.tcp`)."""

    def __init__(self, host: Host, skbs: Skbs, flows: Domain, on: Value) -> None:
        self.host, self.skbs, self.on = host, skbs, on
        self.table = host.spec.table("sk_rx_skb_cache", flows, skb=Reference(skbs.skb))
        host.spec.init(self.table, "skb", -1)

    def keep(self) -> None:
        """Write: the reader leaves SKB, read to its end, in an empty cache and returns; otherwise it goes on."""
        p = self.host.program
        taken = p.fresh("sk_eat_skb.cache_is_full")
        with p.where(self.on, "rx_skb_cache"), p.symbol("sk_eat_skb"):
            p.load(OTHER, self.table, "skb", FLOW)
            p.branch(OTHER, ">=", 0, taken)
            p.store(self.table, "skb", SKB, FLOW)
            p.write(self.skbs.struct, "data", SKB)  # skb_orphan()
            p.count("kept_by_socket")
            p.ret()
            p.label(taken)

    def take(self) -> None:
        """Write: softirq takes what FLOW's cache holds, under the socket's lock, to ASIDE (-1: nothing)."""
        p = self.host.program
        with p.where(self.on, "rx_skb_cache"):
            p.load(ASIDE, self.table, "skb", FLOW)
            p.store(self.table, "skb", -1, FLOW)

    def free(self) -> None:
        """Write: what was taken is freed, after the lock. SKB, which was delivered, is not needed any more."""
        p = self.host.program
        none = p.fresh("tcp_v6_rcv.nothing_to_free")
        with p.where(self.on, "rx_skb_cache"):
            p.branch(ASIDE, "<", 0, none)
            p.set(SKB, ASIDE)
            p.count("freed_by_softirq")
            p.call("kfree_skb")
            p.label(none)
