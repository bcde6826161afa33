"""The IPv4 route of a local address: one entry for all packets to it, so one line for all CPUs.

Reading it costs nothing as long as nobody writes the line. A packet that leaves the protection of RCU (prequeue,
backlog) takes a reference, an atomic on ``__refcnt``; whoever frees the packet drops it, another atomic. Where
``__refcnt`` and what every packet reads share a line is a matter of the struct's layout.
"""

from __future__ import annotations

from .. import structs
from ..expression import Number, Value
from .host import Host
from .linear import NO_DST, NOREF, REFERENCE, LinearSkbs
from .registers import SKB, N

FIELDS = ("__refcnt", "rt_genid", "rt_type", "obsolete", "input")


class Route:
    """The route and what packets do with it.

    Parameters
    ----------
    padding
        Name of the knob that is the layout's cure of 2023: what is read lies on another line than ``__refcnt``.
    merged
        1 if the processor's two loads of one line that stand close (``rt_genid``, then ``rt_type``) are one fetch.
    """

    def __init__(self, host: Host, skbs: LinearSkbs, padding: str, merged: Number) -> None:
        self.host, self.skbs = host, skbs

        def layout(**on: bool) -> structs.Layout:
            return structs.RTABLE_6_4 if on.get(padding, False) else structs.RTABLE_3_17

        self.struct = host.struct("rtable", host.one, FIELDS, (padding,), layout)
        genid, kind = (host.value(self.struct.line(name)) for name in ("rt_genid", "rt_type"))
        self.second_read: Value = 1 - genid.is_(kind) * merged

    def check(self) -> None:
        """Write: ``dst->ops->check``, that is ``ipv4_dst_check()``."""
        p = self.host.program
        with p.symbol("ipv4_dst_check"):
            p.read(self.struct, "obsolete")
            p.read(self.struct, "rt_genid")
            p.count("dst_reads")

    def deliver(self) -> None:
        """Write: what ``ip_rcv_finish()`` reads of the route, right after it was found."""
        p = self.host.program
        with p.symbol("ip_rcv_finish"):
            with p.where(self.second_read, "rt_type is a load of its own"):
                p.read(self.struct, "rt_type")
                p.count("dst_reads")
            p.read(self.struct, "input")
            p.store(self.skbs.table, "refdst", NOREF, SKB)

    def hold(self) -> None:
        """Write: ``dst_hold()``, which the compiler puts into its caller."""
        self._count()

    def force(self) -> None:
        """Write: ``skb_dst_force()``, inline in its caller, before the packet leaves RCU. Uses N."""
        p = self.host.program
        has = p.fresh("skb_dst_force")
        p.load(N, self.skbs.table, "refdst", SKB)
        p.branch(N, "!=", NOREF, has)
        self._count()
        p.store(self.skbs.table, "refdst", REFERENCE, SKB)
        p.label(has)

    def drop(self) -> None:
        """Write: ``skb_dst_drop()``; only a reference costs an atomic. Uses N."""
        p = self.host.program
        none = p.fresh("skb_dst_drop")
        p.load(N, self.skbs.table, "refdst", SKB)
        p.store(self.skbs.table, "refdst", NO_DST, SKB)
        p.branch(N, "!=", REFERENCE, none)
        with p.symbol("dst_release"):
            self._count()
        p.label(none)

    def _count(self) -> None:
        p = self.host.program
        p.atomic(self.struct, "__refcnt")
        p.count("dst_atomics")
