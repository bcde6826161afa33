"""Page memory: per-CPU page lists in front of one zone, each page with its `struct page` line.

A CPU takes from and gives to its own list, newest first. The list grows to ``high`` pages in groups of
``batch``; beyond that its oldest group goes to the zone under the zone lock, and an empty list is refilled
from there with one. A page that was freed on another CPU brings its line from there when it is taken again.
"""

from __future__ import annotations

from ..expression import Number, Value
from ..spec import Integer
from .host import Host
from .registers import CPU, PAGE, SLOT, M, N

BATCH = 63  # kernel: per-CPU page lists of large zones, 5.0 to 5.17
GROUPS = 6  # high = 6 * batch: 378, the rule up to 5.12; later the zone's watermark decides
SLOTS = 8  # ring of full groups per CPU, a power of two


class Pages:
    """The pages of a host and the subroutines ``alloc_page`` (page in PAGE) and ``free_page``."""

    def __init__(self, host: Host, count: Number, recycling: Value) -> None:
        self.host = host
        self.recycling = recycling
        spec = host.spec
        groups = (host.value(count) + (BATCH - 1)) // BATCH
        self.page = spec.domain("page", groups * BATCH)
        group = spec.domain("group", groups + 4)
        slot = spec.domain("slot", host.cpu.count * SLOTS)
        self.struct = spec.struct("page", self.page, {"_refcount": 0}, 1)
        zone_lines = spec.struct("zone", host.one, {"lock": 0}, 1)
        pool_lines = spec.struct("ptr_ring", host.one, {"producer": 0}, 1)
        self.zone_lock = spec.spinlocks("zone->lock", zone_lines, "lock")
        self.pool_line = pool_lines
        self.pcp = spec.queue("pcp", host.cpu, self.page)
        self.full = spec.queue("pcp groups", slot, self.page)
        self.members = spec.queue("zone groups", group, self.page)
        self.zone = spec.queue("zone", host.one, group)
        self.empty = spec.queue("unused groups", host.one, group)
        self.pool = spec.queue("page_pool", host.one, self.page)
        self.state = spec.table("pcp", host.cpu, oldest=Integer(0, 1 << 40), newest=Integer(0, 1 << 40))
        spec.fill(self.members, self.page.count, div=BATCH)
        spec.fill(self.zone, groups)
        spec.fill(self.empty, 4, first=groups)
        self._alloc()
        self._free()

    def _ring_slot(self, column: str) -> None:
        """SLOT = this CPU's ring slot for a position, modulo SLOTS."""
        p = self.host.program
        p.load(N, self.state, column, CPU)
        p.alu(N, N, "&", SLOTS - 1)
        p.alu(SLOT, CPU, "*", SLOTS)
        p.alu(SLOT, SLOT, "+", N)

    def _alloc(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("page_pool_alloc_pages"):
            p.label("alloc_page")
            with p.where(self.recycling, "page_recycling"):
                p.pop(self.pool, PAGE, empty="alloc_page.list")
                p.work(host.cost("page_pool_ps"))
                p.write(self.struct, "_refcount", PAGE)
                p.ret()
        with p.symbol("rmqueue"):
            p.label("alloc_page.list")
            p.pop(self.pcp, PAGE, CPU, empty="alloc_page.group")
            p.write(self.struct, "_refcount", PAGE)
            p.work(host.cost("page_alloc_ps"))
            p.ret()
            p.label("alloc_page.group")  # the newest full group of this CPU
            p.load(N, self.state, "newest", CPU)
            p.load(M, self.state, "oldest", CPU)
            p.branch(N, "==", M, "alloc_page.zone")
            p.add(self.state, "newest", -1, CPU)
            self._ring_slot("newest")
            p.splice(self.full, self.pcp, SLOT, CPU)
            p.jump("alloc_page.list")
        with p.symbol("rmqueue_bulk"):
            p.label("alloc_page.zone")
            host.lock(self.zone_lock)
            p.pop(self.zone, M)  # an empty zone ends the run: out of memory is a result
            p.work(host.cost("zone_lock_ps") + BATCH * host.cost("zone_page_ps"))
            p.unlock(self.zone_lock)
            p.splice(self.members, self.pcp, M, CPU)
            p.push(self.empty, M)
            p.jump("alloc_page.list")

    def _free(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("page_pool_put_page"):
            p.label("free_page")
            with p.where(self.recycling, "page_recycling"):
                p.atomic(self.struct, "_refcount", PAGE)
                p.write(self.pool_line, "producer")
                p.work(host.cost("page_pool_ring_ps"))
                p.push(self.pool, PAGE)
                p.ret()
        with p.symbol("put_page"):
            p.atomic(self.struct, "_refcount", PAGE)
        with p.symbol("free_unref_page"):
            p.work(host.cost("page_free_ps"))
            p.push(self.pcp, PAGE, CPU, front=True)
            p.qlen(self.pcp, N, CPU)
            p.branch(N, "<", BATCH, "free_page.done")
            self._ring_slot("newest")
            p.splice(self.pcp, self.full, CPU, SLOT)
            p.add(self.state, "newest", 1, CPU)
            p.load(N, self.state, "newest", CPU)
            p.load(M, self.state, "oldest", CPU)
            p.alu(N, N, "-", M)
            p.branch(N, "<", GROUPS, "free_page.done")
        with p.symbol("free_pcppages_bulk"):
            self._ring_slot("oldest")
            p.add(self.state, "oldest", 1, CPU)
            p.pop(self.empty, M)
            p.splice(self.full, self.members, SLOT, M)
            host.lock(self.zone_lock)
            p.work(host.cost("zone_lock_ps") + BATCH * host.cost("zone_page_ps"))
            p.push(self.zone, M, front=True)  # the buddy lists are stacks, too
            p.unlock(self.zone_lock)
            p.label("free_page.done")
            p.ret()
