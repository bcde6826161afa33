"""The thread in ``recvmsg()``: it owns the socket, copies packet after packet, works off the backlog, lets go.

The copy to user memory happens while the socket is owned. When the receive queue is empty and packets wait in
the backlog, they are processed at once; when there is nothing at all and something was copied, the call returns.
"""

from __future__ import annotations

from ..expression import Value
from .defer import Defer
from .host import Host
from .registers import COPIED, FLOW, K, LEFT, M, N, SKB
from .sender import BulkSender
from .skbs import Skbs
from .socket import Socket

COPY_SPREAD_PERCENT = 10  # assumed: a packet's copy takes up to this more or less, as its pages lie in memory
SPREAD_STEPS = 128


class Reader:
    """Writes the thread ``recvmsg``, one for each flow, on CPU `cpu`."""

    def __init__(
        self, host: Host, skbs: Skbs, socket: Socket, defer: Defer, sender: BulkSender, *, cpu: Value,
        recv_size_bytes: Value,
    ) -> None:
        self.host, self.skbs, self.socket = host, skbs, socket
        self.defer, self.sender = defer, sender
        p = host.program
        with p.symbol("entry_SYSCALL_64"):
            p.label("recvmsg")
            p.set(FLOW, 0)
            p.label("recvmsg.call")
            p.work(host.cost("syscall_ps"))
            p.count("reads")
            p.set(LEFT, recv_size_bytes)
            p.set(COPIED, 0)
            p.call("lock_sock")
        self._receive()
        self._nothing()
        self._cleanup_rbuf()
        host.spec.spawn_threads("reader", "recvmsg", socket.flow.count, base=cpu)

    def _receive(self) -> None:
        host, p, table = self.host, self.host.program, self.skbs.table
        with p.symbol("tcp_recvmsg_locked"):
            p.label("recvmsg.next")
            p.peek(self.socket.receive_queue, SKB, FLOW, empty="recvmsg.empty")
            p.write(self.socket.struct, "sk_receive_queue", FLOW)
            p.read(self.skbs.struct, "next", SKB)
            p.read(self.skbs.struct, "data", SKB)
            p.work(host.cost("recvmsg_skb_ps"))
            p.load(M, table, "left", SKB)
            p.alu(M, M, "min", LEFT)
        with p.symbol("__skb_datagram_iter"):
            self.skbs.touch_info("read")
            p.load(K, table, "frags", SKB)
            p.alu(K, K, "*", M)
            p.load(N, table, "bytes", SKB)
            p.alu(N, N, "max", 1)
            p.alu(K, K, "//", N)
            p.work(0, by=K, fs=host.cost("datagram_fragment_ps") * 1000)
        with p.symbol("copy_user_enhanced_fast_string"):
            copy = host.cost("copy_fs_per_byte")
            p.uniform(K, SPREAD_STEPS)
            p.alu(K, K, "*", M)
            p.work(0, by=K, fs=copy * COPY_SPREAD_PERCENT // (50 * SPREAD_STEPS))
            p.work(0, by=M, fs=copy * (100 - COPY_SPREAD_PERCENT) // 100, copy=True)
            p.count("bytes", M)
        with p.symbol("tcp_recvmsg_locked"):
            p.alu(LEFT, LEFT, "-", M)
            p.alu(COPIED, COPIED, "+", M)
            p.load(N, table, "left", SKB)
            p.alu(N, N, "-", M)
            p.alu(N, N, "max", 0)
            p.store(table, "left", N, SKB)
            p.add(self.socket.table, "unacked", M, FLOW)
            p.branch(N, ">", 0, "recvmsg.done")
            p.pop(self.socket.receive_queue, SKB, FLOW)
        with p.symbol("sock_rfree"):
            p.atomic(self.socket.struct, "sk_rmem_alloc", FLOW)
            p.work(host.cost("sock_rfree_ps") + host.cost("indirect_call_ps"))
        with p.symbol("tcp_eat_recv_skb"):
            p.call("eat_skb")
            p.branch(LEFT, ">", 0, "recvmsg.next")
            p.jump("recvmsg.done")

    def _nothing(self) -> None:
        p, socket = self.host.program, self.socket
        with p.symbol("tcp_recvmsg_locked"):
            p.label("recvmsg.empty")
            p.read(socket.struct, "sk_backlog.tail", FLOW)
            p.qlen(socket.backlog, N, FLOW)
            p.branch(N, "==", 0, "recvmsg.dry")
            p.call("tcp_cleanup_rbuf")
            p.call("release_sock")
            p.call("lock_sock")
            p.jump("recvmsg.next")
            p.label("recvmsg.dry")
            p.branch(COPIED, ">", 0, "recvmsg.done")
        with p.symbol("sk_wait_data"):
            p.call("sk_defer_free_flush")
            p.store(socket.table, "waiting", 1, FLOW)
            p.call("release_sock")
            p.qlen(socket.receive_queue, N, FLOW)
            p.branch(N, "!=", 0, "sk_wait_data.awake")
            p.count("sleeps")
            p.sleep()
            p.label("sk_wait_data.awake")
            p.store(socket.table, "waiting", 0, FLOW)
            p.call("lock_sock")
            p.jump("recvmsg.next")
        with p.symbol("tcp_recvmsg"):
            p.label("recvmsg.done")
            p.call("tcp_cleanup_rbuf")
            p.call("release_sock")
            p.call("sk_defer_free_flush")
            p.jump("recvmsg.call")

    def _cleanup_rbuf(self) -> None:
        """Send an ACK that opens the window by what was copied since the last one."""
        p, table = self.host.program, self.socket.table
        with p.symbol("tcp_cleanup_rbuf"):
            p.label("tcp_cleanup_rbuf")
            p.load(N, table, "unacked", FLOW)
            p.branch(N, "==", 0, "tcp_cleanup_rbuf.none")
            p.store(table, "unacked", 0, FLOW)
        with p.symbol("__tcp_transmit_skb"):
            p.read(self.socket.tcp, "rcv_nxt", FLOW)
            p.work(self.host.cost("tcp_ack_ps"))
            p.count("acks")
            self.sender.acknowledge()
            p.label("tcp_cleanup_rbuf.none")
            p.ret()
