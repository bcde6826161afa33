"""SLUB (5.0): a CPU takes objects from its own slab; an object goes back to its slab wherever that is.

Freeing on the CPU that has the slab is a push on its private list; elsewhere it is one compare-and-exchange on the
slab's `struct page`, whose line comes from whoever changed it last. The first object that returns to a full slab
puts the slab on the freeing CPU's partial list; when that has grown beyond `cpu_partial` free objects, all of it
goes to the nodes' lists, each slab by a compare-and-exchange inside the node's ``list_lock``.

Left out: slabs that become empty go on the partial list like others instead of back to the page allocator, and a
node without partial slabs takes a new one and none of another node's.
"""

from __future__ import annotations

from ..spec import Integer, Reference
from .kmem import Cache
from .registers import CPU, OTHER, SKB, SLOT, K, M, N


class Slub:
    """Writes ``NAME.slub.alloc`` and ``NAME.slub.free`` of a cache. They use SKB, SLOT, OTHER, N, M, K."""

    def __init__(self, cache: Cache) -> None:
        self.cache, self.host = cache, cache.host
        spec, name, cpu = self.host.spec, cache.name, self.host.cpu
        self.freelist = spec.queue(f"{name} cpu freelist", cpu, cache.object)
        self.cpu_partial = spec.queue(f"{name} cpu partial", cpu, cache.slabs)
        self.cpu = spec.table(
            f"{name} kmem_cache_cpu", cpu, page=Reference(cache.slabs), pobjects=Integer(0, 1 << 30)
        )
        spec.init(self.cpu, "page", -1)
        self._alloc()
        self._from_node()
        self._free()
        self._put_cpu_partial()

    def _take(self) -> None:
        """Take all free objects of the slab in SLOT, now this CPU's."""
        p, c = self.host.program, self.cache
        p.store(self.cpu, "page", SLOT, CPU)
        p.atomic(c.page, "counters", SLOT)
        p.splice(c.free, self.freelist, SLOT, CPU)

    def _alloc(self) -> None:
        host, p, c, name = self.host, self.host.program, self.cache, self.cache.name
        with p.symbol("kmem_cache_alloc_node"):
            p.label(f"{name}.slub.alloc")
            p.pop(self.freelist, SKB, CPU, empty=f"{name}.slow")
            p.work(host.cost("slab_alloc_ps"))
            p.ret()
        with p.symbol("___slab_alloc"):
            p.label(f"{name}.slow")
            p.lock(c.nodes.irq, CPU)
            p.work(host.cost("slub_slow_ps"))
            p.load(SLOT, self.cpu, "page", CPU)
            p.branch(SLOT, "<", 0, f"{name}.new_slab")
            p.atomic(c.page, "counters", SLOT)
            p.qlen(c.free, N, SLOT)
            p.branch(N, "==", 0, f"{name}.deactivate")
            p.splice(c.free, self.freelist, SLOT, CPU)  # others have given back to it meanwhile
            p.jump(f"{name}.slow.done")
            p.label(f"{name}.deactivate")
            p.store(c.state, "listed", 0, SLOT)
            p.store(self.cpu, "page", -1, CPU)
            p.label(f"{name}.new_slab")
            p.pop(self.cpu_partial, SLOT, CPU, empty=f"{name}.node")
            p.load(N, c.state, "free", SLOT)
            p.load(M, self.cpu, "pobjects", CPU)
            p.alu(M, M, "-", N)
            p.alu(M, M, "max", 0)
            p.alu(M, M, "min", 1 << 30)
            p.store(self.cpu, "pobjects", M, CPU)
            self._take()
            p.label(f"{name}.slow.done")
            p.unlock(c.nodes.irq, CPU)
            p.jump(f"{name}.slub.alloc")

    def _from_node(self) -> None:
        """``get_partial_node()``: slabs of the node's list until more than half of `cpu_partial` is at hand."""
        host, p, c, name = self.host, self.host.program, self.cache, self.cache.name
        half = host.value(c.size.cpu_partial) // 2
        with p.symbol("get_partial_node"):
            p.label(f"{name}.node")
            p.load(K, c.nodes.cpu, "node", CPU)
            c.take(c.list_lock, K)
            p.count("list_locks")
            p.pop(c.partial, SLOT, K, empty=f"{name}.grow")
            p.store(c.state, "listed", 1, SLOT)
            self._take()
            p.qlen(self.freelist, M, CPU)
            p.label(f"{name}.more")
            p.branch(M, ">", half, f"{name}.enough")
            p.pop(c.partial, SLOT, K, empty=f"{name}.enough")
            p.atomic(c.page, "counters", SLOT)
            p.store(c.state, "listed", 1, SLOT)
            p.qlen(c.free, N, SLOT)
            p.store(c.state, "free", N, SLOT)
            p.add(self.cpu, "pobjects", N, CPU)
            p.alu(M, M, "+", N)
            p.push(self.cpu_partial, SLOT, CPU, front=True)
            p.jump(f"{name}.more")
            p.label(f"{name}.enough")
            p.unlock(c.list_lock, K)
            p.jump(f"{name}.slow.done")
            p.label(f"{name}.grow")
            p.unlock(c.list_lock, K)
        with p.symbol("new_slab"):
            p.pop(c.unused, SLOT, K)
            p.work(host.cost("slab_grow_ps"))
            p.count("slabs_grown")
            p.store(c.state, "listed", 1, SLOT)
            self._take()
            p.jump(f"{name}.slow.done")

    def _free(self) -> None:
        """`listed` is 1 for a slab that some CPU has frozen or a node's list holds, 0 for a full one."""
        host, p, c, name = self.host, self.host.program, self.cache, self.cache.name
        with p.symbol("kmem_cache_free"):
            p.label(f"{name}.slub.free")
            p.load(SLOT, c.of, "slab", SKB)
            p.work(host.cost("slab_free_ps"))
            p.load(N, self.cpu, "page", CPU)
            p.branch(N, "!=", SLOT, f"{name}.remote")
            p.push(self.freelist, SKB, CPU, front=True)
            p.ret()
        with p.symbol("__slab_free"):
            p.label(f"{name}.remote")
            p.count("remote_frees")
            p.atomic(c.page, "counters", SLOT)
            p.push(c.free, SKB, SLOT, front=True)
            p.load(M, c.state, "listed", SLOT)
            p.branch(M, "==", 0, f"{name}.put_cpu_partial")
            p.ret()

    def _put_cpu_partial(self) -> None:
        host, p, c, name = self.host, self.host.program, self.cache, self.cache.name
        with p.symbol("put_cpu_partial"):
            p.label(f"{name}.put_cpu_partial")
            p.store(c.state, "listed", 1, SLOT)  # frozen by the same exchange
            p.lock(c.nodes.irq, CPU)
            p.work(host.cost("slub_slow_ps"))
            p.load(N, self.cpu, "pobjects", CPU)
            p.branch(N, "<=", c.size.cpu_partial, f"{name}.keep")
        with p.symbol("unfreeze_partials"):
            p.store(self.cpu, "pobjects", 0, CPU)
            p.pop(self.cpu_partial, OTHER, CPU, empty=f"{name}.keep")
            p.load(K, c.state, "node", OTHER)
            p.label(f"{name}.unfreeze")
            c.take(c.list_lock, K)
            p.count("list_locks")
            p.label(f"{name}.unfreeze.next")
            p.atomic(c.page, "counters", OTHER)
            p.push(c.partial, OTHER, K)
            p.pop(self.cpu_partial, OTHER, CPU, empty=f"{name}.unfrozen")
            p.load(M, c.state, "node", OTHER)
            p.branch(M, "==", K, f"{name}.unfreeze.next")
            p.unlock(c.list_lock, K)
            p.set(K, M)
            p.jump(f"{name}.unfreeze")
            p.label(f"{name}.unfrozen")
            p.unlock(c.list_lock, K)
        with p.symbol("put_cpu_partial"):
            p.label(f"{name}.keep")
            p.store(c.state, "free", 1, SLOT)
            p.add(self.cpu, "pobjects", 1, CPU)
            p.push(self.cpu_partial, SLOT, CPU, front=True)
            p.unlock(c.nodes.irq, CPU)
            p.ret()
