"""Page fragments for the heads of received packets: cut from 32 KB pages, one reference each.

A CPU cuts from its own page without an atomic (it took all references beforehand); whoever frees a packet drops
one by an atomic on the page's line. A page whose last reference goes returns to the zone under its lock, since
per-CPU page lists hold single pages only; a CPU that has used up its page takes another one there.
"""

from __future__ import annotations

from ..spec import Integer, Reference
from .host import Host
from .kmem import Nodes
from .registers import CPU, OTHER, PAGE, K, N

PAGE_BYTES = 32_768  # PAGE_FRAG_CACHE_MAX_SIZE, order 3
FRAGMENT_BYTES = 704  # assumed: 64 of headroom, 256 copied, 320 of skb_shared_info, rounded to lines


class Fragments:
    """Writes cutting (page in PAGE) and dropping a fragment; `pages` exist in all."""

    def __init__(self, host: Host, nodes: Nodes, pages: int) -> None:
        self.host, self.nodes = host, nodes
        spec, sockets = host.spec, host.machine.topology.sockets
        self.page = spec.domain("order-3 page", pages // sockets * sockets)
        self.struct = spec.struct("page", self.page, {"_refcount": 0}, 1)
        self.state = spec.table(
            "order-3 page", self.page, node=Reference(nodes.node, none=False), users=Integer(0, 1 << 30)
        )
        self.cpu = spec.table("page_frag_cache", host.cpu, page=Reference(self.page), left=Integer(0, 1 << 20))
        zone = spec.struct("zone", nodes.node, {"lock": 0}, 1)
        self.lock = spec.spinlocks("zone->lock", zone, "lock")
        self.zone = spec.queue("zone", nodes.node, self.page)
        spec.init(self.state, "node", 0, div=pages // sockets, mod=sockets)
        spec.init(self.cpu, "page", -1)
        spec.fill(self.zone, self.page.count, div=pages // sockets)

    def zone_page(self, take: bool) -> None:
        """A page between PAGE and the zone of the node in K."""
        host, p = self.host, self.host.program
        host.lock(self.lock, K)
        p.work(host.cost("zone_lock_ps") + host.cost("zone_page_ps"))
        if take:
            p.pop(self.zone, PAGE, K)
        else:
            p.push(self.zone, PAGE, K, front=True)
        p.unlock(self.lock, K)

    def cut(self) -> None:
        """Write: a fragment of this CPU's page, which is then in PAGE. Uses N, K, OTHER."""
        p = self.host.program
        some, fresh, again = (p.fresh(f"page_frag_alloc.{x}") for x in ("some", "fresh", "again"))
        p.load(PAGE, self.cpu, "page", CPU)
        p.branch(PAGE, "<", 0, fresh)
        p.load(N, self.cpu, "left", CPU)
        p.branch(N, ">", 0, some)
        with p.symbol("__page_frag_cache_refill"):
            p.atomic(self.struct, "_refcount", PAGE)
            p.add(self.state, "users", -1, PAGE)
            p.load(OTHER, self.state, "users", PAGE)
            p.branch(OTHER, "==", 0, again)  # all are free again: the page begins anew
            p.label(fresh)
            p.load(K, self.nodes.cpu, "node", CPU)
            self.zone_page(True)
            p.store(self.cpu, "page", PAGE, CPU)
            p.count("frag_pages")
            p.label(again)
            p.store(self.state, "users", 1, PAGE)  # the CPU's own
            p.set(N, PAGE_BYTES // FRAGMENT_BYTES)
        p.label(some)
        p.alu(N, N, "-", 1)
        p.store(self.cpu, "left", N, CPU)
        p.add(self.state, "users", 1, PAGE)

    def drop(self) -> None:
        """Write: the packet's reference on the page in PAGE. Uses N, K, OTHER."""
        p = self.host.program
        kept = p.fresh("page_frag_free")
        with p.symbol("page_frag_free"):
            p.atomic(self.struct, "_refcount", PAGE)
            p.add(self.state, "users", -1, PAGE)
            p.load(N, self.state, "users", PAGE)
            p.branch(N, ">", 0, kept)
            with p.symbol("__free_pages_ok"):
                p.load(K, self.state, "node", PAGE)
                self.zone_page(False)
        p.label(kept)
