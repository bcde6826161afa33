"""A thread that blocks in ``recvmsg()`` (3.17): it announces itself, sleeps, and works through its prequeue.

Before it sleeps it puts itself down as ``ucopy.task``; from then on softirq leaves packets on the prequeue. Once
awake it owns the socket, runs TCP on each packet, copies it straight to the program and frees it, works off what
meanwhile went to the backlog, acknowledges and returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..expression import Value
from .host import Host
from .prequeue import PrequeueTcp
from .registers import FLOW, INDEX, SKB, N
from .route import Route

ACK_AFTER: Final = 9  # 64-byte packets: more than 536 bytes (rcv_mss, never raised by pushed small segments)


class BlockingReaders:
    """Writes the threads ``recv``, one a flow on CPU flow % reader_cpus, and the ownership of sockets.

    Parameters
    ----------
    message_bytes
        Payload of a packet.
    recv_packets
        Packets that one call's buffer holds.
    low_latency
        1 if readers never announce themselves (``tcp_low_latency``): no prequeue.
    credit
        Writes the giving back of R[N] packets of FLOW's window, when an ACK leaves.
    """

    def __init__(
        self, host: Host, tcp: PrequeueTcp, route: Route, *, reader_cpus: int, message_bytes: int, recv_packets: int,
        low_latency: Value, credit: Callable[[], None],
    ) -> None:
        self.host, self.tcp, self.route, self.credit = host, tcp, route, credit
        self.low_latency = low_latency
        self.message_bytes, self.recv_packets = message_bytes, recv_packets
        self._ownership()
        self._recv()
        self._wait()
        self._eat()
        self._acknowledge()
        host.spec.spawn_threads("reader", "recv", tcp.receive_queue.domain.count, mod=reader_cpus)

    def _ownership(self) -> None:
        host, p, tcp = self.host, self.host.program, self.tcp
        with p.symbol("lock_sock_nested"):
            p.label("lock_sock")
            host.lock(tcp.slock, FLOW)
            p.store(tcp.table, "owned", 1, FLOW)
            p.unlock(tcp.slock, FLOW)
            p.ret()
        with p.symbol("release_sock"):
            p.label("release_sock")
            p.work(host.cost("release_sock_ps"))
            p.label("release_sock.again")
            host.lock(tcp.slock, FLOW)
            p.read(tcp.struct, "sk_backlog.tail", FLOW)
            p.qlen(tcp.backlog, N, FLOW)
            p.branch(N, "!=", 0, "__release_sock")
            p.store(tcp.table, "owned", 0, FLOW)
            p.unlock(tcp.slock, FLOW)
            p.ret()
        with p.symbol("__release_sock"):
            p.label("__release_sock")
            p.write(tcp.struct, "sk_backlog.tail", FLOW)
            p.splice(tcp.backlog, tcp.taken, FLOW, FLOW)
            p.unlock(tcp.slock, FLOW)
            p.label("__release_sock.next")
            p.pop(tcp.taken, SKB, FLOW, empty="release_sock.again")
            p.call("tcp_v4_do_rcv")
            p.jump("__release_sock.next")

    def _recv(self) -> None:
        """One call: what is in the receive queue, else the backlog, else the prequeue."""
        host, p, tcp = self.host, self.host.program, self.tcp
        with p.symbol("system_call"):
            p.label("recv")
            p.set(FLOW, INDEX)
            p.label("recv.call")
            p.work(host.cost("syscall_ps"))
            p.count("reads")
            p.store(tcp.table, "copied", 0, FLOW)
            p.call("lock_sock")
        with p.symbol("tcp_recvmsg"):
            p.label("recv.next")
            p.load(N, tcp.table, "copied", FLOW)
            p.branch(N, ">=", self.recv_packets, "recv.done")
            p.pop(tcp.receive_queue, SKB, FLOW, empty="recv.empty")
            p.write(tcp.struct, "sk_receive_queue", FLOW)
            p.read(tcp.skbs.struct, "next", SKB)
            p.read(tcp.skbs.struct, "data", SKB)
            p.call("recv.copy")
            p.jump("recv.next")
            p.label("recv.empty")
            p.read(tcp.struct, "sk_backlog.tail", FLOW)
            p.load(N, tcp.table, "copied", FLOW)
            p.branch(N, "==", 0, "sk_wait_data")
            p.qlen(tcp.backlog, N, FLOW)
            p.branch(N, "==", 0, "recv.done")
            p.call("tcp_cleanup_rbuf")
            self._announce()
            p.call("release_sock")
            p.call("lock_sock")
            p.jump("tcp_prequeue_process")
            p.label("recv.done")
            p.peek(tcp.prequeue, SKB, FLOW, empty="recv.out")
            p.jump("tcp_prequeue_process")
            p.label("recv.out")
            p.store(tcp.table, "task", 0, FLOW)
            p.write(tcp.struct, "ucopy.task", FLOW)
            p.call("tcp_cleanup_rbuf")
            p.call("release_sock")
            p.jump("recv.call")

    def _announce(self) -> None:
        p, tcp = self.host.program, self.tcp
        with p.where(1 - self.low_latency, "prequeue"):
            p.store(tcp.table, "task", 1, FLOW)
            p.write(tcp.struct, "ucopy.task", FLOW)

    def _wait(self) -> None:
        """Nothing there: let softirq know who waits, let go of the socket, sleep; then take what came."""
        p, tcp = self.host.program, self.tcp
        with p.symbol("sk_wait_data"):
            p.label("sk_wait_data")
            p.call("tcp_cleanup_rbuf")
            self._announce()
            p.store(tcp.table, "waiting", 1, FLOW)
            p.call("release_sock")
            p.load(N, tcp.table, "copied", FLOW)
            p.branch(N, ">", 0, "sk_wait_data.awake")  # the backlog had something: copied by now
            p.qlen(tcp.receive_queue, N, FLOW)
            p.branch(N, "!=", 0, "sk_wait_data.awake")
            p.count("sleeps")
            p.sleep()
            p.label("sk_wait_data.awake")
            p.store(tcp.table, "waiting", 0, FLOW)
            p.call("lock_sock")
        with p.symbol("tcp_prequeue_process"):
            p.label("tcp_prequeue_process")
            p.qlen(tcp.receive_queue, N, FLOW)
            p.branch(N, "!=", 0, "recv.next")
            p.write(tcp.struct, "ucopy.prequeue", FLOW)
            p.label("tcp_prequeue_process.next")
            p.pop(tcp.prequeue, SKB, FLOW, empty="recv.next")
            p.call("tcp_v4_do_rcv")
            p.jump("tcp_prequeue_process.next")

    def _eat(self) -> None:
        """A packet of 64 bytes goes to the program; whoever copies frees it and drops its route."""
        host, p, tcp = self.host, self.host.program, self.tcp
        with p.symbol("tcp_copy_to_iovec"):
            p.label("tcp_copy_to_iovec")
            p.call("recv.copy")
        with p.symbol("__tcp_ack_snd_check"):
            p.load(N, tcp.table, "unacked", FLOW)
            p.branch(N, ">=", ACK_AFTER, "tcp_send_ack")
            p.ret()
        with p.symbol("skb_copy_datagram_iovec"):
            p.label("recv.copy")
            p.work(host.cost("recvmsg_skb_ps"))
            p.set(N, self.message_bytes)
            p.work(0, by=N, fs=host.cost("copy_fs_per_byte"), copy=True)
            p.add(tcp.table, "copied", 1, FLOW)
            p.count("delivered")
        with p.symbol("__kfree_skb"):
            self.route.drop()
            tcp.skbs.free()
            p.ret()

    def _acknowledge(self) -> None:
        host, p, tcp = self.host, self.host.program, self.tcp
        with p.symbol("tcp_cleanup_rbuf"):
            p.label("tcp_cleanup_rbuf")
            p.load(N, tcp.table, "unacked", FLOW)
            p.branch(N, ">", 0, "tcp_send_ack")
            p.ret()
        with p.symbol("tcp_transmit_skb"):
            p.label("tcp_send_ack")
            p.store(tcp.table, "unacked", 0, FLOW)
            p.work(host.cost("tcp_ack_ps"))
            p.count("acks")
            self.credit()
            p.ret()
