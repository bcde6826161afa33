"""IPv4 and TCP input of 2014 with the prequeue: a packet for a reader that waits is handed to it as it came.

If a thread is blocked in ``recvmsg()`` (``ucopy.task``), softirq parks the packet on the socket's prequeue and the
reader runs TCP on it; if a thread owns the socket, the packet waits in the backlog; else softirq runs TCP itself.
In the first two cases the packet leaves the protection of RCU, so its route needs a reference, unless the packet
can do without its route (the patch, for the prequeue only).
"""

from __future__ import annotations

from typing import Final

from ..engine.tables import TICKET
from ..expression import Number, Value
from ..spec import Domain, Integer, Reference
from .host import Host
from .linear import LinearSkbs
from .registers import CPU, FLOW, OTHER, SKB, K, N
from .route import Route

#: Lines of a socket by what uses them together: looked up, lock and queues, backlog, TCP's own state, prequeue.
#: Assumed from the order of include/net/sock.h and include/linux/tcp.h in 3.17; one CPU uses all of them with RFS.
FIELDS: Final = {
    "skc_portpair": 0, "skc_refcnt": 1, "sk_lock.slock": 2, "sk_receive_queue": 2, "sk_backlog.tail": 3,
    "sk_rx_dst": 4, "rcv_nxt": 5, "ucopy.task": 6, "ucopy.prequeue": 6,
}


class PrequeueTcp:
    """Sockets with a prequeue: writes ``ip_rcv`` (packet in SKB, flow in FLOW) and ``tcp_v4_do_rcv``.

    Parameters
    ----------
    early_demux
        1 if the socket is found before the route and gives its cached one.
    drop_dst_early
        1 for the patch: ``tcp_prequeue()`` lets go of the route if the socket has one cached.
    eat
        Subroutine of the reader that takes the packet in SKB into its buffer.
    kind
        Kind of the socket's spinlock, TICKET or QUEUED.

    The memory limit of a prequeue (``sk_rcvbuf``, 87,380 bytes) is not modelled: a sender's 57 packets stay below it.
    """

    def __init__(
        self, host: Host, skbs: LinearSkbs, route: Route, flows: Domain, *, early_demux: Value, drop_dst_early: Value,
        reader_cpus: Number, eat: str, kind: Number = TICKET,
    ) -> None:
        self.host, self.skbs, self.route = host, skbs, route
        self.drop_dst_early = drop_dst_early
        spec = host.spec
        self.struct = spec.struct("tcp_sock", flows, FIELDS, 7)
        self.slock = spec.spinlocks("sk_lock.slock", self.struct, "sk_lock.slock", kind)
        reader = spec.domain("thread", flows.count)
        self.table = spec.table(
            "sock", flows, owned=Integer(0, 1), task=Integer(0, 1), waiting=Integer(0, 1), rx_dst=Integer(0, 1),
            unacked=Integer(0, 1 << 30), copied=Integer(0, 1 << 30), reader=Reference(reader, none=False),
            cpu=Reference(host.cpu, none=False),
        )
        self.receive_queue = spec.queue("sk_receive_queue", flows, skbs.skb)
        self.backlog = spec.queue("sk_backlog", flows, skbs.skb)
        self.taken = spec.queue("backlog in work", flows, skbs.skb)
        self.prequeue = spec.queue("ucopy.prequeue", flows, skbs.skb)
        spec.init(self.table, "reader", 0, mod=flows.count)
        spec.init(self.table, "cpu", 0, mod=reader_cpus)
        self._ip_rcv(early_demux)
        self._tcp_rcv(early_demux)
        self._prequeue()
        self._wake()
        self._add_backlog()
        self._do_rcv(eat)

    def _look_up(self) -> None:
        """``__inet_lookup_established()``: compare, then take a reference on the socket."""
        p = self.host.program
        with p.symbol("__inet_lookup_established"):
            p.work(self.host.cost("socket_lookup_ps"))
            p.read(self.struct, "skc_portpair", FLOW)
            p.atomic(self.struct, "skc_refcnt", FLOW)

    def _ip_rcv(self, early_demux: Value) -> None:
        host, p = self.host, self.host.program
        with p.symbol("ip_rcv"):
            p.label("ip_rcv")
            p.work(host.cost("ip_rcv_ps"))
        with p.where(early_demux, "ip_early_demux"):
            self._look_up()
            with p.symbol("tcp_v4_early_demux"):
                p.read(self.struct, "sk_rx_dst", FLOW)
                p.load(N, self.table, "rx_dst", FLOW)
                p.branch(N, "==", 0, "ip_route_input")
                self.route.check()
                p.jump("ip_rcv_finish")
        with p.symbol("ip_route_input_noref"):
            p.label("ip_route_input")
            p.work(host.cost("route_lookup_ps"))
            self.route.check()  # rt_cache_valid() asks the same of the next hop's cached entry
        p.label("ip_rcv_finish")
        self.route.deliver()

    def _tcp_rcv(self, early_demux: Value) -> None:
        host, p = self.host, self.host.program
        with p.where(1 - early_demux, "no early demux"):
            self._look_up()
        with p.symbol("tcp_v4_rcv"):
            p.work(host.cost("tcp_rcv_ps"))
            host.lock(self.slock, FLOW)
            p.load(N, self.table, "owned", FLOW)
            p.branch(N, "!=", 0, "sk_add_backlog")
            p.read(self.struct, "ucopy.task", FLOW)
            p.load(N, self.table, "task", FLOW)
            p.branch(N, "!=", 0, "tcp_prequeue")
            p.count("direct")
            p.call("tcp_v4_do_rcv")
            p.label("tcp_v4_rcv.out")
            p.unlock(self.slock, FLOW)
            p.atomic(self.struct, "skc_refcnt", FLOW)
            p.ret()

    def _prequeue(self) -> None:
        """The reader waits: park the packet; wake the reader if it is the first one."""
        host, p = self.host, self.host.program
        with p.symbol("tcp_prequeue"):
            p.label("tcp_prequeue")
            p.count("prequeued")
            with p.where(self.drop_dst_early, "drop_dst_early"):
                p.load(N, self.table, "rx_dst", FLOW)
                p.branch(N, "==", 0, "tcp_prequeue.force")
                self.route.drop()
                p.jump("tcp_prequeue.queue")
            p.label("tcp_prequeue.force")
            self.route.force()
            p.label("tcp_prequeue.queue")
            p.write(self.struct, "ucopy.prequeue", FLOW)
            p.push(self.prequeue, SKB, FLOW)
            p.work(host.cost("prequeue_ps"))
            p.qlen(self.prequeue, N, FLOW)
            p.branch(N, "!=", 1, "tcp_v4_rcv.out")
            p.call("sock_def_readable")
            p.jump("tcp_v4_rcv.out")

    def _wake(self) -> None:
        """``sock_def_readable``: wake the reader if it waits, on another CPU by an interrupt. Uses N, K, OTHER."""
        host, p = self.host, self.host.program
        with p.symbol("sock_def_readable"):
            p.label("sock_def_readable")
            p.load(N, self.table, "waiting", FLOW)
            p.branch(N, "!=", 0, "try_to_wake_up")
            p.ret()
        with p.symbol("try_to_wake_up"):
            p.label("try_to_wake_up")
            p.store(self.table, "waiting", 0, FLOW)
            p.count("wakeups")
            p.work(host.cost("wakeup_ps"))
            p.load(K, self.table, "reader", FLOW)
            p.load(OTHER, self.table, "cpu", FLOW)
            p.branch(OTHER, "==", CPU, "try_to_wake_up.here")
            p.wake_thread(K, host.cost("ipi_ps"))
            p.ret()
            p.label("try_to_wake_up.here")
            p.wake_thread(K)
            p.ret()

    def _add_backlog(self) -> None:
        """A thread owns the socket: leave the packet to it, with a reference on the route in either kernel."""
        p = self.host.program
        with p.symbol("tcp_v4_rcv"):  # sk_add_backlog() is inline
            p.label("sk_add_backlog")
            p.count("backlogged")
            self.route.force()
            p.write(self.struct, "sk_backlog.tail", FLOW)
            p.push(self.backlog, SKB, FLOW)
            p.jump("tcp_v4_rcv.out")

    def _do_rcv(self, eat: str) -> None:
        """TCP on one packet, in softirq or by the reader; its own reader gets the data at once, else they queue."""
        host, p = self.host, self.host.program
        with p.symbol("tcp_v4_do_rcv"):
            p.label("tcp_v4_do_rcv")
            p.read(self.skbs.struct, "next", SKB)
            p.read(self.skbs.struct, "data", SKB)
            p.read(self.struct, "sk_rx_dst", FLOW)
            p.load(N, self.table, "rx_dst", FLOW)
            p.branch(N, "==", 0, "inet_sk_rx_dst_set")
            self.route.check()
            p.jump("tcp_rcv_established")
        with p.symbol("inet_sk_rx_dst_set"):
            p.label("inet_sk_rx_dst_set")
            self.route.hold()
            p.store(self.table, "rx_dst", 1, FLOW)
        with p.symbol("tcp_rcv_established"):
            p.label("tcp_rcv_established")
            p.write(self.struct, "rcv_nxt", FLOW)
            p.work(host.cost("tcp_established_ps"))
            p.add(self.table, "unacked", 1, FLOW)
            p.load(N, self.table, "task", FLOW)
            p.branch(N, "==", 0, "tcp_queue_rcv")
            p.qlen(self.receive_queue, N, FLOW)
            p.branch(N, "==", 0, eat)
        with p.symbol("tcp_queue_rcv"):
            p.label("tcp_queue_rcv")
            p.write(self.struct, "sk_receive_queue", FLOW)
            p.work(host.cost("tcp_queue_ps"))
            p.push(self.receive_queue, SKB, FLOW)
            p.jump("sock_def_readable")
