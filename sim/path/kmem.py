"""Slab caches: objects of one size, taken and given back by any CPU, as SLUB or as SLAB manages them.

A cache's objects have identity: whoever takes one that another CPU used fetches its lines from there. Which
allocator works is a knob of the scenario; both are there, and a run executes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..expression import Number, Value
from ..program import Register
from ..spec import Domain, Integer, Locks, Reference
from .host import Host
from .registers import SKB


class Nodes:
    """Memory nodes, one a socket: which node a CPU belongs to; and its interrupts, off where an allocator works.

    What a CPU must not be interrupted in is under a lock of its own that nobody else ever takes.
    """

    def __init__(self, host: Host) -> None:
        topology = host.machine.topology
        self.node: Domain = host.spec.domain("node", topology.sockets)
        self.cpu = host.spec.table("cpu node", host.cpu, node=Reference(self.node, none=False))
        host.spec.init(self.cpu, "node", 0, div=topology.cores_per_socket, mod=topology.sockets)
        local = host.spec.struct("local_irq", host.cpu, {"flags": 0}, 1)
        self.irq = host.spec.spinlocks("local_irq", local, "flags")


@dataclass(frozen=True)
class Size:
    """What the kernel's rules give for an object size; each may depend on knobs.

    `slub_objects` and `cpu_partial` are SLUB's objects of a slab and limit of a CPU's partial list (5.0,
    calculate_order for 64 to 127 CPUs, set_cpu_partial); `slab_objects` and `batch` are SLAB's objects of a slab
    and batch (enable_cpucache): a CPU's array holds two batches, a node's shared array eight.
    """

    slub_objects: Number
    cpu_partial: Number
    slab_objects: Number
    batch: Number

    def choose(self, yes: Value, other: Size) -> Size:
        """This size where `yes` is 0, the other where it is not."""
        pairs = (
            (other.slub_objects, self.slub_objects), (other.cpu_partial, self.cpu_partial),
            (other.slab_objects, self.slab_objects), (other.batch, self.batch),
        )
        return Size(*(yes.choose(a, b) for a, b in pairs))


#: Sizes by bytes of an object. SLUB: 5.0 mm/slub.c; SLAB: 5.0 mm/slab.c, objects of a slab from a page each.
SIZES: Mapping[int, Size] = {
    256: Size(32, 13, 16, 60), 512: Size(32, 13, 8, 27), 1024: Size(32, 6, 4, 27), 2048: Size(16, 6, 2, 12),
}


class Cache:
    """One slab cache under construction: its objects, its slabs and their `struct page` lines.

    Parameters
    ----------
    name
        The kernel's name of the cache; its subroutines are ``NAME.alloc`` (object in SKB) and ``NAME.free``.
    size
        Limits, see `Size`.
    objects
        How many exist at least; running out ends the run as exhausted.
    fields
        Lines of an object: field to line.
    slab
        1 for SLAB, 0 for SLUB.
    section_ps
        Time added inside each section under one of the cache's locks.
    """

    def __init__(
        self, host: Host, nodes: Nodes, name: str, size: Size, objects: int, fields: Mapping[str, int], slab: Value,
        section_ps: Number = 0,
    ) -> None:
        self.host, self.nodes, self.name, self.size, self.slab = host, nodes, name, size, slab
        self.section_ps = section_ps
        spec = host.spec
        self.per_slab = slab.choose(size.slab_objects, size.slub_objects)
        node_count = host.machine.topology.sockets
        per_node = host.value(objects) // self.per_slab // node_count + 1
        self.slabs = spec.domain(f"{name} slab", per_node * node_count)
        self.object = spec.domain(name, self.slabs.count * self.per_slab)
        self.struct = spec.struct(name, self.object, fields, max(fields.values()) + 1)
        # a slab's struct page (flags, list links, counters) and, for SLAB, its index of free objects
        self.page = spec.struct(f"{name} page", self.slabs, {"counters": 0, "freelist": 1}, 2)
        self.of = spec.table(f"{name} object", self.object, slab=Reference(self.slabs, none=False))
        self.state = spec.table(
            f"{name} page", self.slabs, node=Reference(nodes.node, none=False), listed=Integer(0, 1),
            free=Integer(0, 1 << 20),
        )
        self.free = spec.queue(f"{name} page freelist", self.slabs, self.object)
        self.unused = spec.queue(f"{name} unused slabs", nodes.node, self.slabs)
        self.node_lines = spec.struct(f"{name} kmem_cache_node", nodes.node, {"list_lock": 0}, 1)
        self.list_lock = spec.spinlocks(f"{name} list_lock", self.node_lines, "list_lock")
        self.partial = spec.queue(f"{name} node partial", nodes.node, self.slabs)
        spec.init(self.state, "node", 0, div=per_node, mod=node_count)
        spec.init(self.of, "slab", 0, div=self.per_slab, mod=self.slabs.count)
        spec.fill(self.free, self.object.count, div=self.per_slab)
        spec.fill(self.unused, self.slabs.count, div=per_node)

    def alloc(self) -> None:
        """Write: an object in SKB, taken from the allocator."""
        self.host.program.call(f"{self.name}.alloc")

    def give(self) -> None:
        """Write: the object in SKB goes back to the allocator."""
        self.host.program.call(f"{self.name}.free")

    def take(self, locks: Locks, row: Register) -> None:
        """Write: one of the cache's locks is taken; ``unlock`` ends the section."""
        self.host.lock(locks, row)
        self.host.program.work(self.section_ps)

    def entry(self) -> None:
        """Write the two entries that lead to the allocator of the setting, ``NAME.slab.*`` or ``NAME.slub.*``."""
        p = self.host.program
        for verb, symbol in (("alloc", "kmem_cache_alloc_node"), ("free", "kmem_cache_free")):
            with p.symbol(symbol):
                p.label(f"{self.name}.{verb}")
                with p.where(self.slab, "SLAB"):
                    p.jump(f"{self.name}.slab.{verb}")
                p.jump(f"{self.name}.slub.{verb}")

    def touch(self, kind: str, field: str) -> None:
        """Write: the object in SKB is read or written at a field."""
        p = self.host.program
        (p.write if kind == "write" else p.read)(self.struct, field, SKB)
