"""sk_buffs: allocation by the softirq, fragments, and release wherever the last user is.

A packet in the model is the first sk_buff of a chain; GRO hangs further ones behind it when a packet has more
fragments than one holds (``max_skb_frags``). Their number is charged, their lines are those of the shared info.
"""

from __future__ import annotations

from ..expression import Number, Value
from ..spec import CellType, Domain, Integer, Reference
from .host import Host
from .linear import NO_DST, REFERENCE
from .pages import Pages
from .registers import CPU, FLOW, OTHER, PAGE, SKB, K, M, N

MAX_SEGMENTS = 1024  # more than any GRO packet holds
FRAGS_PER_LINE = 4  # skb_frag_t has 16 bytes


class Skbs:
    """The sk_buffs of a host and the subroutines ``alloc_skb`` (packet in SKB) and ``kfree_skb``.

    Parameters
    ----------
    count
        How many exist; running out ends the run as exhausted.
    frags
        Fragments that a packet can have at most.
    max_skb_frags
        Fragments of one sk_buff: 17 by default, up to 45 since Linux 6.4.
    flows
        If given, a packet remembers its flow and what it holds of its route, as those of `sim.path.linear`.
    """

    def __init__(
        self, host: Host, pages: Pages, count: Number, frags: Number, max_skb_frags: Value, flows: Domain | None = None
    ) -> None:
        self.host = host
        self.pages = pages
        self.max_skb_frags, self.flows = max_skb_frags, flows
        spec = host.spec
        self.info_lines = (host.value(frags).most(max_skb_frags) + (FRAGS_PER_LINE - 1)) // FRAGS_PER_LINE
        self.skb = spec.domain("skb", count)
        info = spec.domain("shared info line", self.skb.count * self.info_lines)
        # struct sk_buff spans four lines: list and owner, control block, headers, data pointers and reference
        self.struct = spec.struct("sk_buff", self.skb, {"next": 0, "cb": 0, "data": 1, "users": 1}, 2)
        self.info = spec.struct("skb_shared_info", info, {"frags": 0}, 1)
        own: dict[str, CellType] = {}
        if flows is not None:
            own = {"flow": Reference(flows, none=False), "refdst": Integer(NO_DST, REFERENCE)}
        self.table = spec.table(
            "sk_buff", self.skb, **own, segments=Integer(0, 1 << 20), frags=Integer(0, 1 << 20),
            bytes=Integer(0, 1 << 30), left=Integer(0, 1 << 30), alloc_cpu=Reference(host.cpu),
        )
        self.cache = spec.queue("skbuff_head_cache", host.one, self.skb)
        self.frags = spec.queue("frags", self.skb, pages.page)
        spec.fill(self.cache, self.skb.count)
        self._alloc()
        self._free()

    def touch_info(self, lines: str) -> None:
        """Touch the shared info lines of SKB that hold its fragments, by ``read`` or ``write``. Uses N and K."""
        p = self.host.program
        again = p.fresh("shared_info")
        p.load(K, self.table, "frags", SKB)
        p.alu(K, K, "+", FRAGS_PER_LINE - 1)
        p.alu(K, K, "//", FRAGS_PER_LINE)
        p.alu(K, K, "min", self.info_lines)
        p.alu(K, K, "max", 1)
        p.alu(N, SKB, "*", self.info_lines)
        p.label(again)
        p.alu(N, N, "min", self.skb.count * self.info_lines - 1)
        (p.read if lines == "read" else p.write)(self.info, "frags", N)
        p.alu(N, N, "+", 1)
        p.loop(K, again)

    def take_pages(self, count: Number) -> None:
        """Write: `count` pages are allocated and become fragments of SKB. Uses K and PAGE."""
        p = self.host.program
        p.set(K, count)
        more = p.label(p.fresh("frame_page"))
        p.call("alloc_page")
        p.push(self.frags, PAGE, SKB)
        p.loop(K, more)

    def write_complete(self, pages_per_frame: Value, frame_bytes: Value) -> None:
        """Write ``napi_gro_complete``: the packet in SKB goes up, now that its length is known."""
        p = self.host.program
        with p.symbol("napi_gro_complete"):
            p.label("napi_gro_complete")
            p.load(N, self.table, "segments", SKB)
            p.alu(N, N, "max", 0)  # a counted-up cell may hold any number: the verifier wants bounds before products
            p.alu(N, N, "min", MAX_SEGMENTS)
            p.count("gro_packets")
            p.count("gro_segments", N)
            p.alu(K, N, "*", pages_per_frame)
            p.store(self.table, "frags", K, SKB)
            p.alu(N, N, "*", frame_bytes)
            p.store(self.table, "bytes", N, SKB)
            p.store(self.table, "left", N, SKB)
            self.touch_info("write")
            p.jump("netif_receive_skb")

    def _alloc(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("__alloc_skb"):
            p.label("alloc_skb")
            p.pop(self.cache, SKB)
            p.work(host.cost("skb_alloc_ps"))
            p.write(self.struct, "next", SKB)
            p.write(self.struct, "data", SKB)
            p.store(self.table, "alloc_cpu", CPU, SKB)
            p.store(self.table, "segments", 0, SKB)
            p.store(self.table, "frags", 0, SKB)
            if self.flows is not None:
                p.store(self.table, "flow", FLOW, SKB)
                p.store(self.table, "refdst", NO_DST, SKB)
            p.ret()

    def fetch(self) -> None:
        """Write: a CPU that did not have the packet reads it; FLOW is its flow."""
        p = self.host.program
        p.read(self.struct, "next", SKB)
        p.read(self.struct, "data", SKB)
        p.load(FLOW, self.table, "flow", SKB)

    def free(self) -> None:
        """Write: the packet in SKB goes back with its pages. Keeps M; uses N, K, OTHER, SLOT and PAGE."""
        p = self.host.program
        p.set(OTHER, M)
        p.call("kfree_skb")
        p.set(M, OTHER)

    def _free(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("__kfree_skb"):
            p.label("kfree_skb")
            p.write(self.struct, "next", SKB)
            p.atomic(self.struct, "users", SKB)
            p.load(K, self.table, "frags", SKB)
            p.alu(K, K, "+", self.max_skb_frags - 1)
            p.alu(K, K, "//", self.max_skb_frags)
            p.work(0, by=K, fs=host.cost("skb_free_ps") * 1000)
        with p.symbol("skb_release_data"):
            p.label("kfree_skb.frag")
            p.pop(self.frags, PAGE, SKB, empty="kfree_skb.head")
            p.call("free_page")
            p.jump("kfree_skb.frag")
        with p.symbol("__kfree_skb"):
            p.label("kfree_skb.head")
            p.push(self.cache, SKB)
            p.ret()
