"""What a socket may hold: its own account, refilled from and given back to the protocol's global counter.

``sk_forward_alloc`` is the socket's reserve, changed with every packet queued and every packet consumed. Only when
it runs out, or has grown beyond two megabytes, is the global ``tcp_memory_allocated`` touched, by an atomic.
"""

from __future__ import annotations

from .. import structs
from ..expression import Number
from .host import Host
from .registers import FLOW, M, N
from .socket import Socket

QUANTUM = 4096  # SK_MEM_QUANTUM
RECLAIM_ABOVE = 1 << 21  # sk_mem_uncharge gives back beyond 2 MB
RECLAIM = 1 << 20


class Memory:
    """Writes charging and uncharging of the bytes in N to FLOW; declares the two global counters of TCP."""

    def __init__(self, host: Host, socket: Socket) -> None:
        self.host, self.socket = host, socket

        def layout(align_memory_globals: bool = False) -> structs.Layout:
            return structs.TCP_COUNTERS_AFTER if align_memory_globals else structs.TCP_COUNTERS_BEFORE

        self.globals = host.struct(
            "tcp globals", host.one, ("tcp_memory_allocated", "tcp_sockets_allocated.counters"),
            ("align_memory_globals",), layout,
        )

    def charge(self) -> None:
        """Write: N bytes are queued. Uses M."""
        p, table = self.host.program, self.socket.table
        enough = p.fresh("sk_mem_charge")
        p.atomic(self.socket.struct, "sk_rmem_alloc", FLOW)
        p.write(self.socket.struct, "sk_forward_alloc", FLOW)
        p.load(M, table, "forward_alloc", FLOW)
        p.alu(M, M, "-", N)
        p.store(table, "forward_alloc", M, FLOW)
        p.branch(M, ">=", 0, enough)
        with p.symbol("__sk_mem_raise_allocated"):
            p.atomic(self.globals, "tcp_memory_allocated")
            p.count("memory_allocated")
            p.add(table, "forward_alloc", N, FLOW)
            p.add(table, "forward_alloc", QUANTUM, FLOW)
        p.label(enough)

    def uncharge(self) -> None:
        """Write: N bytes were consumed. Uses M."""
        p, table = self.host.program, self.socket.table
        kept = p.fresh("sk_mem_uncharge")
        if self.socket.acks_due is not None:
            with p.where(self.socket.acks_due, "the buffer's bytes"):
                p.set(M, 0)
                p.alu(M, M, "-", N)
                p.add(table, "queued", M, FLOW)
        p.atomic(self.socket.struct, "sk_rmem_alloc", FLOW)
        p.write(self.socket.struct, "sk_forward_alloc", FLOW)
        p.add(table, "forward_alloc", N, FLOW)
        p.load(M, table, "forward_alloc", FLOW)
        p.branch(M, "<", RECLAIM_ABOVE, kept)
        with p.symbol("__sk_mem_reduce_allocated"):
            p.atomic(self.globals, "tcp_memory_allocated")
            p.count("memory_allocated")
            p.add(table, "forward_alloc", -RECLAIM, FLOW)
        p.label(kept)


class Neighbours:
    """Two threads of other programs: one charges memory for its own sockets, one opens and closes connections.

    The first changes ``tcp_memory_allocated``, the second reads where ``tcp_sockets_allocated`` keeps its
    per-CPU counters. They meet only if the two globals share a line.
    """

    def __init__(self, host: Host, memory: Memory, *, on: str, charger_cpu: Number, opener_cpu: Number) -> None:
        p, spec = host.program, host.spec
        with p.symbol("__sk_mem_raise_allocated"):
            p.label("charger")
            p.work(host.cost("neighbour_gap_ps"))
            p.atomic(memory.globals, "tcp_memory_allocated")
            p.jump("charger")
        with p.symbol("tcp_v6_init_sock"):
            p.label("opener")
            p.work(host.cost("neighbour_gap_ps"))
            p.read(memory.globals, "tcp_sockets_allocated.counters")
            p.count("neighbour_reads")
            p.jump("opener")
        spec.spawn_threads("charger", "charger", host.knob(on), base=charger_cpu)
        spec.spawn_threads("opener", "opener", host.knob(on), base=opener_cpu)
