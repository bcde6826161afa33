"""Bulk transfer over the loopback device: pairs of threads, pages that a sender uses again once they are free.

A sender cuts each message from its task's 32 KB page. Before it cuts, it looks whether all references but its own
are gone: then the page begins anew without the page allocator. A receiver that keeps its last sk_buff keeps a
reference on that page, so the sender goes to the zone for another one, under its lock.

Softirq runs on the sender's CPU, in its call. The sk_buffs themselves are not counted here, only their pages.
"""

from __future__ import annotations

from typing import Final

from ..expression import Number, Value
from ..spec import Integer, Reference
from .fragments import PAGE_BYTES, Fragments
from .host import Host
from .kmem import Nodes
from .registers import CPU, INDEX, OTHER, PAGE, SKB, K, N

MESSAGE_BYTES: Final = 16_384  # netperf's default on loopback: the send buffer's initial size
SPREAD_PERCENT: Final = 20  # assumed: a call takes up to this more or less


class LoopbackPairs:
    """Writes the threads ``loopback_send`` and ``loopback_recv`` of `pairs` connections.

    Pair i sends on CPU i and receives on CPU i // 2, both modulo CPUs: senders and readers are spread evenly.
    `window` messages may be unread; a sender that waits goes on when half of them are read. `rx_cache` is 1 where a
    socket keeps its last sk_buff.
    """

    def __init__(
        self, host: Host, nodes: Nodes, fragments: Fragments, *, pairs: Number, most_pairs: int, window: Value,
        most_window: int, rx_cache: Value,
    ) -> None:
        self.host, self.nodes, self.fragments = host, nodes, fragments
        self.window, self.rx_cache, self.most_pairs = window, rx_cache, most_pairs
        spec = host.spec
        pair = spec.domain("pair", most_pairs)
        self.skb = spec.domain("loopback skb", most_pairs * (most_window + 2))
        self.page = spec.table("loopback skb", self.skb, page=Reference(fragments.page, none=False))
        self.free = spec.queue("loopback free", pair, self.skb)
        self.queue = spec.queue("loopback sk_receive_queue", pair, self.skb)
        self.table = spec.table(
            "loopback", pair, unread=Integer(0, 1 << 30), sender_waits=Integer(0, 1), reader_waits=Integer(0, 1),
            page=Reference(fragments.page), left=Integer(0, 1 << 20), rx_cache=Reference(self.skb),
        )
        spec.init(self.table, "page", -1)
        spec.init(self.table, "rx_cache", -1)
        spec.fill(self.free, self.skb.count, div=most_window + 2)
        self._send()
        self._refill()
        self._receive()
        spec.spawn_threads("loopback sender", "loopback_send", pairs, mod=host.cpu.count)
        spec.spawn_threads("loopback reader", "loopback_recv", pairs, div=2, mod=host.cpu.count)

    def _put(self) -> None:
        """The sk_buff in SKB goes, and its reference on its page."""
        p = self.host.program
        with p.symbol("__kfree_skb"):
            p.load(PAGE, self.page, "page", SKB)
            self.fragments.drop()
            p.push(self.free, SKB, INDEX)

    def _copy(self) -> None:
        host, p = self.host, self.host.program
        with p.symbol("copy_user_enhanced_fast_string"):
            p.set(N, MESSAGE_BYTES)
            p.work(0, by=N, fs=host.cost("copy_fs_per_byte"), copy=True)

    def _send(self) -> None:
        host, p, table = self.host, self.host.program, self.table
        with p.symbol("entry_SYSCALL_64"):
            p.label("loopback_send")
            p.work(host.cost("syscall_ps") * (100 - SPREAD_PERCENT) // 100)
            p.uniform(N, host.cost("syscall_ps") * 2 * SPREAD_PERCENT // 100 + 1)
            p.work(0, by=N, fs=1000)
            p.label("loopback_send.room")
            p.load(N, table, "unread", INDEX)
            p.branch(N, "<", self.window, "loopback_send.go")
            p.store(table, "sender_waits", 1, INDEX)
            p.sleep()
            p.jump("loopback_send.room")
            p.label("loopback_send.go")
        with p.symbol("sk_page_frag_refill"):
            p.call("sk_page_frag_refill")
            p.add(self.fragments.state, "users", 1, PAGE)
            p.atomic(self.fragments.struct, "_refcount", PAGE)
        self._copy()
        p.pop(self.free, SKB, INDEX)
        p.store(self.page, "page", PAGE, SKB)
        with p.symbol("tcp_write_xmit"):
            p.work(host.cost("transmit_ps"))
        with p.symbol("tcp_v4_rcv"):
            p.work(host.cost("ip_rcv_ps") + host.cost("tcp_rcv_ps") + host.cost("tcp_established_ps"))
            p.add(table, "unread", 1, INDEX)
            p.push(self.queue, SKB, INDEX)
            with p.where(self.rx_cache, "rx_skb_cache"):
                p.load(SKB, table, "rx_cache", INDEX)
                p.branch(SKB, "<", 0, "loopback_send.cached")
                p.store(table, "rx_cache", -1, INDEX)
                self._put()
                p.label("loopback_send.cached")
        with p.symbol("try_to_wake_up"):
            p.load(N, table, "reader_waits", INDEX)
            p.branch(N, "==", 0, "loopback_send")
            p.store(table, "reader_waits", 0, INDEX)
            p.work(host.cost("wakeup_ps"))
            p.alu(OTHER, INDEX, "+", self.most_pairs)
            p.wake_thread(OTHER, host.cost("ipi_ps"))
            p.jump("loopback_send")

    def _refill(self) -> None:
        """A page in PAGE with room for one message."""
        p, fragments = self.host.program, self.fragments
        with p.symbol("sk_page_frag_refill"):
            p.label("sk_page_frag_refill")
            p.load(PAGE, self.table, "page", INDEX)
            p.branch(PAGE, "<", 0, "sk_page_frag_refill.new")
            p.read(fragments.struct, "_refcount", PAGE)
            p.load(N, fragments.state, "users", PAGE)
            p.branch(N, "==", 1, "sk_page_frag_refill.again")
            p.load(N, self.table, "left", INDEX)
            p.branch(N, ">", 0, "sk_page_frag_refill.some")
            fragments.drop()
            p.label("sk_page_frag_refill.new")
            p.load(K, self.nodes.cpu, "node", CPU)
            fragments.zone_page(True)
            p.count("loopback_pages")
            p.store(fragments.state, "users", 1, PAGE)
            p.store(self.table, "page", PAGE, INDEX)
            p.label("sk_page_frag_refill.again")
            p.set(N, PAGE_BYTES // MESSAGE_BYTES)
            p.label("sk_page_frag_refill.some")
            p.alu(N, N, "-", 1)
            p.store(self.table, "left", N, INDEX)
            p.ret()

    def _receive(self) -> None:
        host, p, table = self.host, self.host.program, self.table
        half = self.window // 2
        with p.symbol("entry_SYSCALL_64"):
            p.label("loopback_recv")
            p.work(host.cost("syscall_ps"))
            p.label("loopback_recv.next")
            p.pop(self.queue, SKB, INDEX, empty="loopback_recv.wait")
        self._copy()
        with p.symbol("tcp_recvmsg"):
            p.work(host.cost("recvmsg_skb_ps"))
            with p.where(self.rx_cache, "rx_skb_cache"):
                p.load(N, table, "rx_cache", INDEX)
                p.branch(N, ">=", 0, "loopback_recv.free")
                p.store(table, "rx_cache", SKB, INDEX)
                p.jump("loopback_recv.done")
            p.label("loopback_recv.free")
            self._put()
            p.label("loopback_recv.done")
            p.count("loopback_messages")
            p.add(table, "unread", -1, INDEX)
            p.load(N, table, "unread", INDEX)
            p.branch(N, ">", half, "loopback_recv")
            p.load(N, table, "sender_waits", INDEX)
            p.branch(N, "==", 0, "loopback_recv")
        with p.symbol("try_to_wake_up"):
            p.store(table, "sender_waits", 0, INDEX)
            p.work(host.cost("wakeup_ps"))
            p.set(OTHER, INDEX)
            p.wake_thread(OTHER, host.cost("ipi_ps"))
            p.jump("loopback_recv")
            p.label("loopback_recv.wait")
            p.store(table, "reader_waits", 1, INDEX)
            p.sleep()
            p.jump("loopback_recv.next")
