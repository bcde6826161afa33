"""SLAB (5.0): arrays of pointers, one a CPU, one shared by a node, and a small one for another node's objects.

A CPU takes from and gives to its own array. An empty one is refilled with a batch from the node's shared array, or
from slabs; a full one gives its older batch to the shared array, or to slabs: both under the node's ``list_lock``.
An object of another node goes to an alien array of 12 that all CPUs of the freeing node share, under one lock; a
full one is emptied into its owner's shared array with both locks held.

Left out: slabs that become empty stay on the list of those with free objects; the shared array is emptied in the
order in which it was filled; with more than two nodes a freeing node would have an alien array for each other.
"""

from __future__ import annotations

from ..expression import Number
from ..program import Register
from ..spec import Queue
from .kmem import Cache
from .registers import COPIED, CPU, LEFT, OTHER, SKB, SLOT, K, M, N

ALIEN_LIMIT = 12  # alloc_alien_cache: whatever the object's size
SHARED_FACTOR = 8  # enable_cpucache: for objects of up to a page


class Slab:
    """Writes ``NAME.slab.alloc`` and ``NAME.slab.free``. They use SKB, SLOT, OTHER, N, M, K, LEFT, COPIED."""

    def __init__(self, cache: Cache) -> None:
        self.cache, self.host = cache, cache.host
        spec, name, cpu, node = self.host.spec, cache.name, self.host.cpu, cache.nodes.node
        self.batch: Number = cache.size.batch
        self.shared_limit = self.host.value(self.batch) * SHARED_FACTOR
        self.array = spec.queue(f"{name} array_cache", cpu, cache.object)  # the newer batch, newest first
        self.older = spec.queue(f"{name} array_cache older", cpu, cache.object)
        self.shared = spec.queue(f"{name} shared", node, cache.object)
        self.shared_lines = spec.struct(f"{name} shared", node, {"avail": 0, "entry": 1}, 2)
        self.alien = spec.queue(f"{name} alien", node, cache.object)
        self.alien_lines = spec.struct(f"{name} alien_cache", node, {"lock": 0, "entry": 1}, 2)
        self.alien_lock = spec.spinlocks(f"{name} alien lock", self.alien_lines, "lock")
        self._alloc()
        self._refill_from_slabs()
        self._free()
        self._flush()
        self._free_alien()

    def _pointers(self, count: Register) -> None:
        """So many pointers are copied between arrays; lines after the first come meanwhile."""
        self.host.program.work(0, by=count, fs=self.host.cost("slab_pointer_ps") * 1000)

    def _alloc(self) -> None:
        host, p, c, name = self.host, self.host.program, self.cache, self.cache.name
        with p.symbol("kmem_cache_alloc_node"):
            p.label(f"{name}.slab.alloc")
            p.pop(self.array, SKB, CPU, empty=f"{name}.older")
            p.work(host.cost("slab_alloc_ps"))
            p.ret()
            p.label(f"{name}.older")
            p.splice(self.older, self.array, CPU, CPU)
            p.pop(self.array, SKB, CPU, empty=f"{name}.refill")
            p.work(host.cost("slab_alloc_ps"))
            p.ret()
        with p.symbol("cache_alloc_refill"):
            p.label(f"{name}.refill")
            p.load(K, c.nodes.cpu, "node", CPU)
            c.take(c.list_lock, K)
            p.count("list_locks")
            p.label(f"{name}.refill.locked")
            p.write(self.shared_lines, "avail", K)
            p.qlen(self.shared, M, K)
            p.branch(M, "==", 0, f"{name}.refill.slabs")
            p.read(self.shared_lines, "entry", K)
            p.alu(M, M, "min", self.batch)
            self._pointers(M)
            p.label(f"{name}.refill.next")
            p.pop(self.shared, SKB, K)
            p.push(self.array, SKB, CPU)
            p.loop(M, f"{name}.refill.next")
            p.label(f"{name}.refill.done")
            p.unlock(c.list_lock, K)
            p.jump(f"{name}.slab.alloc")

    def _refill_from_slabs(self) -> None:
        """A batch, or what there is, from the first slabs of the node's list."""
        host, p, c, name = self.host, self.host.program, self.cache, self.cache.name
        with p.symbol("cache_alloc_refill"):
            p.label(f"{name}.refill.slabs")
            p.set(M, self.batch)
            p.label(f"{name}.refill.slab")
            p.peek(c.partial, SLOT, K, empty=f"{name}.refill.none")
            p.write(c.page, "counters", SLOT)
            p.write(c.page, "freelist", SLOT)
            p.label(f"{name}.refill.object")
            p.pop(c.free, SKB, SLOT, empty=f"{name}.refill.full")
            p.work(host.cost("slab_object_ps"))
            p.count("slab_takes")
            p.push(self.array, SKB, CPU)
            p.loop(M, f"{name}.refill.object")
            p.jump(f"{name}.refill.done")
            p.label(f"{name}.refill.full")
            p.pop(c.partial, SLOT, K)
            p.store(c.state, "listed", 0, SLOT)
            p.jump(f"{name}.refill.slab")
            p.label(f"{name}.refill.none")
            p.branch(M, "<", self.batch, f"{name}.refill.done")
            p.unlock(c.list_lock, K)
        with p.symbol("cache_grow_begin"):
            p.pop(c.unused, SLOT, K)
            p.work(host.cost("slab_grow_ps"))
            p.count("slabs_grown")
            c.take(c.list_lock, K)
            p.push(c.partial, SLOT, K)
            p.store(c.state, "listed", 1, SLOT)
            p.jump(f"{name}.refill.locked")

    def _free_block(self, source: Queue, row: Register) -> None:
        """M objects of a queue go back to their slabs, on the list of the node in K, whose lock is held.

        Each leaves its list and goes to its end: its page's line, its index of free objects, and one neighbour's
        line (the two stores to neighbours overlap); the neighbour is drawn at random.
        """
        host, p, c = self.host, self.host.program, self.cache
        again, there = p.fresh("free_block"), p.fresh("free_block.there")
        with p.symbol("free_block"):
            p.label(again)
            p.pop(source, OTHER, row)
            p.load(SLOT, c.of, "slab", OTHER)
            p.write(c.page, "counters", SLOT)
            p.write(c.page, "freelist", SLOT)
            p.uniform(LEFT, c.slabs.count)
            p.write(c.page, "counters", LEFT)
            p.work(host.cost("slab_object_ps"))
            p.count("free_blocks")
            p.push(c.free, OTHER, SLOT, front=True)
            p.load(LEFT, c.state, "listed", SLOT)
            p.branch(LEFT, "!=", 0, there)
            p.store(c.state, "listed", 1, SLOT)
            p.push(c.partial, SLOT, K)
            p.label(there)
            p.loop(M, again)

    def _to_shared(self, source: Queue, row: Register) -> None:
        """The M objects of a queue (all it has) go to the shared array of the node in K, or to slabs if it is full."""
        p = self.host.program
        block, one, done = p.fresh("to_shared.block"), p.fresh("to_shared.one"), p.fresh("to_shared")
        p.write(self.shared_lines, "avail", K)
        p.qlen(self.shared, COPIED, K)
        p.set(LEFT, self.shared_limit)
        p.alu(COPIED, LEFT, "-", COPIED)
        p.branch(COPIED, "<=", 0, block)
        p.alu(COPIED, COPIED, "min", M)
        p.alu(M, M, "-", COPIED)
        p.write(self.shared_lines, "entry", K)
        self._pointers(COPIED)
        p.label(one)
        p.pop(source, OTHER, row)
        p.push(self.shared, OTHER, K)
        p.loop(COPIED, one)
        p.branch(M, "==", 0, done)
        p.label(block)
        self._free_block(source, row)
        p.label(done)

    def _free(self) -> None:
        host, p, c, name = self.host, self.host.program, self.cache, self.cache.name
        with p.symbol("kmem_cache_free"):
            p.label(f"{name}.slab.free")
            p.load(SLOT, c.of, "slab", SKB)
            p.work(host.cost("slab_free_ps"))
            p.read(c.page, "counters", SLOT)  # page_to_nid(): the node stands in the flags of its struct page
            p.load(K, c.state, "node", SLOT)
            p.load(N, c.nodes.cpu, "node", CPU)
            p.branch(N, "!=", K, f"{name}.alien")
            p.qlen(self.array, M, CPU)
            p.branch(M, ">=", self.batch, f"{name}.second")
            p.label(f"{name}.put")
            p.push(self.array, SKB, CPU, front=True)
            p.ret()
            p.label(f"{name}.second")
            p.qlen(self.older, M, CPU)
            p.branch(M, "!=", 0, f"{name}.flush")
            p.label(f"{name}.flushed")
            p.splice(self.array, self.older, CPU, CPU)
            p.jump(f"{name}.put")

    def _flush(self) -> None:
        p, c, name = self.host.program, self.cache, self.cache.name
        with p.symbol("cache_flusharray"):
            p.label(f"{name}.flush")
            c.take(c.list_lock, K)
            p.count("list_locks")
            self._to_shared(self.older, CPU)
            p.unlock(c.list_lock, K)
            p.jump(f"{name}.flushed")

    def _free_alien(self) -> None:
        p, c, name = self.host.program, self.cache, self.cache.name
        with p.symbol("__cache_free_alien"):
            p.label(f"{name}.alien")
            p.count("alien_frees")
            c.take(self.alien_lock, N)
            p.qlen(self.alien, M, N)
            p.branch(M, "<", ALIEN_LIMIT, f"{name}.alien.put")
        with p.symbol("__drain_alien_cache"):
            c.take(c.list_lock, K)
            p.count("list_locks")
            p.read(self.alien_lines, "entry", N)
            self._to_shared(self.alien, N)
            p.unlock(c.list_lock, K)
        with p.symbol("__cache_free_alien"):
            p.label(f"{name}.alien.put")
            p.write(self.alien_lines, "entry", N)
            p.push(self.alien, SKB, N, front=True)
            p.unlock(self.alien_lock, N)
            p.ret()
