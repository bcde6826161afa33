"""The thread in ``recvmsg()``: it owns the socket, copies packet after packet, works off the backlog, lets go.

The copy to user memory happens while the socket is owned. When the receive queue is empty and packets wait in
the backlog, they are processed at once; when there is nothing at all and enough was copied, the call returns.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..expression import Number, Value
from .host import Host
from .memory import Memory
from .registers import COPIED, FLOW, INDEX, LEFT, SKB, K, M, N
from .skbs import Skbs
from .socket import Socket

COPY_SPREAD_PERCENT = 10  # assumed: a packet's copy takes up to this more or less, as its pages lie in memory
MAX_BYTES = 1 << 30  # likewise
MAX_FRAGMENTS = 4096  # more than any packet has
SPREAD_STEPS = 128


@dataclass(frozen=True)
class ReaderKeys:
    """Switches of the reader's path, 0 or 1: patches 11, 14, 15, 16, 18 and 19 of the 5.17 series, and two habits
    of the program: it asks ``poll()`` before each read, and it reads without blocking."""

    flush_backlog: Value
    poll_urg_first: Value
    urg_unlikely: Value
    direct_rfree: Value
    timeo_first: Value
    ack_after_backlog: Value
    poll: Value
    nonblocking: Value


class Reader:
    """Writes the threads ``recvmsg``, one a flow, with buffers of `recv_size_bytes` and a low mark of `rcvlowat`.

    Flow f's runs on CPU `cpu` + f % `cpus`; there are `threads`, by default as many as flows.
    """

    def __init__(
        self, host: Host, skbs: Skbs, socket: Socket, memory: Memory, keys: ReaderKeys, *,
        cpu: Value, recv_size_bytes: Value, rcvlowat: Value, cpus: Number = 1, threads: Number | None = None,
    ) -> None:
        self.host, self.skbs, self.socket, self.memory = host, skbs, socket, memory
        self.keys, self.rcvlowat = keys, rcvlowat
        p = host.program
        with p.symbol("entry_SYSCALL_64"):
            p.label("recvmsg")
            p.set(FLOW, INDEX)
            p.label("recvmsg.call")
        self._poll()
        with p.symbol("entry_SYSCALL_64"):
            p.work(host.cost("syscall_ps"))
            p.count("reads")
            p.set(LEFT, recv_size_bytes)
            p.set(COPIED, 0)
            p.call("lock_sock")
        with p.symbol("tcp_recvmsg_locked"):
            p.read(socket.struct, "sk_rcvtimeo", FLOW)
        self._receive()
        self._nothing()
        self._done()
        count = socket.flow.count if threads is None else threads
        host.spec.spawn_threads("reader", "recvmsg", count, base=cpu, mod=cpus)

    def _poll(self) -> None:
        """Whether the socket is readable. Urgent data are asked for first or last (patch 14): its sequence is cold."""
        p, tcp = self.host.program, self.socket.tcp
        with p.where(self.keys.poll, "poll"), p.symbol("tcp_poll"):
            p.work(self.host.cost("poll_ps"))
            p.read(self.socket.struct, "sk_shutdown", FLOW)
            p.read(tcp, "urg_data", FLOW)
            with p.where(1 - self.keys.poll_urg_first, "urg_seq first"):
                p.read(tcp, "urg_seq", FLOW)
            p.read(tcp, "rcv_nxt", FLOW)

    def _receive(self) -> None:
        host, p, table = self.host, self.host.program, self.skbs.table
        with p.symbol("tcp_recvmsg_locked"):
            p.label("recvmsg.next")
            p.peek(self.socket.receive_queue, SKB, FLOW, empty="recvmsg.empty")
            p.write(self.socket.struct, "sk_receive_queue", FLOW)
            p.read(self.skbs.struct, "next", SKB)
            p.read(self.skbs.struct, "data", SKB)
            p.work(host.cost("recvmsg_skb_ps"))
            p.read(self.socket.tcp, "urg_data", FLOW)
            with p.where(1 - self.keys.urg_unlikely, "urgent data in line"):
                p.work(host.cost("taken_branch_ps"))
            p.load(M, table, "left", SKB)
            p.alu(M, M, "max", 0)
            p.alu(M, M, "min", LEFT)
        with p.symbol("__skb_datagram_iter"):
            self.skbs.touch_info("read")
            p.load(K, table, "frags", SKB)
            p.alu(K, K, "*", M)
            p.load(N, table, "bytes", SKB)
            p.alu(N, N, "max", 1)
            p.alu(K, K, "//", N)
            p.alu(K, K, "max", 0)
            p.alu(K, K, "min", MAX_FRAGMENTS)
            p.work(0, by=K, fs=host.cost("datagram_fragment_ps") * 1000)
        with p.symbol("copy_user_enhanced_fast_string"):
            copy = host.cost("copy_fs_per_byte")
            p.uniform(K, SPREAD_STEPS)
            p.alu(K, K, "*", M)
            p.work(0, by=K, fs=copy * COPY_SPREAD_PERCENT // (50 * SPREAD_STEPS))
            p.work(0, by=M, fs=copy * (100 - COPY_SPREAD_PERCENT) // 100, copy=True)
            p.count("bytes", M)
            p.count("copies")
        with p.symbol("tcp_recvmsg_locked"):
            p.alu(LEFT, LEFT, "-", M)
            p.alu(COPIED, COPIED, "+", M)
            p.add(self.socket.table, "unacked", M, FLOW)
            p.load(N, table, "left", SKB)
            p.alu(N, N, "-", M)
            p.alu(N, N, "max", 0)
            p.alu(N, N, "min", MAX_BYTES)
            p.store(table, "left", N, SKB)
            p.branch(N, ">", 0, "recvmsg.done")
            p.pop(self.socket.receive_queue, SKB, FLOW)
            p.load(M, self.socket.table, "queue_tail", FLOW)
            p.branch(M, "!=", SKB, "sock_rfree")
            p.store(self.socket.table, "queue_tail", -1, FLOW)
        self._rfree()

    def _rfree(self) -> None:
        """Take the packet off the socket's account: a call by pointer, or by name (patch 16); then let it go."""
        host, p = self.host, self.host.program
        with p.symbol("sock_rfree"):
            p.label("sock_rfree")
            with p.where(1 - self.keys.direct_rfree, "sock_rfree by pointer"):
                p.work(host.cost("indirect_call_ps"))
            p.work(host.cost("function_call_ps") + host.cost("sock_rfree_ps"))
            p.load(N, self.skbs.table, "bytes", SKB)
            self.memory.uncharge()
        with p.symbol("tcp_eat_recv_skb"):
            p.call("eat_skb")
            p.branch(LEFT, ">", 0, "recvmsg.next")
            p.jump("recvmsg.done")

    def _nothing(self) -> None:
        """The receive queue is empty: work off the backlog, or return, or wait."""
        p, socket, keys = self.host.program, self.socket, self.keys
        with p.symbol("tcp_recvmsg_locked"):
            p.label("recvmsg.empty")
            p.read(socket.struct, "sk_backlog.tail", FLOW)
            p.branch(COPIED, "<", self.rcvlowat, "recvmsg.short")
            p.qlen(socket.backlog, N, FLOW)
            p.branch(N, "==", 0, "recvmsg.done")
            with p.where(1 - keys.ack_after_backlog, "ACK before the backlog"):
                p.call("tcp_cleanup_rbuf")
            with p.where(keys.flush_backlog, "flush_backlog"):
                p.call("flush_backlog")
            with p.where(1 - keys.flush_backlog, "release and lock"):
                p.call("release_sock")
                p.call("lock_sock")
            p.jump("recvmsg.next")
            p.label("recvmsg.short")
            p.branch(COPIED, "==", 0, "recvmsg.wait")
            with p.where(keys.timeo_first * keys.nonblocking, "timeo_first"):
                p.jump("recvmsg.done")
            p.read(socket.struct, "sk_err", FLOW)
            p.read(socket.struct, "sk_shutdown", FLOW)
            with p.where(keys.nonblocking, "nonblocking"):
                p.jump("recvmsg.done")
            p.label("recvmsg.wait")
            p.call("tcp_cleanup_rbuf")
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

    def _done(self) -> None:
        p = self.host.program
        with p.symbol("tcp_recvmsg"):
            p.label("recvmsg.done")
            p.call("tcp_cleanup_rbuf")
            p.call("release_sock")
            p.call("sk_defer_free_flush")
            p.jump("recvmsg.call")
