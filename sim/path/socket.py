"""A TCP socket: its lines, its lock with an owner, receive queue and backlog.

The spinlock is held briefly; *owning* the socket is a flag under it. While a reader owns the socket the softirq
may not process packets: it appends them to the backlog, which the owner works off before it lets go.
"""

from __future__ import annotations

from .. import structs
from ..expression import Number, Value
from ..spec import Domain, Integer, Reference
from .host import Host
from .registers import FLOW, SKB, N
from .skbs import Skbs

FIELDS = (
    "skc_portpair", "sk_refcnt", "sk_rx_dst", "sk_rx_dst_ifindex", "sk_lock.slock", "sk_receive_queue",
    "sk_backlog.len", "sk_backlog.tail",
    "sk_rmem_alloc", "defer_list", "sk_forward_alloc", "sk_rcvbuf", "sk_sndbuf", "skc_v6_rcv_saddr",
    "sk_rcvtimeo", "sk_uid", "sk_err", "sk_shutdown", "sk_data_ready", "sk_backlog_rcv",
)
MOST = 1 << 40  # bytes of an account
LAYOUT_KEYS = ("defer_free", "drop_forced_caps", "drop_nocaps", "fill_sock_hole", "demux_fields_close")


class Socket:
    """The sockets of a host, one for each flow, and the subroutines to own and to release one (in FLOW).

    `acks_due` is the switch of the kernel's rules for ACKs (see `sim.path.acks`); only with it is a window accounted.
    """

    def __init__(self, host: Host, skbs: Skbs, flows: Number | Domain, acks_due: Value | None = None) -> None:
        self.host, self.acks_due = host, acks_due
        spec = host.spec
        self.flow = flows if isinstance(flows, Domain) else spec.domain("flow", flows)
        self.reader = spec.domain("thread", self.flow.count)
        self.struct = host.struct("sock", self.flow, FIELDS, LAYOUT_KEYS, structs.sock)
        self.tcp = spec.struct("tcp_sock", self.flow, {"rcv_nxt": 0, "urg_data": 1, "urg_seq": 2}, 3)
        self.pinet6 = spec.struct("ipv6_pinfo", self.flow, {"saddr": 0}, 1)
        self.slock = spec.spinlocks("sk_lock.slock", self.struct, "sk_lock.slock")
        self.table = spec.table(
            "sock", self.flow, owned=Integer(0, 1), waiting=Integer(0, 1), unacked=Integer(0, MOST),
            reader=Reference(self.reader, none=False), queue_tail=Reference(skbs.skb),
            backlog_tail=Reference(skbs.skb), forward_alloc=Integer(-MOST, MOST), queued=Integer(0, MOST),
            backlog_len=Integer(0, MOST), room=Integer(0, MOST), rcv_wnd=Integer(0, MOST),
        )
        self.receive_queue = spec.queue("sk_receive_queue", self.flow, skbs.skb)
        self.backlog = spec.queue("sk_backlog", self.flow, skbs.skb)
        self.taken = spec.queue("backlog in work", self.flow, skbs.skb)
        spec.init(self.table, "reader", 0, mod=self.flow.count)
        spec.init(self.table, "queue_tail", -1)
        spec.init(self.table, "backlog_tail", -1)

    def write_ownership(self, direct_call: Value) -> None:
        """Write ``lock_sock``, ``release_sock`` and ``flush_backlog``; a backlog packet goes to ``tcp_v6_do_rcv``.

        With `direct_call` on, ``sk_backlog_rcv`` is compared and called by name; else through its pointer.
        """
        host, p = self.host, self.host.program
        with p.symbol("lock_sock_nested"):
            p.label("lock_sock")
            host.lock(self.slock, FLOW)
            p.store(self.table, "owned", 1, FLOW)
            p.unlock(self.slock, FLOW)
            p.ret()
        with p.symbol("release_sock"):
            p.label("release_sock")
            p.work(host.cost("release_sock_ps"))
            host.lock(self.slock, FLOW)
            p.read(self.struct, "sk_backlog.tail", FLOW)
            p.qlen(self.backlog, N, FLOW)
            p.branch(N, "==", 0, "release_sock.release")
            p.call("__release_sock")
            p.label("release_sock.release")
            p.store(self.table, "owned", 0, FLOW)
            p.unlock(self.slock, FLOW)
            p.ret()
        with p.symbol("__sk_flush_backlog"):
            p.label("flush_backlog")
            host.lock(self.slock, FLOW)
            p.call("__release_sock")
            p.unlock(self.slock, FLOW)
            p.ret()
        self._work_off(direct_call)

    def _work_off(self, direct_call: Value) -> None:
        """Write ``__release_sock``: entered and left with the spinlock held, it lets go of it while TCP runs."""
        host, p = self.host, self.host.program
        with p.symbol("__release_sock"):
            p.label("__release_sock")
            p.read(self.struct, "sk_backlog.tail", FLOW)
            p.qlen(self.backlog, N, FLOW)
            p.branch(N, "==", 0, "__release_sock.empty")
            p.write(self.struct, "sk_backlog.tail", FLOW)
            p.splice(self.backlog, self.taken, FLOW, FLOW)
            p.store(self.table, "backlog_tail", -1, FLOW)
            p.unlock(self.slock, FLOW)
            p.label("__release_sock.next")
            p.pop(self.taken, SKB, FLOW, empty="__release_sock.done")
            p.read(self.struct, "sk_backlog_rcv", FLOW)
            p.work(host.cost("function_call_ps"))
            with p.where(1 - direct_call, "backlog call by pointer"):
                p.work(host.cost("indirect_call_ps"))
            p.call("tcp_v6_do_rcv")
            p.jump("__release_sock.next")
            p.label("__release_sock.done")
            host.lock(self.slock, FLOW)
            p.jump("__release_sock")
            p.label("__release_sock.empty")
            if self.acks_due is not None:
                with p.where(self.acks_due, "the backlog's bytes"):
                    p.write(self.struct, "sk_backlog.len", FLOW)
                    p.store(self.table, "backlog_len", 0, FLOW)
            p.ret()
