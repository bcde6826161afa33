"""A TCP service that answers each request with a reply: softirq takes requests in, threads answer (5.0, 5.2).

A request's sk_buff is allocated by the interrupted CPU and freed by the thread that read it; a reply's two objects
(an sk_buff pair and its head) are allocated by the thread and freed in softirq when the next request of the flow
acknowledges the reply. With the two patches a socket keeps one of either kind: the thread leaves the request's
sk_buff for softirq to free, and takes the last reply's pair again.
"""

from __future__ import annotations

from typing import Final

from ..expression import Number, Value
from ..spec import Reference
from .clients import Clients
from .epoll import Epoll
from .fragments import Fragments
from .host import Host
from .kmem import Cache
from .registers import FLOW, OTHER, PAGE, SKB, N
from .rss import RssNic

#: Lines of a socket by what uses them together; `sk_rx_skb_cache` stands right before the receive queue (the
#: patch's diff), `sk_tx_skb_cache` beside the write queue. Assumed from the order of include/net/sock.h in 5.0.
FIELDS: Final = {
    "skc_portpair": 0, "sk_lock.slock": 1, "sk_receive_queue": 2, "sk_rx_skb_cache": 2, "rcv_nxt": 3,
    "sk_write_queue": 4, "sk_tx_skb_cache": 4,
}
SKB_FIELDS: Final = {"next": 0, "data": 1}  # as `sim.path.skbs`: list and route; lengths, pointers, users
HEAD_FIELDS: Final = {"headers": 0, "skb_shared_info": 1}


class RequestTcp:
    """Sockets of a service: writes ``alloc_skb`` (from the NIC), ``ip_rcv`` and the threads.

    Parameters
    ----------
    skb, fclone, head
        Caches of the request's sk_buff, of the reply's pair and of its head.
    rx_cache, tx_cache
        1 where a socket keeps its last request's sk_buff, its last reply's pair.
    tx_frag
        1 if a reply's bytes lie in the thread's page fragment instead of the head (part of the transmit patch).
    early_demux
        1 if the socket is found before the route.

    A socket's next request comes at least a round trip after its reply, which is the last that a call does: softirq
    never meets an owned socket, so there is no backlog.
    """

    def __init__(
        self, host: Host, nic: RssNic, epoll: Epoll, fragments: Fragments, *, skb: Cache, fclone: Cache, head: Cache,
        rx_cache: Value, tx_cache: Value, tx_frag: Value, early_demux: Value, message_bytes: int,
    ) -> None:
        self.host, self.nic, self.epoll, self.fragments = host, nic, epoll, fragments
        self.request, self.skb, self.fclone, self.head = skb, skb.object, fclone, head
        self.rx_cache, self.tx_cache, self.tx_frag = rx_cache, tx_cache, tx_frag
        self.early_demux, self.message_bytes = early_demux, message_bytes
        spec = host.spec
        self.struct = spec.struct("tcp_sock", nic.flows, FIELDS, 5)
        self.slock = spec.spinlocks("sk_lock.slock", self.struct, "sk_lock.slock")
        self.table = spec.table(
            "sock", nic.flows, rx=Reference(skb.object), rx_cache=Reference(skb.object), tx=Reference(fclone.object),
            tx_head=Reference(head.object), tx_cache=Reference(fclone.object),
        )
        for column in self.table.columns:
            spec.init(self.table, column, -1)
        self.skbs = spec.table(
            "sk_buff", skb.object, flow=Reference(nic.flows, none=False),
            page=Reference(fragments.page, none=False),
        )
        # the page that a thread cuts its replies' bytes from; it lasts for thousands of small ones
        self.task_frag = spec.struct("task_frag page", epoll.reader, {"_refcount": 0}, 1)

    def fetch(self) -> None:
        """Write: another CPU than the interrupted one takes the packet in SKB over (see `sim.path.softnet`)."""
        self.request.touch("read", "next")
        self.request.touch("read", "data")
        self.host.program.load(FLOW, self.skbs, "flow", SKB)

    def write_alloc(self, then: str) -> None:
        """Write ``alloc_skb``, which goes on at the subroutine `then`."""
        host, p = self.host, self.host.program
        with p.symbol("napi_alloc_skb"):
            p.label("alloc_skb")
            self.request.alloc()
            self.request.touch("write", "next")
            self.request.touch("write", "data")
            p.work(host.cost("skb_alloc_ps"))
            self.fragments.cut()
            p.store(self.skbs, "page", PAGE, SKB)
            p.store(self.skbs, "flow", FLOW, SKB)
            p.jump(then)

    def free(self) -> None:
        """The sk_buff in SKB and its head's fragment go back."""
        p = self.host.program
        with p.symbol("__kfree_skb"):
            self.request.touch("write", "next")
            self.request.touch("write", "data")
            p.load(PAGE, self.skbs, "page", SKB)
            self.fragments.drop()
            self.request.give()
            p.count("requests_freed")

    def write_receive(self) -> None:
        """Write ``ip_rcv``: the packet in SKB, of FLOW, to its socket and its thread."""
        host, p, sock = self.host, self.host.program, self.struct
        with p.symbol("ip_rcv"):
            p.label("ip_rcv")
            p.work(host.cost("ip_rcv_ps"))
            with p.where(1 - self.early_demux, "no early demux"):
                p.work(host.cost("route_lookup_ps"))
        with p.symbol("__inet_lookup_established"):
            p.work(host.cost("socket_lookup_ps"))
            p.read(sock, "skc_portpair", FLOW)
        with p.symbol("tcp_v4_rcv"):
            p.work(host.cost("tcp_rcv_ps"))
            host.lock(self.slock, FLOW)
            p.store(self.table, "rx", SKB, FLOW)
        self._acknowledged()
        with p.symbol("tcp_rcv_established"):
            p.work(host.cost("tcp_established_ps") + host.cost("tcp_queue_ps"))
            p.write(sock, "rcv_nxt", FLOW)
            p.write(sock, "sk_receive_queue", FLOW)
            self.epoll.report()
        with p.symbol("tcp_v4_rcv"), p.where(self.rx_cache, "rx_skb_cache"):
            p.load(SKB, self.table, "rx_cache", FLOW)
            p.store(self.table, "rx_cache", -1, FLOW)
            p.unlock(self.slock, FLOW)
            p.branch(SKB, "<", 0, "tcp_v4_rcv.out")
            self.free()
            p.label("tcp_v4_rcv.out")
            p.ret()
        p.unlock(self.slock, FLOW)
        p.ret()

    def _acknowledged(self) -> None:
        """The request acknowledges the flow's last reply: its two objects are no longer needed."""
        p = self.host.program
        with p.symbol("tcp_clean_rtx_queue"):
            p.write(self.struct, "sk_write_queue", FLOW)
            p.load(SKB, self.table, "tx", FLOW)
            p.branch(SKB, "<", 0, "tcp_ack.done")
            p.store(self.table, "tx", -1, FLOW)
            self.fclone.touch("write", "next")
            with p.where(self.tx_cache, "tx_skb_cache"):
                p.store(self.table, "tx_cache", SKB, FLOW)
                p.load(SKB, self.table, "tx_head", FLOW)
                p.branch(SKB, "<", 0, "tcp_ack.done")
                self.head.touch("read", "skb_shared_info")  # skb_zcopy_clear() asks tx_flags
                p.jump("tcp_ack.done")
        with p.symbol("__kfree_skb"):
            self.fclone.touch("write", "data")
            with p.where(self.tx_frag, "reply in a page"):
                p.load(N, self.epoll.item, "reader", FLOW)
                p.atomic(self.task_frag, "_refcount", N)
            self.fclone.give()
            p.load(SKB, self.table, "tx_head", FLOW)
            p.branch(SKB, "<", 0, "tcp_ack.done")
            self.head.touch("write", "skb_shared_info")
            self.head.give()
            p.count("replies_freed")
        p.label("tcp_ack.done")

    def write_threads(self, clients: Clients, count: Number) -> None:
        """Write `count` threads ``reader``, at most one for each epoll instance: the next ready socket, read, write."""
        host, p, sock = self.host, self.host.program, self.struct
        self.epoll.wait("reader")
        with p.symbol("tcp_poll"):
            p.read(sock, "sk_receive_queue", FLOW)
        with p.symbol("entry_SYSCALL_64"):
            p.work(host.cost("syscall_ps"))
        with p.symbol("tcp_recvmsg"):
            self._own()
            p.write(sock, "sk_receive_queue", FLOW)
            p.write(sock, "rcv_nxt", FLOW)
            p.load(SKB, self.table, "rx", FLOW)
            p.branch(SKB, "<", 0, "reader")  # cannot happen: a socket is ready once for each request
            p.store(self.table, "rx", -1, FLOW)
            self.request.touch("read", "next")
            self.request.touch("read", "data")
            p.work(host.cost("recvmsg_skb_ps"))
            p.set(N, self.message_bytes)
            p.work(0, by=N, fs=host.cost("copy_fs_per_byte"))
            with p.where(self.rx_cache, "rx_skb_cache"):
                p.load(OTHER, self.table, "rx_cache", FLOW)
                p.branch(OTHER, ">=", 0, "sk_eat_skb.free")
                p.store(self.table, "rx_cache", SKB, FLOW)
                self.request.touch("write", "data")  # skb_orphan()
                p.count("requests_kept")
                p.jump("sk_eat_skb.done")
            p.label("sk_eat_skb.free")
            self.free()
            p.label("sk_eat_skb.done")
            p.atomic(sock, "sk_lock.slock", FLOW)
        self._write()
        clients.reply()
        p.jump("reader")
        host.spec.spawn_threads("reader", "reader", count, mod=self.epoll.reader.count)

    def _own(self) -> None:
        """``lock_sock()``: the spinlock is held for an instant only."""
        self.host.lock(self.slock, FLOW)
        self.host.program.unlock(self.slock, FLOW)

    def _write(self) -> None:
        """The reply: a pair and a head, new or the last ones, and all the rest of its way out."""
        host, p, sock = self.host, self.host.program, self.struct
        with p.symbol("entry_SYSCALL_64"):
            p.work(host.cost("syscall_ps"))
        with p.symbol("tcp_sendmsg_locked"):
            self._own()
            p.write(sock, "sk_write_queue", FLOW)
        with p.symbol("sk_stream_alloc_skb"):
            with p.where(self.tx_cache, "tx_skb_cache"):
                p.load(SKB, self.table, "tx_cache", FLOW)
                p.branch(SKB, "<", 0, "sk_stream_alloc_skb.new")
                p.store(self.table, "tx_cache", -1, FLOW)
                self.fclone.touch("write", "data")
                with p.where(self.tx_frag, "reply in a page"):  # pskb_trim() lets go of the old bytes
                    p.load(N, self.epoll.item, "reader", FLOW)
                    p.atomic(self.task_frag, "_refcount", N)
                p.store(self.table, "tx", SKB, FLOW)
                p.load(SKB, self.table, "tx_head", FLOW)
                p.branch(SKB, ">=", 0, "sk_stream_alloc_skb.have")
            p.label("sk_stream_alloc_skb.new")
            self.fclone.alloc()
            self.fclone.touch("write", "next")
            self.fclone.touch("write", "data")
            p.store(self.table, "tx", SKB, FLOW)
            self.head.alloc()
            p.store(self.table, "tx_head", SKB, FLOW)
            p.count("replies_made")
            p.label("sk_stream_alloc_skb.have")
            self.head.touch("write", "skb_shared_info")
            self.head.touch("write", "headers")
        with p.symbol("tcp_sendmsg_locked"), p.where(self.tx_frag, "reply in a page"):
            p.load(N, self.epoll.item, "reader", FLOW)
            p.atomic(self.task_frag, "_refcount", N)
        with p.symbol("tcp_write_xmit"):
            p.work(host.cost("transaction_ps"))
            p.count("transactions")
            p.atomic(sock, "sk_lock.slock", FLOW)
