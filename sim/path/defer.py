"""Deferred freeing: who releases the packets that a reader has consumed.

Without a patch the reader frees each one itself, under the ownership of the socket. The patch of 2021 hangs it on
a list of the socket (``defer_free``), which the softirq empties before it takes the socket's lock, or the reader
when it has let go of the socket. Since 5.19 each CPU has a list, and packets go back to the CPU that allocated
them (``defer_per_cpu``), by an interprocessor interrupt when half of the limit is reached.
"""

from __future__ import annotations

from ..expression import Value
from .host import Host
from .registers import ASIDE, CPU, FLOW, OTHER, SKB, N
from .rx_cache import RxCache
from .skbs import Skbs
from .socket import Socket

SKB_DEFER_MAX = 64  # net.core.skb_defer_max, 5.19 to 6.8


class Defer:
    """Writes ``eat_skb``, ``sk_defer_free_flush`` and ``skb_defer_free_flush``.

    `per_socket` and `per_cpu` are the two forms, 0 or 1; the later one wins. `kick` is the vector that makes a
    CPU run ``net_rx_action``. With a receive `cache` a socket keeps the last packet first.
    """

    def __init__(
        self, host: Host, skbs: Skbs, socket: Socket, *, defer_free: str, defer_per_cpu: str, kick: int,
        cache: RxCache | None = None,
    ) -> None:
        self.host, self.skbs, self.socket, self.cache = host, skbs, socket, cache
        self.per_cpu = host.knob(defer_per_cpu)
        self.per_socket: Value = host.knob(defer_free) * (1 - self.per_cpu)
        self.kick = kick
        spec = host.spec
        self.list = spec.queue("sk->defer_list", socket.flow, skbs.skb)
        self.cpu_list = spec.queue("softnet_data.defer_list", host.cpu, skbs.skb)
        self.work = spec.queue("frees in work", host.cpu, skbs.skb)
        self.lines = spec.struct("softnet_defer", host.cpu, {"defer_lock": 0}, 1)
        self.lock = spec.spinlocks("defer_lock", self.lines, "defer_lock")
        self._eat()
        self._flush_socket()
        self._flush_cpu()

    def _eat(self) -> None:
        """The reader has copied all of SKB: free it, or leave it to others. Ends in ``kfree_skb``."""
        host, p = self.host, self.host.program
        with p.symbol("tcp_eat_recv_skb"):
            p.label("eat_skb")
        if self.cache is not None:
            self.cache.keep()
        with p.where(self.per_cpu, "defer_per_cpu"), p.symbol("skb_attempt_defer_free"):
            p.load(OTHER, self.skbs.table, "alloc_cpu", SKB)
            p.branch(OTHER, "<", 0, "eat_skb.free")
            p.branch(OTHER, "==", CPU, "eat_skb.free")
            p.qlen(self.cpu_list, N, OTHER)
            p.branch(N, ">=", SKB_DEFER_MAX, "eat_skb.free")
            host.lock(self.lock, OTHER)
            p.push(self.cpu_list, SKB, OTHER)
            p.qlen(self.cpu_list, N, OTHER)
            p.unlock(self.lock, OTHER)
            p.count("deferred")
            p.branch(N, "!=", SKB_DEFER_MAX // 2, "eat_skb.deferred")
            p.work(host.cost("ipi_send_ps"))
            p.count("ipis")
            p.raise_(self.kick, host.cost("ipi_ps"), OTHER)
            p.label("eat_skb.deferred")
            p.ret()
        with p.where(self.per_socket, "defer_free"), p.symbol("tcp_eat_recv_skb"):
            p.qlen(self.socket.receive_queue, N, FLOW)
            p.branch(N, "!=", 0, "eat_skb.defer")
            p.qlen(self.list, N, FLOW)
            p.branch(N, "==", 0, "eat_skb.free")
            p.label("eat_skb.defer")
            p.write(self.skbs.struct, "next", SKB)
            p.atomic(self.socket.struct, "defer_list", FLOW)
            p.push(self.list, SKB, FLOW)
            p.count("deferred")
            p.ret()
        with p.symbol("tcp_eat_recv_skb"):
            p.label("eat_skb.free")
            p.count("freed_by_reader")
            p.jump("kfree_skb")

    def _flush_socket(self) -> None:
        """Free what hangs on the socket's list; SKB is kept. Counts whether a softirq did it."""
        p = self.host.program
        for name, stat in (("sk_defer_free_flush", "freed_by_reader"), ("sk_defer_free_flush.bh", "freed_by_softirq")):
            with p.symbol("sk_defer_free_flush"):
                p.label(name)
                with p.where(self.per_socket, "defer_free"):
                    p.read(self.socket.struct, "defer_list", FLOW)
                    p.qlen(self.list, N, FLOW)
                    p.branch(N, "==", 0, f"{name}.none")
                    p.set(ASIDE, SKB)
                    p.atomic(self.socket.struct, "defer_list", FLOW)
                    p.splice(self.list, self.work, FLOW, CPU)
                    p.label(f"{name}.next")
                    p.pop(self.work, SKB, CPU, empty=f"{name}.done")
                    p.count(stat)
                    p.call("kfree_skb")
                    p.jump(f"{name}.next")
                    p.label(f"{name}.done")
                    p.set(SKB, ASIDE)
                    p.label(f"{name}.none")
                p.ret()

    def _flush_cpu(self) -> None:
        """Free what other CPUs have left on this CPU's list."""
        host, p = self.host, self.host.program
        with p.symbol("skb_defer_free_flush"):
            p.label("skb_defer_free_flush")
            with p.where(self.per_cpu, "defer_per_cpu"):
                p.read(self.lines, "defer_lock", CPU)
                p.qlen(self.cpu_list, N, CPU)
                p.branch(N, "==", 0, "skb_defer_free_flush.none")
                host.lock(self.lock, CPU)
                p.splice(self.cpu_list, self.work, CPU, CPU)
                p.unlock(self.lock, CPU)
                p.label("skb_defer_free_flush.next")
                p.pop(self.work, SKB, CPU, empty="skb_defer_free_flush.none")
                p.count("freed_by_softirq")
                p.call("kfree_skb")
                p.jump("skb_defer_free_flush.next")
                p.label("skb_defer_free_flush.none")
            p.ret()
