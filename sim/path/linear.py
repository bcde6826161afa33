"""sk_buffs of small packets: the driver copies the packet into the buffer's own head, and no page goes along.

Each remembers the flow that it belongs to and what it holds of its route: nothing, a pointer under RCU
(``SKB_DST_NOREF``), or a reference that somebody has to drop.
"""

from __future__ import annotations

from typing import Final, Protocol

from ..expression import Number
from ..spec import Domain, Integer, Lines, Reference, Table
from .host import Host
from .registers import FLOW, SKB

NO_DST, NOREF, REFERENCE = range(3)

#: What a function of the path touches of an sk_buff, as lines: those of one group are fetched together.
FIELDS: Final = {"next": 0, "_skb_refdst": 0, "data": 1, "users": 1}


class RoutedSkbs(Protocol):
    """sk_buffs that know their flow and their route: these, or those with pages (`sim.path.skbs`)."""

    skb: Domain
    struct: Lines
    table: Table

    def fetch(self) -> None: ...

    def free(self) -> None: ...


class LinearSkbs:
    """The small sk_buffs of a host, allocated for a packet of FLOW (in SKB) and freed by whoever copied it.

    Free ones are a stack that all CPUs share: an sk_buff freed by a reader comes back to the next softirq with
    its lines on the reader's CPU. `count` exist; running out ends the run as exhausted.
    """

    def __init__(self, host: Host, flows: Domain, count: Number) -> None:
        self.host = host
        spec = host.spec
        self.skb = spec.domain("skb", count)
        self.struct = spec.struct("sk_buff", self.skb, FIELDS, 2)
        self.table = spec.table(
            "sk_buff", self.skb, flow=Reference(flows, none=False), refdst=Integer(NO_DST, REFERENCE)
        )
        self.cache = spec.queue("skbuff_head_cache", host.one, self.skb)
        spec.fill(self.cache, self.skb.count)

    def write_alloc(self, then: str) -> None:
        """Write ``alloc_skb``, which goes on at the subroutine `then`."""
        host, p = self.host, self.host.program
        with p.symbol("__alloc_skb"):
            p.label("alloc_skb")
            p.pop(self.cache, SKB)
            p.work(host.cost("skb_alloc_ps"))
            p.write(self.struct, "next", SKB)
            p.write(self.struct, "data", SKB)
            p.store(self.table, "flow", FLOW, SKB)
            p.store(self.table, "refdst", NO_DST, SKB)
            p.jump(then)

    def fetch(self) -> None:
        """Write: a CPU that did not have the packet reads it; FLOW is its flow."""
        p = self.host.program
        p.read(self.struct, "next", SKB)
        p.read(self.struct, "data", SKB)
        p.load(FLOW, self.table, "flow", SKB)

    def free(self) -> None:
        """Write: the packet in SKB goes back. Its route must have been dropped before."""
        p = self.host.program
        with p.symbol("__kfree_skb"):
            p.write(self.struct, "next", SKB)
            p.atomic(self.struct, "users", SKB)
            p.work(self.host.cost("skb_free_ps"))
            p.push(self.cache, SKB)
