"""The thread in ``recvfrom()``: one datagram a call, copied outside the queue's lock; it sleeps when there is none.

What it takes off the queue is given back to the socket's account in batches of a quarter of the receive buffer, or
when the queue has become empty (since 4.10).
"""

from __future__ import annotations

from ..expression import Number
from .host import Host
from .registers import INDEX, SKB, M, N
from .udp import SOCK, UdpSockets

COPY_SPREAD_PERCENT = 10  # assumed: a packet's copy takes up to this more or less, as its pages lie in memory


class DatagramReaders:
    """Writes the threads ``recvfrom``, one a socket; a datagram holds `datagram_bytes`.

    Socket s's runs on CPU `cpu` + s % `cpus`; there are `threads`, by default as many as sockets.
    """

    def __init__(
        self, host: Host, udp: UdpSockets, *, cpu: Number, datagram_bytes: Number, cpus: Number = 1,
        threads: Number | None = None,
    ) -> None:
        self.host, self.udp = host, udp
        p = host.program
        with p.symbol("entry_syscall"):
            p.label("recvfrom")
            p.set(SOCK, INDEX)
            p.label("recvfrom.call")
            p.work(host.cost("syscall_ps"))
            p.count("reads")
        self._take()
        with p.symbol("__copy_to_user"):
            copy = host.cost("copy_fs_per_byte")
            size = host.value(datagram_bytes)
            p.uniform(M, size * COPY_SPREAD_PERCENT // 50 + 1)
            p.work(0, by=M, fs=copy)
            p.set(M, size)
            p.work(0, by=M, fs=copy * (100 - COPY_SPREAD_PERCENT) // 100, copy=True)
            p.count("bytes", M)
            p.count("delivered")
        udp.skbs.free()
        with p.symbol("udpv6_recvmsg"):
            p.jump("recvfrom.call")
        count = udp.sockets if threads is None else threads
        host.spec.spawn_threads("reader", "recvfrom", count, base=cpu, mod=cpus)

    def _take(self) -> None:
        host, p, udp = self.host, self.host.program, self.udp
        with p.symbol("__skb_recv_datagram"):
            p.label("recvfrom.again")
            host.lock(udp.lock, SOCK)
            p.pop(udp.receive_queue, SKB, SOCK, empty="recvfrom.empty")
            p.write(udp.struct, "sk_receive_queue", SOCK)
        with p.symbol("udp_rmem_release"):
            p.write(udp.struct, "forward_deficit", SOCK)
            p.add(udp.table, "deficit", udp.truesize, SOCK)
            p.load(N, udp.table, "deficit", SOCK)
            p.branch(N, ">=", udp.rcvbuf // 4, "udp_rmem_release")
            p.qlen(udp.receive_queue, M, SOCK)
            p.branch(M, "!=", 0, "recvfrom.taken")
            p.label("udp_rmem_release")
            p.store(udp.table, "deficit", 0, SOCK)
            p.set(M, 0)
            p.alu(M, M, "-", N)
            p.add(udp.table, "rmem", M, SOCK)
            p.atomic(udp.struct, "sk_rmem_alloc", SOCK)
            p.label("recvfrom.taken")
            p.unlock(udp.lock, SOCK)
        with p.symbol("udpv6_recvmsg"):
            p.read(udp.skbs.struct, "next", SKB)
            p.read(udp.skbs.struct, "data", SKB)
            p.work(host.cost("recvmsg_skb_ps"))
            p.jump("recvfrom.copy")
        with p.symbol("__skb_wait_for_more_packets"):
            p.label("recvfrom.empty")
            p.store(udp.table, "waiting", 1, SOCK)
            p.unlock(udp.lock, SOCK)
            p.count("sleeps")
            p.sleep()
            p.store(udp.table, "waiting", 0, SOCK)
            p.jump("recvfrom.again")
            p.label("recvfrom.copy")
